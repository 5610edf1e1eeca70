"""From a query plan to what Spark runs: frames, counts on the way, and the start of chains."""
