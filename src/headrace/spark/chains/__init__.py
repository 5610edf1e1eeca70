"""Serial chains on Spark: orders from the driver, rows to their lanes, results for the commit."""
