whet explain --help
