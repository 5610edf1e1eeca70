"""The Kafka protocol: the broker process, and a small client."""
