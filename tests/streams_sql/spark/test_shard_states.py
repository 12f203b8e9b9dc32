"""Shards, with a state store that is a dict: workers come and go between batches, and batches fail and are run again."""

from __future__ import annotations

import pickle
import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Row as SparkRow

from streams_sql.local import keyed
from streams_sql.local.interleaving import Line, in_order
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.nodes import Node, Read
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.sources import ROWTIME
from streams_sql.spark import shards, spilled_states
from streams_sql.spark.shards import PACKED, ShardProcessor
from tests.streams_sql.local.test_pipeline import PLANS, RECORDS, fed
from tests.streams_sql.processors.plans import row as row_of
from tests.streams_sql.processors.plans import unexpected

SHARD = 0


class Store:
    """What a task sees of the state store: its changes count when it is committed."""

    def __init__(self) -> None:
        self.values: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.entries: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def getMapState(self, name: str, key: str, schema: str) -> MapState:  # noqa: N802 - Spark's name
        return MapState(self.entries)

    def getValueState(self, name: str, schema: str) -> ValueState:  # noqa: N802 - Spark's name
        return ValueState(self, name)


class MapState:
    def __init__(self, entries: dict[tuple[Any, ...], tuple[Any, ...]]) -> None:
        self._entries = entries

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:  # noqa: N802 - Spark's name
        return self._entries.get(key)

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:  # noqa: N802 - Spark's name
        self._entries[key] = value

    def removeKey(self, key: tuple[Any, ...]) -> None:  # noqa: N802 - Spark's name
        del self._entries[key]


class ValueState:
    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def get(self) -> tuple[Any, ...] | None:
        return next(iter(self._store.values[self._name]), None)

    def update(self, value: tuple[Any, ...]) -> None:
        self._store.values[self._name] = [value]


class Running:
    """One shard of a plan."""

    def __init__(self, node: Node, rows_max: int = 1_000) -> None:
        self._node = node
        self._rows_max = rows_max
        self._run = secrets.token_hex(8)
        self._committed = Store()
        self._offset = 0

    @property
    def entry_count(self) -> int:
        return len(self._committed.entries)

    def batch(self, rows: Sequence[tuple[int, Row]], *, fails_first: bool = False) -> list[Row]:
        """What comes of rows, each at its place."""
        packed = [self._packed(place, row) for place, row in rows]
        if fails_first:
            self._task(deepcopy(self._committed), packed)
        store = deepcopy(self._committed)
        found = self._task(store, packed)
        self._committed = store
        return found

    def _packed(self, place: int, row: Row) -> SparkRow:
        self._offset += 1
        return SparkRow(
            shard=SHARD,
            place=place,
            partition=0,
            offset=self._offset,
            packed=pickle.dumps([row], pickle.HIGHEST_PROTOCOL),
        )

    def _task(self, store: Store, packed: Sequence[SparkRow]) -> list[Row]:
        processor = ShardProcessor(self._run, self._node, self._rows_max)
        processor.init(store)  # type: ignore[arg-type] # It has what is used of one.
        made = processor.handleInputRows((SHARD,), iter(packed), None)
        return [row for each in made for row in pickle.loads(each[PACKED])]


@pytest.fixture(autouse=True, scope="module")
def _small_steps() -> Iterator[None]:
    """The size is looked at with each row, and hardly a key stays in memory of those that must go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyed, "COUNT_INTERVAL_MIN", 1)
        patch.setattr(spilled_states, "KEYS_MIN", 2)
        yield


@pytest.mark.parametrize("name", PLANS)
@settings(max_examples=30)
@given(
    records=RECORDS,
    size=st.integers(1, 7),
    losses=st.sets(st.integers(0, 10)),
    failures=st.sets(st.integers(0, 10)),
    rows_max=st.sampled_from([1, 1_000]),
)
def test_rows_are_those_of_one_process(
    name: str, records: list[Any], size: int, losses: set[int], failures: set[int], rows_max: int
) -> None:
    """Also where next to nothing is in memory."""
    node = PLANS[name]()
    reference, running = Pipeline(node, unexpected), Running(node, rows_max)
    rows = fed(reference.reads, records)
    for number, start in enumerate(range(0, len(rows), size)):
        some = rows[start : start + size]
        if number in losses:
            shards._KEPT.clear()
        made = running.batch(some, fails_first=number in failures)
        assert made == [
            found for place, each in in_order(lines(reference.reads, some)) for found in reference.feed(place, each)
        ]


def lines(reads: Sequence[Read], rows: Sequence[tuple[int, Row]]) -> list[Line]:
    """A line for each place: each reads a topic of its own, with one partition."""
    found = [Line((0 if read.source.is_table else 1, place, 0), is_awaited=False) for place, read in enumerate(reads)]
    for place, row in rows:
        found[place].items.append((row[columns_of(reads[place]).index(ROWTIME)], place, row))
    return found


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize(("name", "limit"), [("ENTRIES_BYTES_MIN", 100), ("ENTRIES_COUNT_MAX", 10)])
def test_entries_are_written_anew_when_they_have_grown(
    monkeypatch: pytest.MonkeyPatch, name: str, limit: int, is_kept: bool
) -> None:
    """Also where each batch has a worker that has not run the one before."""
    monkeypatch.setattr(shards, name, limit)
    node = PLANS["count"]()
    running, (read,) = Running(node), Pipeline(node, unexpected).reads
    counts, lengths = [], []
    for time in range(100):
        if not is_kept:
            shards._KEPT.clear()
        ((_, count, *_),) = running.batch([(0, row_of(read, time, G="a"))])
        counts.append(count)
        lengths.append(running.entry_count)
    assert counts == list(range(1, 101))
    assert 1 < max(lengths) < 20
