whet origin --port 99999
