whet history --help
