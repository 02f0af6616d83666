whet profile diff --help
