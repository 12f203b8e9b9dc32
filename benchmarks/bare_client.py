"""confluent-kafka without a proxy, which is the ceiling of one in Python; in a process of its own, whose cost is counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import Literal

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from benchmarks.connection import HOST
from benchmarks.job import JOB_LIMIT_SECONDS, ROOT, Figures, LoadFailed
from benchmarks.rest_records import compact, order
from benchmarks.spread import percentile

POLL_SECONDS = 0.1
RECORDS_PER_CALL = 10_000


@dataclass(frozen=True, slots=True)
class BareLoad:
    """Lots of records, as a request has them; so many lots may be under way. It ends with the count or the time."""

    kind: Literal["produce", "consume"]
    port: int = 0
    topic: str = ""
    partitions: int = 1
    lot_records: int = 1
    lots_in_flight: int = 1
    records: int = 0  # 0: until `seconds` are over
    seconds: float = JOB_LIMIT_SECONDS

    def wants_more(self, lots: int) -> bool:
        """Whether lots are to follow those that were sent, as far as the count goes."""
        return not self.records or lots * self.lot_records < self.records

    def run(self) -> Figures:
        """In a child process."""
        command = [sys.executable, "-m", "benchmarks.bare_client", json.dumps(asdict(self))]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=JOB_LIMIT_SECONDS + self.seconds, check=False
        )
        if done.returncode:
            raise LoadFailed(f"{self.kind} without a proxy: {done.stderr.strip()[-300:]}")
        figures: Figures = json.loads(done.stdout)
        return figures


class Lot:
    """Records that were sent together, and the seconds until all were acknowledged."""

    __slots__ = ("_began", "_left", "seconds")

    def __init__(self, size: int) -> None:
        self._left = size
        self._began = time.monotonic()
        self.seconds: float | None = None

    def delivered(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            raise LoadFailed(f"a record was not taken: {error.str()}")
        self._left -= 1
        if not self._left:
            self.seconds = time.monotonic() - self._began


def produce(load: BareLoad) -> Figures:
    """As the proxies produce: acknowledged by all, once and in order, and without waiting for more records."""
    settings = {"bootstrap.servers": f"{HOST}:{load.port}", "acks": "all", "enable.idempotence": True, "linger.ms": 0}
    producer = Producer(settings)
    value = compact(order()).encode()
    if not load.records:
        # A load for some time is measured: its first record would wait for connections, and for the producer's id.
        producer.produce(load.topic, value)
        producer.flush(JOB_LIMIT_SECONDS)
    lots: list[Lot] = []
    done = 0
    began, used = time.monotonic(), sum(os.times()[:2])
    while load.wants_more(len(lots)) and time.monotonic() - began < load.seconds:
        while len(lots) - done < load.lots_in_flight and load.wants_more(len(lots)):
            lot = Lot(load.lot_records)
            lots.append(lot)
            for _ in range(load.lot_records):
                producer.produce(load.topic, value, on_delivery=lot.delivered)
        producer.poll(POLL_SECONDS)
        # Lots of different partitions may overtake each other: a lot counts when all before it are done.
        while done < len(lots) and lots[done].seconds is not None:
            done += 1
    if producer.flush(JOB_LIMIT_SECONDS):
        raise LoadFailed("the producer could not deliver all records")
    seconds, used = time.monotonic() - began, sum(os.times()[:2]) - used
    took = sorted(lot.seconds for lot in lots if lot.seconds is not None)
    return {
        "requests": len(lots),
        "requests_s": len(lots) / seconds,
        "records": len(lots) * load.lot_records,
        "records_s": len(lots) * load.lot_records / seconds,
        "cpu_s": used,
        "p50_ms": percentile(took, 0.5) * 1e3,
        "p99_ms": percentile(took, 0.99) * 1e3,
    }


def consume(load: BareLoad) -> Figures:
    consumer = Consumer({"bootstrap.servers": f"{HOST}:{load.port}", "group.id": "bare", "enable.auto.commit": False})
    began, used = time.monotonic(), sum(os.times()[:2])
    consumer.assign([TopicPartition(load.topic, partition, 0) for partition in range(load.partitions)])
    found = 0
    while found < load.records:
        for message in consumer.consume(RECORDS_PER_CALL, POLL_SECONDS):
            if error := message.error():
                raise LoadFailed(f"the consumer got no record: {error.str()}")
            found += 1
        if time.monotonic() - began > load.seconds:
            raise LoadFailed(f"{load.records - found} records did not come in time")
    seconds, used = time.monotonic() - began, sum(os.times()[:2]) - used
    consumer.close()
    return {"records": found, "records_s": found / seconds, "cpu_s": used}


def main() -> None:
    load = BareLoad(**json.loads(sys.argv[1]))
    sys.stdout.write(json.dumps(produce(load) if load.kind == "produce" else consume(load)) + "\n")


if __name__ == "__main__":
    main()
