whet profile merge --help
