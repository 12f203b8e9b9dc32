"""A table that was built in another topic, brought over: what differs is written, what is no more is deleted."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException, Producer

from streams_sql.engine.queries.table_copy import CopyResult, bring_over
from tests.broker import BarnabasBroker
from tests.clients.confluent_client import create_topic
from tests.clients.records import KEEP_FOREVER
from tests.streams_sql.spark.query_runs import Topics

PARTITIONS = 2


def write(address: str, topic: str, *records: tuple[bytes, bytes | None]) -> None:
    producer = Producer({"bootstrap.servers": address, "partitioner": "murmur2_random"})
    for key, value in records:
        producer.produce(topic, value, key, timestamp=7)
    assert producer.flush() == 0


def test_the_table_becomes_the_other_one(barnabas: BarnabasBroker, topic: str) -> None:
    address, settings = barnabas.address, {"bootstrap.servers": barnabas.address}
    table, shadow = f"{topic}-table", f"{topic}-shadow"
    for name in (table, shadow):
        create_topic(address, name, 1, KEEP_FOREVER)
    write(
        address,
        table,
        (b"same", b"1"),
        (b"other", b"1"),
        (b"gone", b"1"),
        (b"late", b"1"),
        (b"was", b"1"),
        (b"was", None),
    )
    write(
        address,
        shadow,
        (b"other", b"1"),
        (b"same", b"0"),
        (b"same", b"1"),
        (b"other", b"2"),
        (b"new", b"3"),
        (b"late", b"1"),
        (b"late", None),
    )
    assert bring_over(settings, shadow, table, f"{topic}-swap") == CopyResult(rows=2, deleted=2)
    written = Topics(address, topic).read_bytes(table, 10)[6:]
    assert written == [(b"other", b"2"), (b"new", b"3"), (b"gone", None), (b"late", None)]
    # Once more, as after a crash before anybody has noted it.
    assert bring_over(settings, shadow, table, f"{topic}-swap") == CopyResult(rows=0, deleted=0)


def test_rows_stay_in_the_partitions_of_their_keys(barnabas: BarnabasBroker, topic: str) -> None:
    address, settings = barnabas.address, {"bootstrap.servers": barnabas.address}
    table, shadow = f"{topic}-table", f"{topic}-shadow"
    for name in (table, shadow):
        create_topic(address, name, PARTITIONS, KEEP_FOREVER)
    keys = [f"k{number}".encode() for number in range(20)]
    write(address, table, *((key, b"1") for key in keys))
    write(address, shadow, *((key, b"2") for key in keys))
    assert bring_over(settings, shadow, table, f"{topic}-swap") == CopyResult(rows=20, deleted=0)
    # The first partition has each of its keys twice.
    found = [key or b"" for key, _ in Topics(address, topic).read_bytes(table, 2)]
    assert sorted(found) == sorted([*set(found), *set(found)])


def test_a_topic_that_is_not_there_is_not_an_empty_table(barnabas: BarnabasBroker, topic: str) -> None:
    address, settings = barnabas.address, {"bootstrap.servers": barnabas.address}
    create_topic(address, f"{topic}-table", 1, KEEP_FOREVER)
    write(address, f"{topic}-table", (b"k", b"1"))
    with pytest.raises(KafkaException):
        bring_over(settings, f"{topic}-shadow", f"{topic}-table", f"{topic}-swap")
    assert Topics(address, topic).read_bytes(f"{topic}-table", 1) == [(b"k", b"1")]
