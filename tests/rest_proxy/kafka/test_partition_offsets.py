"""Where partitions begin and end, also when their leader has changed."""

from __future__ import annotations

import asyncio

from confluent_kafka import Producer

from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.partition_offsets import EARLIEST, LATEST, partition_offsets
from rest_proxy.kafka.reachability import Reachability
from tests.conftest import StartBroker
from tests.waiting import wait_for


def test_a_partition_with_a_new_leader_epoch_is_asked_again(start_broker: StartBroker) -> None:
    broker = start_broker()
    producer = Producer({"bootstrap.servers": broker.address})
    producer.produce("t", b"x")
    assert producer.flush(90) == 0
    loop = asyncio.new_event_loop()
    admin = loop.run_until_complete(_admin(broker.address))

    def ask() -> tuple[int, int] | None:
        """None while the client has not found the broker again."""
        try:
            first = loop.run_until_complete(partition_offsets(admin, [("t", 0)], EARLIEST))
            last = loop.run_until_complete(partition_offsets(admin, [("t", 0)], LATEST))
        except KafkaFailure as failure:
            if not failure.name.startswith("_"):
                raise
            return None
        return first["t", 0], last["t", 0]

    assert ask() == (0, 1)
    broker.kill()
    broker.start()
    wait_for(lambda: ask() == (0, 1), "the offsets of the returned broker")
    loop.close()


async def _admin(address: str) -> Admin:
    return Admin({"bootstrap.servers": address}, Reachability())
