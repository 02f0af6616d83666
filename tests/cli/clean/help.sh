whet clean --help
