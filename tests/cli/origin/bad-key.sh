whet origin --key dsa
