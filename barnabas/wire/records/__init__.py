"""The schemas of what Kafka keeps in its own topics and of what consumers send each other."""
