"""Our Spark data sources, and how far each micro-batch reads."""
