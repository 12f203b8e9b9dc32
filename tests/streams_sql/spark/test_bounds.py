"""How far may be read, as those who plan batches are told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows

from streams_sql.spark.jobs.stages import RowsTail, Stage
from streams_sql.spark.shards.tasks import PackedHead
from streams_sql.spark.sources import topic_source
from streams_sql.spark.sources.bounds import Bounds, bounded, bounds_of
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.positions import places_of, read_by_all, read_by_any
from streams_sql.spark.sources.topic_source import Reading, TopicReading, TopicSource
from tests.broker import BarnabasBroker
from tests.streams_sql.views.written_topic import WrittenTopic


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({0: 7, 1: 100}, {0: 7, 1: 20}),
        # What has been read stays so, also where nobody knows of the partition.
        ({0: 1}, {0: 5, 1: 5}),
        ({}, {0: 5, 1: 5}),
        # One that was added is read when the bounds name it.
        ({0: 7, 1: 7, 2: 3}, {0: 7, 1: 7, 2: 3}),
    ],
    ids=str,
)
def test_ends_are_those_of_the_bounds(bounds: Mapping[int, int], expected: Mapping[int, int]) -> None:
    assert bounded({0: 5, 1: 5}, {0: 10, 1: 20, 2: 30}, bounds) == expected


def test_bounds_rise_until_they_are_closed(tmp_path: Path) -> None:
    bounds, path = Bounds(tmp_path / "bounds"), str(tmp_path / "bounds")
    assert bounds_of(path, "t", must_be=False) is None
    assert bounds_of(path, "t", must_be=True) == {}
    bounds.raise_to({"t": {0: 5, 1: 7}})
    bounds.raise_to({"t": {0: 9, 1: 2}})
    assert bounds_of(path, "t", must_be=True) == {0: 9, 1: 7}
    assert bounds_of(path, "other", must_be=True) is None
    bounds.close(["t", "other"])
    bounds.raise_to({"t": {0: 10}})
    assert [bounds_of(path, topic, must_be=False) for topic in ("t", "other")] == [{}, {}]
    bounds.remove()
    assert not list(tmp_path.iterdir())


def test_a_topic_that_is_read_in_several_places_was_read_as_far_by_all_and_so_far_by_any() -> None:
    entry = 'v1\n{}\n{"t":{"0":5,"1":8}}\n{"t":{"0":7}}\n{"u":{"0":1}}\n-'
    assert read_by_all(places_of(entry)) == {"t": {0: 5}, "u": {0: 1}}
    assert read_by_any(places_of(entry)) == {"t": {0: 7, 1: 8}, "u": {0: 1}}


def test_batches_end_at_the_bounds_and_there_is_none_once_these_are_closed(
    barnabas: BarnabasBroker, topic: str, tmp_path: Path
) -> None:
    WrittenTopic(barnabas.address, topic).write((str(number), number) for number in range(10))
    bounds = Bounds(tmp_path / "bounds")
    reading = Reading((TopicReading(topic, {0: 0}),), KafkaAccess(barnabas.address), 10, bounds=str(bounds.path))
    reader = TopicSource(topic_source.options(reading, [Stage(PackedHead(), (), RowsTail(()))])).streamReader(None)

    def planned(start: int) -> int:
        end: int = reader.latestOffset({topic: {"0": start}}, ReadMaxRows(100))[topic]["0"]
        return end

    bounds.raise_to({topic: {0: 4}})
    assert planned(0) == 4
    assert reader.reportLatestOffset() == {topic: {"0": 4}}
    bounds.raise_to({topic: {0: 7}})
    assert planned(4) == 7
    bounds.close([topic])
    assert planned(7) == 7
    bounds.close([topic], {topic: {0: 8}})
    assert planned(7) == 8
    bounds.remove()
    assert planned(7) == 10
