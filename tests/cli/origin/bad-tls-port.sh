whet origin --tls-port -2
