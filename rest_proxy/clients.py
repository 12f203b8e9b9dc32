"""The Kafka clients that all requests share."""

from __future__ import annotations

from barnabas.kernel.settings import Settings
from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.client_settings import ADMIN, PRODUCER, client_settings
from rest_proxy.kafka.producer import SharedProducer
from rest_proxy.kafka.threads import Threads

DELIVERY_TIMEOUT_MS = 30_000
"""A record that no broker has taken by then fails in its place; a request may take longer."""

# Everything that is acknowledged is on the disks of all replicas, once and in order. librdkafka collects records by itself while
# requests are under way, so that a lone record need not wait for others.
_DURABLE = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 0,
    "delivery.timeout.ms": DELIVERY_TIMEOUT_MS,
    # As Java's clients choose by the key, Confluent's proxy among them.
    "partitioner": "murmur2_random",
}


class Clients:
    """Made in the running event loop, once."""

    def __init__(self, settings: Settings) -> None:
        self.producer = SharedProducer(client_settings(settings, PRODUCER, _DURABLE))
        self.admin = Admin(client_settings(settings, ADMIN))
        self.threads = Threads("consumer", settings.integer("consumer.threads"))

    async def stop(self) -> None:
        await self.producer.stop()
        self.threads.stop()
