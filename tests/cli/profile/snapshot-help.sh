whet profile snapshot --help
