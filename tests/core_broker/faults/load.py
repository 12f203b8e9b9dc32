"""Clients that keep a broker busy until it fails them, and write down what it told them."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from barnabas.wire.batch import Record, build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.produce import ProduceResponse
from tests.core_broker.broker_client import (
    FETCH_MAX_BYTES,
    FETCH_VERSION,
    PRODUCE_VERSION,
    now_ms,
    produce_request,
    records_in,
)
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.ledger import Ledger, Place

IN_FLIGHT_MAX = 5
RECORDS_MAX = 4
SMALL_MAX_BYTES = 1500
LARGE_MIN_BYTES = 66_000  # more than what the broker writes on its event loop
LARGE_MAX_BYTES = 90_000
CONSUMER_WAIT_MS = 100


class Client(ABC):
    """One client. `run` returns when the broker has failed it or the test wants no more."""

    large_share = 0.1
    """How many of its batches are large."""

    def __init__(self, name: str, random: Random, ledger: Ledger) -> None:
        self.name = name
        self._random = random
        self._ledger = ledger
        self._count = 0

    def run(self, address: str, stopping: threading.Event) -> None:
        try:
            with AdminClient(address) as client:
                for _ in self.steps(client):
                    if stopping.is_set():
                        return
        except OSError:
            return

    @abstractmethod
    def steps(self, client: AdminClient) -> Iterator[None]:
        """Works on, and ends when the broker refuses something."""

    def values(self) -> list[bytes]:
        """The values of a new batch, none of which was ever there before."""
        large = self._random.random() < self.large_share
        made = []
        for _ in range(1 if large else self._random.randint(1, RECORDS_MAX)):
            self._count += 1
            size = (
                self._random.randint(LARGE_MIN_BYTES, LARGE_MAX_BYTES)
                if large
                else self._random.randint(1, SMALL_MAX_BYTES)
            )
            made.append(b"%s:%d:" % (self.name.encode(), self._count) + self._random.randbytes(8) * (size // 8))
        return made


class PlainProducer(Client):
    """Sends bursts to some partitions, and never the same again."""

    def __init__(self, name: str, random: Random, ledger: Ledger, places: Sequence[Place]) -> None:
        super().__init__(name, random, ledger)
        self._places = places

    def steps(self, client: AdminClient) -> Iterator[None]:
        while True:
            burst = [
                (self._random.choice(self._places), self.values())
                for _ in range(self._random.randint(1, IN_FLIGHT_MAX))
            ]
            for place, values in burst:
                self._ledger.send(place, values)
                client.send(produce_request({place: build_batch(as_records(values))}), PRODUCE_VERSION)
            outcomes = [outcome(client) for _ in burst]
            for (place, values), (code, base_offset) in zip(burst, outcomes, strict=True):
                if code != ErrorCode.NONE:
                    return
                self._ledger.acknowledge(place, base_offset, values)
            yield


class Unacknowledged(NamedTuple):
    sequence: int
    values: list[bytes]


class IdempotentProducer(Client):
    """Numbers its batches, and sends those that were not acknowledged again when it runs the next time."""

    def __init__(self, name: str, random: Random, ledger: Ledger, place: Place) -> None:
        super().__init__(name, random, ledger)
        self._place = place
        self._producer_id = -1
        self._next_sequence = 0
        self._unacknowledged: list[Unacknowledged] = []

    def steps(self, client: AdminClient) -> Iterator[None]:
        if self._producer_id < 0:
            answer = client.init_producer_id()
            if answer.error_code != ErrorCode.NONE:
                return
            self._producer_id = answer.producer_id
        while self.settle(client):
            yield
            # The first one goes alone: of a producer that it does not know a broker takes any number.
            for _ in range(self._random.randint(1, IN_FLIGHT_MAX) if self._next_sequence else 1):
                values = self.values()
                self._unacknowledged.append(Unacknowledged(self._next_sequence, values))
                self._next_sequence += len(values)

    def settle(self, client: AdminClient) -> bool:
        """Sends what is not acknowledged; whether all of it was."""
        sent = list(self._unacknowledged)
        for sequence, values in sent:
            self._ledger.send(self._place, values)
            batch = build_batch(
                as_records(values), producer_id=self._producer_id, producer_epoch=0, base_sequence=sequence
            )
            client.send(produce_request({self._place: batch}), PRODUCE_VERSION)
        for _, values in sent:
            code, base_offset = outcome(client)
            if code != ErrorCode.NONE:
                return False
            self._ledger.acknowledge(self._place, base_offset, values)
            self._unacknowledged.pop(0)
        return True


class Consumer(Client):
    """Reads some partitions from where it was when the broker failed it."""

    def __init__(self, name: str, random: Random, ledger: Ledger, places: Sequence[Place]) -> None:
        super().__init__(name, random, ledger)
        self._offsets = dict.fromkeys(places, 0)

    def steps(self, client: AdminClient) -> Iterator[None]:
        while True:
            request = FetchRequest(
                max_wait_ms=CONSUMER_WAIT_MS,
                min_bytes=1,
                max_bytes=FETCH_MAX_BYTES,
                topics=[
                    FetchTopic(
                        topic=topic,
                        partitions=[
                            FetchPartition(
                                partition=partition, fetch_offset=offset, partition_max_bytes=FETCH_MAX_BYTES
                            )
                        ],
                    )
                    for (topic, partition), offset in self._offsets.items()
                ],
            )
            for topic in client.ask(request, FetchResponse, FETCH_VERSION).responses:
                for data in topic.partitions:
                    place = Place(topic.topic, data.partition_index)
                    if data.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
                        return
                    assert data.error_code == ErrorCode.NONE, f"{ErrorCode(data.error_code).name} from {place}"
                    found = [record for record in records_in(data) if record.offset >= self._offsets[place]]
                    if found:
                        assert found[-1].offset < data.high_watermark
                        self._ledger.see(place, found)
                        self._offsets[place] = found[-1].offset + 1
            yield


def as_records(values: Sequence[bytes]) -> list[Record]:
    time_ms = now_ms()
    return [Record(position, time_ms, b"k", value) for position, value in enumerate(values)]


def outcome(client: AdminClient) -> tuple[int, int]:
    """Error code and base offset of the next answer to a produce request."""
    _, answer = client.receive(ProduceResponse, PRODUCE_VERSION)
    (topic,) = answer.responses
    (partition,) = topic.partition_responses
    return partition.error_code, partition.base_offset
