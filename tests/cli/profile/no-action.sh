whet profile
