"""Shards, with a state store that is a dict: workers come, take turns and go, and batches fail and are run again."""

from __future__ import annotations

import pickle
import secrets
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Row as SparkRow

from streams_sql.language.statements import Emit
from streams_sql.local import keyed
from streams_sql.local.interleaving import Line, in_order
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.nodes import Node, Read, reads_of
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.plan.records import Problem
from streams_sql.processors.window_parts import WindowParts, windows_of
from streams_sql.processors.windows import REACHED
from streams_sql.sources import ROWTIME
from streams_sql.spark.shards import spilled_states
from streams_sql.spark.shards import tasks as shards
from streams_sql.spark.shards.processor import ShardProcessor
from streams_sql.spark.shards.stage import AFTER_ALL, PACKED, Arrival, Chunk
from streams_sql.spark.sources.batch_plan import BatchPlan, Planner
from streams_sql.spark.sources.ranges import Partition
from tests.streams_sql.local.test_pipeline import PLANS, RECORDS, S, fed
from tests.streams_sql.processors.plans import call, grouped, hopping, tumbling, unexpected
from tests.streams_sql.processors.plans import row as row_of

SHARD = 0


class Store:
    """What a task sees of the state store: its changes count when it is committed."""

    def __init__(self) -> None:
        self.values: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.entries: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.map = MapState(self.entries)

    def getMapState(self, name: str, key: str, schema: str) -> MapState:  # noqa: N802 - Spark's name
        return self.map

    def getValueState(self, name: str, schema: str) -> ValueState:  # noqa: N802 - Spark's name
        return ValueState(self, name)


class MapState:
    def __init__(self, entries: dict[tuple[Any, ...], tuple[Any, ...]]) -> None:
        self._entries = entries
        self.asked = 0

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:  # noqa: N802 - Spark's name
        self.asked += 1
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
    """One shard of a plan. Each of its workers keeps something of it."""

    def __init__(self, node: Node, rows_max: int = 1_000) -> None:
        self._node = node
        self._rows_max = rows_max
        self._run = secrets.token_hex(8)
        self._committed = Store()
        self._kept: dict[int, OrderedDict[Any, Any]] = defaultdict(OrderedDict)
        self._offset = 0
        self._reads = Pipeline(node, unexpected).reads

    @property
    def entry_count(self) -> int:
        return len(self._committed.entries)

    @property
    def entries_asked(self) -> int:
        """Since the beginning."""
        return self._committed.map.asked

    def lose(self) -> None:
        """All workers end."""
        self._kept.clear()

    def batch_of_ranges(self, ranges: Sequence[tuple[int, list[Row]]], awaited: frozenset[Partition]) -> list[Row]:
        """What comes of the rows of partitions, sent as parts of windows."""
        windows = windows_of(self._node)
        assert windows is not None
        packed = []
        for partition, rows in ranges:
            parts = WindowParts(windows, unexpected)
            parts.add(rows)
            found = parts.take()
            chunk = Chunk([part[REACHED] for part in found], [0] * len(found), found)
            packed.append(self._row(0, 0, chunk, partition))
            time = parts.reached if parts.reached >= 0 else None
            packed.append(self._row(0, AFTER_ALL, Arrival(time, awaited), partition))
        return self._run_once(packed)

    def batch(self, rows: Sequence[tuple[int, Row]], worker: int = 0, fails_in: int | None = None) -> list[Row]:
        """What comes of rows, each at its place; what `fails_in` has made of them before is not committed."""
        packed = self._packed(rows)
        if fails_in is not None:
            self._task(deepcopy(self._committed), packed, fails_in)
        return self._run_once(packed, worker)

    def _run_once(self, packed: Sequence[SparkRow], worker: int = 0) -> list[Row]:
        store = deepcopy(self._committed)
        found = self._task(store, packed, worker)
        self._committed = store
        return found

    def _packed(self, rows: Sequence[tuple[int, Row]]) -> list[SparkRow]:
        """Each place reads one partition of a topic of its own."""
        reached: dict[int, int] = {}
        packed = []
        for place, row in rows:
            reached[place] = max(reached.get(place, -1), row[columns_of(self._reads[place]).index(ROWTIME)])
            self._offset += 1
            packed.append(self._row(place, self._offset, Chunk([reached[place]], [place], [row])))
        return packed + [self._row(place, AFTER_ALL, Arrival(time, frozenset())) for place, time in reached.items()]

    def _row(self, topic: int, number: int, content: Chunk | Arrival, partition: int = 0) -> SparkRow:
        packed = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
        return SparkRow(shard=SHARD, topic=topic, partition=partition, number=number, packed=packed)

    def _task(self, store: Store, packed: Sequence[SparkRow], worker: int) -> list[Row]:
        processor = ShardProcessor(self._run, self._node, self._rows_max)
        processor.init(store)  # type: ignore[arg-type] # It has what is used of one.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shards, "_KEPT", self._kept[worker])
            made = list(processor.handleInputRows((SHARD,), iter(packed), None))
        found = [row for each in made if each[PACKED] for row in pickle.loads(each[PACKED])]
        problems = [each for each in found if isinstance(each, Problem)]
        assert not any(problem.times for problem in problems), (
            "no expression fails; a join may warn that nothing matches"
        )
        return [row for row in found if not isinstance(row, Problem)]


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
    workers=st.lists(st.integers(0, 2), min_size=11, max_size=11),
    failures=st.dictionaries(st.integers(0, 10), st.integers(0, 2)),
    rows_max=st.sampled_from([1, 1_000]),
    entries_bytes=st.sampled_from([200, 100_000]),
)
def test_rows_are_those_of_one_process(
    name: str,
    records: list[Any],
    size: int,
    losses: set[int],
    workers: list[int],
    failures: dict[int, int],
    rows_max: int,
    entries_bytes: int,
) -> None:
    """Also where next to nothing is in memory, and where what is known is written anew every now and then."""
    node = PLANS[name]()
    reference, running = Pipeline(node, unexpected), Running(node, rows_max)
    assert reference.reads == list(reads_of(node)), "topics are numbered by one, and rows by the other"
    rows, latest = fed(reference.reads, records), dict[int, int]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "ENTRIES_BYTES_MIN", entries_bytes)
        # Parts of windows have a test of their own.
        patch.setattr(shards, "windows_of", lambda node: None)
        for number, start in enumerate(range(0, len(rows), size)):
            some = rows[start : start + size]
            if number in losses:
                running.lose()
            made = running.batch(some, workers[number % len(workers)], failures.get(number))
            assert made == [
                found
                for place, each in in_order(lines(reference.reads, some, latest))
                for found in reference.feed(place, each)
            ]


WINDOWS: dict[str, Callable[[Emit], Node]] = {
    "tumbling": lambda emit: grouped(S, ["S_G"], [call(S, "COUNT"), call(S, "SUM", "S_V")], tumbling(7, 3), emit),
    "hopping": lambda emit: grouped(S, ["S_G"], [call(S, "COUNT"), call(S, "MAX", "S_V")], hopping(9, 2, 4), emit),
}
TIMED = st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 5), st.integers(0, 40)), max_size=25)


@pytest.mark.parametrize("emit", [Emit.CHANGES, Emit.FINAL])
@pytest.mark.parametrize("name", WINDOWS)
@settings(max_examples=60)
@given(partitions=st.lists(TIMED, min_size=1, max_size=3), size=st.integers(1, 9))
def test_parts_of_windows_make_the_windows_that_rows_make(
    name: str, emit: Emit, partitions: list[list[tuple[str, int, int]]], size: int
) -> None:
    """What is late included, wherever batches end and however partitions differ in time."""
    node = WINDOWS[name](emit)
    reference, running = Pipeline(node, unexpected), Running(node)
    (read,) = reference.reads
    rows = [[row_of(read, time, G=group, V=value) for group, value, time in records] for records in partitions]
    whole = [Line((1, 0, number), is_awaited=False) for number in range(len(rows))]
    for line, found in zip(whole, rows, strict=True):
        times = accumulate((row[columns_of(read).index(ROWTIME)] for row in found), max)
        line.items.extend((time, 0, row) for time, row in zip(times, found, strict=True))
    expected = final([row for place, some in in_order(whole) for row in reference.feed(place, some)])
    ends = {(read.source.topic, number): len(found) for number, found in enumerate(rows)}
    plan, planner = BatchPlan(dict.fromkeys(ends, 0)), Planner(Path("/nonexistent/pace"))
    made: list[Row] = []
    while (following := planner.next(plan, ends, ends, size)) is not None:
        ranges = [
            (at[1], rows[at[1]][plan.ends[at] : end]) for at, end in following.ends.items() if end > plan.ends[at]
        ]
        made += running.batch_of_ranges(ranges, following.awaited)
        running.lose()
        plan = following
    assert final(made) == expected


def final(rows: Sequence[Row]) -> dict[Any, Any]:
    """The last row of each group and window; the bounds of the window stand before ROWTIME."""
    return {(row[0], row[-4]): row[:-1] for row in rows}


def test_a_worker_reads_what_others_have_added_since() -> None:
    node = PLANS["count"]()
    running, (read,) = Running(node), Pipeline(node, unexpected).reads
    for time in range(50):
        running.batch([(0, row_of(read, time, G=f"g{time}"))])
    running.batch([(0, row_of(read, 50, G="a"))], worker=1)
    before = running.entries_asked
    running.batch([(0, row_of(read, 51, G="a"))])
    assert running.entries_asked - before == 2, "its own last entry, and that of the other worker"
    ((_, count, *_),) = running.batch([(0, row_of(read, 52, G="a"))])
    assert count == 3
    assert running.entries_asked - before == 2


def lines(reads: Sequence[Read], rows: Sequence[tuple[int, Row]], latest: dict[int, int]) -> list[Line]:
    """A line for each place: each reads a topic of its own, with one partition. `latest` are the times that they have reached."""
    found = [Line((0 if read.source.is_table else 1, place, 0), is_awaited=False) for place, read in enumerate(reads)]
    for place, row in rows:
        latest[place] = max(latest.get(place, -1), row[columns_of(reads[place]).index(ROWTIME)])
        found[place].items.append((latest[place], place, row))
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
            running.lose()
        ((_, count, *_),) = running.batch([(0, row_of(read, time, G="a"))])
        counts.append(count)
        lengths.append(running.entry_count)
    assert counts == list(range(1, 101))
    assert 1 < max(lengths) < 20
