whet
