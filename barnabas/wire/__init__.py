"""Kafka on the wire: messages, codec, frames, record batches, and a small client."""
