whet profile show missing.profdata
