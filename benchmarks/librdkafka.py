"""Rows with confluent-kafka, as a Python user writes it. The client is the limit with any broker, so they carry no target."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.connection import HOST
from benchmarks.job import Figures, LoadFailed
from benchmarks.rows import Metric, Scale, SharedRow, Site
from benchmarks.wire import Topic

RECORD_BYTES = 1024
FLUSH_LIMIT_SECONDS = 60
CONSUME_LIMIT_SECONDS = 60
RECORDS_PER_CALL = 10_000


def produce_and_consume(site: Site, scale: Scale) -> Figures:
    count = scale.java_records // 2
    with site.topic(1) as topic:
        produced = produce(site, topic, count)
        site.verify(topic, count)
        consumed = consume(site, topic, count)
    payload = count * RECORD_BYTES / 1e6
    return {"produce_mb_s": payload / produced, "consume_mb_s": payload / consumed}


def produce(site: Site, topic: Topic, count: int) -> float:
    """Seconds until everything is acknowledged."""
    producer = Producer({"bootstrap.servers": f"{HOST}:{site.port}", "queue.buffering.max.messages": 1_000_000})
    value = b"v" * RECORD_BYTES
    began = time.monotonic()
    for _ in range(count):
        while True:
            try:
                producer.produce(topic.name, value)
                break
            except BufferError:
                producer.poll(0.01)
    if left := producer.flush(FLUSH_LIMIT_SECONDS):
        raise LoadFailed(f"confluent-kafka: {left} records are not acknowledged after {FLUSH_LIMIT_SECONDS} s")
    return time.monotonic() - began


def consume(site: Site, topic: Topic, count: int) -> float:
    """Seconds from the first assignment to the last record."""
    consumer = Consumer(
        {"bootstrap.servers": f"{HOST}:{site.port}", "group.id": topic.name, "enable.auto.commit": False}
    )
    try:
        began = time.monotonic()
        consumer.assign([TopicPartition(topic.name, 0, 0)])
        left = count
        while left > 0:
            for message in consumer.consume(RECORDS_PER_CALL, 1.0):
                if error := message.error():
                    raise LoadFailed(f"confluent-kafka: {error.str()}")
                left -= 1
            if time.monotonic() - began > CONSUME_LIMIT_SECONDS:
                raise LoadFailed(f"confluent-kafka: {left} records have not come within {CONSUME_LIMIT_SECONDS} s")
        return time.monotonic() - began
    finally:
        consumer.close()


ROWS = (
    SharedRow(
        "confluent-kafka",
        "relaxed",
        (
            Metric("produce_mb_s", "confluent-kafka in Python, produce 1 KiB (client-bound)", "MB/s"),
            Metric("consume_mb_s", "confluent-kafka in Python, consume 1 KiB (client-bound)", "MB/s"),
        ),
        produce_and_consume,
    ),
)
