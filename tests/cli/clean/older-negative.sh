whet clean --all --older -3
