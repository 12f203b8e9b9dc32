"""The broker is killed under load: what was acknowledged with an offset lies exactly there."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from tests.broker import BarnabasBroker
from tests.conftest import StartBroker
from tests.registry import ask
from tests.rest import RestProcess
from tests.waiting import wait_for

CLIENTS = 8
BEFORE_THE_KILL = 300
AFTER_THE_RESTART = 300
PARTITIONS = 3
RECOVERY_DEADLINE_S = 180.0
HEADERS = {"Content-Type": "application/vnd.kafka.json.v2+json"}


class Load:
    """Clients that produce one record after another and note where each was said to lie."""

    def __init__(self, url: str) -> None:
        self.places: dict[tuple[int, int], str] = {}
        self._url = url
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._produce, args=(number,)) for number in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _produce(self, client: int) -> None:
        number = 0
        while not self._stopping.is_set():
            number += 1
            value = f"{client}-{number}"
            try:
                answer = ask(self._url, "POST", "/topics/load", {"records": [{"value": value}]}, HEADERS)
            except OSError:
                continue
            if answer.status != 200:
                continue
            (place,) = answer.body["offsets"]
            if place["offset"] is not None:
                self.places[place["partition"], place["offset"]] = value


def read(broker: BarnabasBroker, wanted: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """What lies at the places that were told."""
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "reader", "enable.partition.eof": True})
    consumer.assign([TopicPartition("load", partition, 0) for partition in range(PARTITIONS)])
    found: dict[tuple[int, int], str] = {}
    ends = 0
    while ends < PARTITIONS:
        for message in consumer.consume(1_000, 5):
            if message.error() is not None:
                ends += 1
            else:
                found[message.partition() or 0, message.offset() or 0] = json.loads(message.value() or b"null")
    consumer.close()
    return {place: found.get(place, "nothing") for place in wanted}


def test_acknowledged_records_lie_where_they_were_said_to(start_broker: StartBroker, tmp_path: Path) -> None:
    broker = start_broker(num_partitions=PARTITIONS)
    proxy = RestProcess(tmp_path / "rest", broker.address, "http://127.0.0.1:1")
    proxy.start()
    load = Load(proxy.url)
    try:
        wait_for(lambda: len(load.places) > BEFORE_THE_KILL, "records before the kill", RECOVERY_DEADLINE_S)
        broker.kill()
        broker.start()
        seen = len(load.places)
        wait_for(lambda: len(load.places) > seen + AFTER_THE_RESTART, "records after it", RECOVERY_DEADLINE_S)
    finally:
        load.stop()
        proxy.stop()
    assert read(broker, load.places) == load.places
