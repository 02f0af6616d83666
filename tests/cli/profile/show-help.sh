whet profile show --help
