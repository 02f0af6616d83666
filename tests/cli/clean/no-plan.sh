whet clean
