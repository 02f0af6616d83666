whet history
