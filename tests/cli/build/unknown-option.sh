whet build --no-banch
