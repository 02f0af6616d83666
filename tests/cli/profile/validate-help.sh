whet profile validate --help
