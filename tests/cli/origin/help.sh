whet origin --help
