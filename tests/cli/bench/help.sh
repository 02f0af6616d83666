whet bench --help
