whet build --help
