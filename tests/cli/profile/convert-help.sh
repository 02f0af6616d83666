whet profile convert --help
