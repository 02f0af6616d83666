whet --help
