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

from streams_sql.local.interleaving import Line, in_order
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.nodes import Node, Read
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.sources import ROWTIME
from streams_sql.spark import shards
from streams_sql.spark.shards import PACKED, ShardProcessor
from tests.streams_sql.local.test_pipeline import PLANS, RECORDS, fed
from tests.streams_sql.processors.plans import row as row_of
from tests.streams_sql.processors.plans import unexpected

SHARD = 0


class Store:
    """What a task sees of the state store: its changes count when it is committed."""

    def __init__(self) -> None:
        self.values: dict[str, list[tuple[Any, ...]]] = defaultdict(list)

    def getListState(self, name: str, schema: str) -> ListState:  # noqa: N802 - Spark's name
        return ListState(self, name)

    def getValueState(self, name: str, schema: str) -> ValueState:  # noqa: N802 - Spark's name
        return ValueState(self, name)


class ListState:
    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def get(self) -> Iterator[tuple[Any, ...]]:
        return iter(list(self._store.values[self._name]))

    def put(self, values: list[tuple[Any, ...]]) -> None:
        self._store.values[self._name] = list(values)

    def appendList(self, values: list[tuple[Any, ...]]) -> None:  # noqa: N802 - Spark's name
        self._store.values[self._name] += values


class ValueState:
    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def get(self) -> tuple[Any, ...] | None:
        return next(iter(self._store.values[self._name]), None)

    def update(self, value: tuple[Any, ...]) -> None:
        self._store.values[self._name] = [value]


class Running:
    """One shard of a plan."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._run = secrets.token_hex(8)
        self._committed = Store()
        self._offset = 0

    @property
    def list_length(self) -> int:
        return len(self._committed.values["list"])

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
        processor = ShardProcessor(self._run, self._node)
        processor.init(store)  # type: ignore[arg-type] # It has what is used of one.
        made = processor.handleInputRows((SHARD,), iter(packed), None)
        return [row for each in made for row in pickle.loads(each[PACKED])]


@pytest.mark.parametrize("name", PLANS)
@settings(max_examples=30)
@given(
    records=RECORDS,
    size=st.integers(1, 7),
    losses=st.sets(st.integers(0, 10)),
    failures=st.sets(st.integers(0, 10)),
)
def test_rows_are_those_of_one_process(
    name: str, records: list[Any], size: int, losses: set[int], failures: set[int]
) -> None:
    node = PLANS[name]()
    reference, running = Pipeline(node, unexpected), Running(node)
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


def test_the_list_is_written_anew_when_it_has_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "LIST_BYTES_MIN", 100)
    node = PLANS["count"]()
    running, (read,) = Running(node), Pipeline(node, unexpected).reads
    counts, lengths = [], []
    for time in range(100):
        ((_, count, *_),) = running.batch([(0, row_of(read, time, G="a"))])
        counts.append(count)
        lengths.append(running.list_length)
    assert counts == list(range(1, 101))
    assert 1 < max(lengths) < 20
