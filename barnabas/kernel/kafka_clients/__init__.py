"""Settings of Kafka clients, for services that use librdkafka and take what was written for Java's clients."""
