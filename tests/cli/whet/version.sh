whet --version
