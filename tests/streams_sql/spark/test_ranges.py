"""Ranges of offsets: how batches are cut, and how workers read them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from uuid import uuid4

import pytest

from streams_sql.spark.sources.batch_plan import limited
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.range_reading import read_range
from streams_sql.spark.sources.ranges import Range, RecordsGoneError
from streams_sql.spark.sources.topic_ends import PARTITIONS_INTERVAL_S, TopicEnds
from tests.broker import BarnabasBroker
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for


@pytest.fixture
def written(barnabas: BarnabasBroker) -> WrittenTopic:
    return WrittenTopic(barnabas.address, f"ranges-{uuid4().hex[:8]}")


@pytest.fixture
def access(barnabas: BarnabasBroker) -> KafkaAccess:
    return KafkaAccess(barnabas.address)


def keys(access: KafkaAccess, wanted: Range) -> list[str]:
    found = []
    for records in read_range(access, wanted, has_headers=False):
        assert set(records.partitions) == {wanted.partition}
        assert all(wanted.start <= offset < wanted.end for offset in records.offsets)
        found += [key.decode() for key in records.keys if key is not None]
    return found


@pytest.mark.parametrize(
    ("ends", "records_max", "expected"),
    [
        ({0: 10, 1: 20}, None, {0: 10, 1: 20}),
        ({0: 10, 1: 20}, 100, {0: 10, 1: 20}),
        ({0: 105, 1: 15}, 11, {0: 15, 1: 6}),
        ({0: 1_000_005, 1: 6}, 10, {0: 15, 1: 6}),
        ({0: 5, 1: 5, 2: 100}, 10, {0: 5, 1: 5, 2: 10}),
    ],
    ids=str,
)
def test_batches_give_each_partition_its_share(
    ends: Mapping[int, int], records_max: int | None, expected: Mapping[int, int]
) -> None:
    assert limited({0: 5, 1: 5}, ends, records_max) == expected


def test_a_range_is_read_from_its_start_to_its_end(access: KafkaAccess, written: WrittenTopic) -> None:
    written.write((str(number), number) for number in range(20_000))
    assert keys(access, Range(written.name, 0, 3, 12_007)) == [str(number) for number in range(3, 12_007)]
    # The consumer of this process is the same, and is at another place.
    assert keys(access, Range(written.name, 0, 5, 7)) == ["5", "6"]
    assert keys(access, Range(written.name, 0, 19_999, 20_000)) == ["19999"]


def test_what_is_no_record_ends_a_range_as_well(access: KafkaAccess, written: WrittenTopic) -> None:
    written.write_transaction([("a", 1), ("b", 2)], is_committed=True)
    written.write_transaction([("c", 3)], is_committed=False)
    # Three records and two markers.
    assert TopicEnds(access, [written.name]).ends() == {(written.name, 0): 5}
    assert keys(access, Range(written.name, 0, 0, 5)) == ["a", "b"]
    assert keys(access, Range(written.name, 0, 2, 5)) == []
    written.write([("d", 4)])
    assert keys(access, Range(written.name, 0, 1, 5)) == ["b"]
    assert keys(access, Range(written.name, 0, 1, 6)) == ["b", "d"]


def test_records_that_are_gone_are_told(access: KafkaAccess, written: WrittenTopic) -> None:
    written.write((str(number), number) for number in range(10))
    written.delete_records(before=5)
    with pytest.raises(RecordsGoneError):
        keys(access, Range(written.name, 0, 3, 10))
    # And the worker can go on with the next one.
    assert keys(access, Range(written.name, 0, 5, 7)) == ["5", "6"]


def test_a_topic_that_is_gone_is_told(access: KafkaAccess, written: WrittenTopic) -> None:
    written.write([("a", 1)])
    ends = TopicEnds(access, [written.name])
    assert ends.ends() == {(written.name, 0): 1}
    written.delete()
    with pytest.raises(RecordsGoneError):
        wait_for(lambda: ends.ends() is None, "the end of the topic")


def test_partitions_that_are_added_are_seen(access: KafkaAccess, written: WrittenTopic) -> None:
    ends = TopicEnds(access, [written.name])
    assert ends.ends() == {(written.name, 0): 0}
    written.grow(2)
    written.write([("a", 1)], partition=1)
    wait_for(
        lambda: ends.ends() == {(written.name, 0): 0, (written.name, 1): 1},
        "the new partition",
        20 * PARTITIONS_INTERVAL_S,
    )


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("sources.topic_source", {"batch_plan", "bounds", "broker_access", "ranges", "topic_ends"}),
        ("shards.processor", set()),
    ],
)
def test_what_each_start_of_a_query_loads_is_no_more_than_it_needs(module: str, others: set[str]) -> None:
    """Spark has processes of their own for what is planned, and a query starts when all of them are up."""
    program = (
        f"import sys, streams_sql.spark.{module}; print(*(name for name in sys.modules if 'streams_sql.' in name))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    package = f"streams_sql.spark.{module.partition('.')[0]}"
    loaded = set(done.stdout.split())
    names = {f"streams_sql.spark.{module}", *(f"{package}.{name}" for name in others)}
    assert loaded == {"streams_sql.spark", package, *names}
