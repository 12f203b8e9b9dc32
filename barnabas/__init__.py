"""Barnabas: a Kafka-compatible streaming platform in Python."""
