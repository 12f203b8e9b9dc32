"""Kafka's requests and responses, one module per API."""
