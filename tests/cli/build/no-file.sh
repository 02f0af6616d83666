whet build
