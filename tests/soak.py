"""A soak: idempotent producers and consumers go on while the broker is killed again and again.

`python -m tests.soak --minutes 10` prints a summary and fails if a record that was acknowledged is lost, if one is there
twice, or if the order of a producer's records in a partition was not kept.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.broker import BarnabasBroker, BrokerProcess
from tests.clients.confluent_client import create_topic
from tests.ports import free_port
from tests.waiting import wait_for

TOPIC = "soak"
DRAIN_DEADLINE_S = 120.0
POLL_S = 0.2
TICK_S = 0.05
# A record waits out any number of restarts; what the producer gave up would not count as lost.
PATIENCE_MS = 1_800_000
NOT_ACKNOWLEDGED = -1
VIOLATIONS_SHOWN = 20
RECORDS_PER_SECOND = 250  # of each producer


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how hard and how rough."""

    seconds: float
    kills: int
    producers: int = 8
    partitions: int = 8
    records_per_second: int = RECORDS_PER_SECOND
    value_bytes: int = 200
    seed: int = 0

    def kill_times(self) -> list[float]:
        """Seconds after the start: one at a random moment of each equal stretch."""
        stretch = self.seconds / (self.kills + 1)
        dice = random.Random(self.seed)
        return [stretch * (number + dice.uniform(0.25, 1.0)) for number in range(self.kills)]


@dataclass(slots=True)
class Report:
    kills: int = 0
    sent: int = 0
    acknowledged: int = 0
    stored: int = 0
    consumed: int = 0
    violations: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        yield f"kills {self.kills}, sent {self.sent}, acknowledged {self.acknowledged}"
        yield f"stored {self.stored}, consumed while it ran {self.consumed}, violations {len(self.violations)}"
        yield from self.violations[:VIOLATIONS_SHOWN]


class Writer(threading.Thread):
    """One idempotent producer. It numbers its records in each partition and notes the offset of each acknowledgement."""

    def __init__(self, address: str, number: int, plan: Plan, stopping: threading.Event) -> None:
        super().__init__(name=f"writer-{number}")
        self.number = number
        self.offsets = [array("q") for _ in range(plan.partitions)]
        self.errors: list[str] = []
        self._plan = plan
        self._stopping = stopping
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "message.timeout.ms": PATIENCE_MS,
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,
            }
        )

    def run(self) -> None:
        per_tick = max(1, round(self._plan.records_per_second * TICK_S))
        partition = self.number
        while not self._stopping.wait(TICK_S):
            for _ in range(per_tick):
                partition = (partition + 1) % self._plan.partitions
                self._send(partition)
            self._producer.poll(0)
        if self._producer.flush(DRAIN_DEADLINE_S):
            self.errors.append(f"{self.name} could not deliver everything in {DRAIN_DEADLINE_S:g} s")

    def _send(self, partition: int) -> None:
        offsets = self.offsets[partition]
        sequence = len(offsets)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.errors.append(f"{self.name} failed on record {sequence} of partition {partition}: {error}")
                return
            offset = message.offset()
            assert offset is not None
            offsets[sequence] = offset

        value = encode_value(self.number, sequence, self._plan.value_bytes)
        try:
            self._producer.produce(TOPIC, value, partition=partition, on_delivery=delivered)
        except BufferError:
            # The broker is away for longer than the queue is deep: this record was not taken.
            self._producer.poll(TICK_S)
            return
        offsets.append(NOT_ACKNOWLEDGED)


class Reader(threading.Thread):
    """One consumer of one partition. It keeps its own place and reads on after every restart of the broker."""

    def __init__(self, address: str, partition: int, stopping: threading.Event) -> None:
        super().__init__(name=f"reader-{partition}")
        self.values: list[bytes] = []
        self.errors: list[str] = []
        self._address = address
        self._partition = partition
        self._stopping = stopping

    def run(self) -> None:
        with assigned(self._address, self._partition) as consumer:
            while not self._stopping.is_set():
                for message in consumer.consume(500, POLL_S):
                    self._take(message)

    def _take(self, message: Message) -> None:
        if (error := message.error()) is not None:
            if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                self.errors.append(f"{self.name} was served offset {len(self.values) - 1}, and now it is gone: {error}")
            return
        if message.offset() != len(self.values):
            self.errors.append(f"{self.name} got offset {message.offset()} instead of {len(self.values)}")
        self.values.append(message.value() or b"")


def encode_value(producer: int, sequence: int, size: int) -> bytes:
    return b"%d:%d:" % (producer, sequence) + b"." * size


def decode_value(value: bytes) -> tuple[int, int]:
    producer, sequence, _ = value.split(b":", 2)
    return int(producer), int(sequence)


@contextmanager
def assigned(address: str, partition: int) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "soak",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "reconnect.backoff.max.ms": 500,
            "log_level": 0,
        }
    )
    try:
        consumer.assign([TopicPartition(TOPIC, partition, 0)])
        yield consumer
    finally:
        consumer.close()


def run(broker: BrokerProcess, plan: Plan) -> Report:
    """Run the plan against a broker that is up, and judge what it has stored in the end."""
    address = broker.address
    create_topic(address, TOPIC, plan.partitions)
    writing_ends, reading_ends = threading.Event(), threading.Event()
    writers = [Writer(address, number, plan, writing_ends) for number in range(plan.producers)]
    readers = [Reader(address, partition, reading_ends) for partition in range(plan.partitions)]
    report = Report()
    with ExitStack() as stack:
        for thread in (*readers, *writers):
            thread.start()
            stack.callback(thread.join)
        # Whatever happens, no thread is left running.
        stack.callback(reading_ends.set)
        stack.callback(writing_ends.set)
        _kill_as_planned(broker, plan, report)
        writing_ends.set()
        for writer in writers:
            writer.join()
        stored = [_stored(address, partition) for partition in range(plan.partitions)]
        _wait_for_readers(readers, stored)
    _judge(report, writers, readers, stored)
    return report


def _kill_as_planned(broker: BrokerProcess, plan: Plan, report: Report) -> None:
    never = threading.Event()
    begun = time.monotonic()
    for moment in plan.kill_times():
        never.wait(max(0.0, begun + moment - time.monotonic()))
        broker.kill()
        broker.start()
        report.kills += 1
    never.wait(max(0.0, begun + plan.seconds - time.monotonic()))


def _stored(address: str, partition: int) -> list[bytes]:
    """Everything in the partition, read anew from its start."""
    values: list[bytes] = []
    with assigned(address, partition) as consumer:
        _, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, partition), DRAIN_DEADLINE_S)
        deadline = time.monotonic() + DRAIN_DEADLINE_S
        while len(values) < end:
            assert time.monotonic() < deadline, f"partition {partition} gave {len(values)} of {end} records"
            for message in consumer.consume(1000, POLL_S):
                if (error := message.error()) is not None:
                    raise KafkaException(error)
                values.append(message.value() or b"")
    return values


def _wait_for_readers(readers: list[Reader], stored: list[list[bytes]]) -> None:
    def caught_up() -> bool:
        return all(len(reader.values) >= len(values) for reader, values in zip(readers, stored, strict=True))

    wait_for(caught_up, "the consumers to reach the end of their partitions", DRAIN_DEADLINE_S)


def _judge(report: Report, writers: list[Writer], readers: list[Reader], stored: list[list[bytes]]) -> None:
    for writer in writers:
        report.violations += writer.errors
        report.sent += sum(len(offsets) for offsets in writer.offsets)
        report.acknowledged += sum(offset != NOT_ACKNOWLEDGED for offsets in writer.offsets for offset in offsets)
    for reader, values in zip(readers, stored, strict=True):
        report.violations += reader.errors
        report.stored += len(values)
        report.consumed += len(reader.values)
        if reader.values != values:
            report.violations.append(f"what {reader.name} consumed is not what is stored")
    for partition, values in enumerate(stored):
        report.violations += wrong_order(partition, values)
        for writer in writers:
            report.violations += lost(partition, values, writer.number, writer.offsets[partition])


def wrong_order(partition: int, values: Sequence[bytes]) -> Iterator[str]:
    """Each producer's records must be numbered without a gap, from zero."""
    expected: dict[int, int] = {}
    for offset, value in enumerate(values):
        producer, sequence = decode_value(value)
        due = expected.get(producer, 0)
        if sequence != due:
            what = "is there twice or late" if sequence < due else f"comes before {producer}:{due}"
            yield f"partition {partition} offset {offset}: record {producer}:{sequence} {what}"
        expected[producer] = sequence + 1


def lost(partition: int, values: Sequence[bytes], producer: int, offsets: Sequence[int]) -> Iterator[str]:
    """Each acknowledged record must lie where the acknowledgement said."""
    for sequence, offset in enumerate(offsets):
        if offset == NOT_ACKNOWLEDGED:
            continue
        if offset >= len(values) or decode_value(values[offset]) != (producer, sequence):
            yield f"partition {partition} offset {offset}: record {producer}:{sequence} was acknowledged and is lost"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kills", type=int, help="how often the broker is killed; once a minute unless given")
    parser.add_argument("--rate", type=int, default=RECORDS_PER_SECOND, help="records a second of each producer")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    chosen = parser.parse_args()
    kills = round(chosen.minutes) if chosen.kills is None else chosen.kills
    plan = Plan(chosen.minutes * 60, kills, records_per_second=chosen.rate, seed=chosen.seed)
    sys.stdout.write(f"{chosen.minutes:g} minutes, {kills} kills, seed {chosen.seed}\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="barnabas-soak-") as home:
        broker = BarnabasBroker(Path(home), free_port())
        broker.start()
        try:
            report = run(broker, plan)
        finally:
            broker.stop()
    sys.stdout.writelines(f"{line}\n" for line in report.lines())
    sys.exit(1 if report.violations else 0)


if __name__ == "__main__":
    main()
