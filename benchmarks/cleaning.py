"""The row of compaction: small produces to one topic while another, compacted one is cleaned."""

from __future__ import annotations

import os
import random
import socket
import struct
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks import batch, latency, wire
from benchmarks.connection import Connection, create_topics, delete_topics
from benchmarks.job import Figures, Job
from benchmarks.rows import Metric, Scale, SharedRow, Site
from benchmarks.spread import at_most
from benchmarks.wire import NO_TAGS, RESPONSE_BODY_AT, Reader, Topic, UnexpectedAnswer, compact, compact_array

INCREMENTAL_ALTER_CONFIGS = 44
wire.VERSIONS[INCREMENTAL_ALTER_CONFIGS] = 1
TOPIC_RESOURCE, BROKER_RESOURCE, ALL_BROKERS = 2, 4, ""
SET, DELETE = 0, 1

CLEANED_SHARE = 4  # of what the largest log of a run has
SEGMENT_BYTES = 64 << 20
RECORD_BYTES = 1024
BATCH_RECORDS = 64
KEYS = 100_000
IN_FLIGHT = 8
MARK = "cleaner-offset-checkpoint"
EAGER_BACKOFF_MS = 100
BACKOFF_NOTICED_SECONDS = 2.0  # until both brokers go by a changed pause
LOOK_INTERVAL_SECONDS = 0.1
CLEANING_LIMIT_SECONDS = 240
TINY_BYTES = 100


def alter_config(port: int, kind: int, resource: str, name: str, value: str | None) -> None:
    """Sets a configuration, or, without a value, removes it."""
    operation = struct.pack(">b", DELETE if value is None else SET)
    given = compact(value.encode()) if value is not None else wire.ABSENT
    change = compact(name.encode()) + operation + given + NO_TAGS
    body = struct.pack(">b", kind) + compact(resource.encode()) + compact_array([change]) + NO_TAGS
    frame = wire.request(INCREMENTAL_ALTER_CONFIGS, compact_array([body]) + b"\x00" + NO_TAGS)
    with Connection(port) as connection:
        answer = Reader(connection.ask(frame), RESPONSE_BODY_AT)
    answer.int32()  # throttle time
    answer.position += 1  # the number of results: one
    error = answer.int16()
    if error:
        raise UnexpectedAnswer(f"IncrementalAlterConfigs of {name} answered error {error}")


@contextmanager
def eager_cleaner(port: int) -> Iterator[None]:
    """Cleaning begins soon after there is something to clean."""
    alter_config(port, BROKER_RESOURCE, ALL_BROKERS, "log.cleaner.backoff.ms", str(EAGER_BACKOFF_MS))
    try:
        time.sleep(BACKOFF_NOTICED_SECONDS)
        yield
    finally:
        alter_config(port, BROKER_RESOURCE, ALL_BROKERS, "log.cleaner.backoff.ms", None)


def fill(port: int, topic: Topic, size_bytes: int) -> int:
    """Keys that come again and again, in batches of 64 KiB; returns the number of records."""
    frames = keyed_frames(topic, size_bytes)
    error_at = wire.produce_error_at(topic.name)
    with Connection(port) as connection:
        answer = connection.ask(next(frames))
        latency.check(answer, error_at)
        outstanding, batches = 0, 1
        for frame in frames:
            connection.send(frame)
            outstanding, batches = outstanding + 1, batches + 1
            if outstanding == IN_FLIGHT:
                # All answers without an error have the same length.
                latency.check(connection.socket.recv(len(answer), socket.MSG_WAITALL), error_at)
                outstanding -= 1
        for _ in range(outstanding):
            latency.check(connection.socket.recv(len(answer), socket.MSG_WAITALL), error_at)
    return batches * BATCH_RECORDS


def keyed_frames(topic: Topic, size_bytes: int) -> Iterator[bytes]:
    dice = random.Random(1)
    now_ms = time.time_ns() // 1_000_000
    for _ in range(size_bytes // (RECORD_BYTES * BATCH_RECORDS)):
        values = [os.urandom(RECORD_BYTES)] * BATCH_RECORDS
        keys = [b"%08d" % dice.randrange(KEYS) for _ in values]
        yield wire.produce_request(topic.name, 0, batch.encode(values, now_ms, keys=keys), -1)


def produce_until_cleaned(site: Site, tiny: Topic, cleaned: Topic) -> tuple[list[int], float]:
    """One tiny record in flight until the broker has put down that the other topic is clean: the times, and how long it took."""
    frame = latency.single_record_frame(Job.on("one in flight", site.port, tiny, record_bytes=TINY_BYTES), 0)
    error_at = wire.produce_error_at(tiny.name)
    mark = next(site.folder.rglob("meta.properties")).parent / MARK
    took: list[int] = []
    began = look_at = time.perf_counter()
    with Connection(site.port) as connection:
        while True:
            sent = time.perf_counter_ns()
            connection.send(frame)
            latency.check(connection.socket.recv(latency.ANSWER_BYTES), error_at)
            took.append(time.perf_counter_ns() - sent)
            now = time.perf_counter()
            if now > look_at:
                look_at = now + LOOK_INTERVAL_SECONDS
                if mark.exists() and f"{cleaned.name} 0 " in mark.read_text():
                    return took, now - began
                if now - began > CLEANING_LIMIT_SECONDS:
                    raise TimeoutError(f"{cleaned.name} is not clean after {CLEANING_LIMIT_SECONDS} s")


def beside_cleaning(site: Site, scale: Scale) -> Figures:
    size_bytes = scale.log_bytes // CLEANED_SHARE
    name = f"bench-{uuid.uuid4().hex[:8]}"
    # Nothing is dirtier than all of it, so the cleaner waits until it is told otherwise.
    configs = {
        "cleanup.policy": "compact",
        "segment.bytes": str(SEGMENT_BYTES),
        "min.cleanable.dirty.ratio": "1.0",
        **site.contestant.topic_configs(site.durability),
    }
    (cleaned,) = create_topics(site.port, [name], 1, configs)
    try:
        with site.topic(1) as tiny, eager_cleaner(site.port):
            records = fill(site.port, cleaned, size_bytes)
            os.sync()
            alter_config(site.port, TOPIC_RESOURCE, name, "min.cleanable.dirty.ratio", "0.0")
            took, seconds = produce_until_cleaned(site, tiny, cleaned)
            site.verify(tiny, len(took))
            site.verify(cleaned, records)
    finally:
        delete_topics(site.port, [cleaned])
        site.await_deletion(name)
    return latency.figures(took, seconds) | {"cleaned_mb_s": records * RECORD_BYTES / seconds / 1e6}


ROWS = (
    SharedRow(
        "beside-cleaning",
        "relaxed",
        (
            Metric("p50_us", "tiny produces while another topic (1 GB; quick: 0.25 GB) is compacted, p50", "µs"),
            Metric("p99_us", "p99", "µs", at_most(1.0)),
            Metric("max_us", "worst", "µs"),
            Metric("cleaned_mb_s", "what the cleaner gets through", "MB/s"),
        ),
        beside_cleaning,
    ),
)
