whet frobnicate-everything
