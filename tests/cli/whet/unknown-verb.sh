whet biuld
