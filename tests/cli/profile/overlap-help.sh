whet profile overlap --help
