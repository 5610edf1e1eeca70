"""Running pipelines: their queries, what these commit, and what is told of them."""
