"""The partitions that a query reads are aligned by time, wherever batches end.

Batches are small here, so that what takes 100,000 records otherwise takes 100.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from streams_sql.plan.nodes import PersistentPlan
from streams_sql.spark.driver.messages import Progress
from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.spark.query_plans import SECOND, T0
from tests.streams_sql.spark.query_runs import QueryRun, exactly_once
from tests.waiting import wait_for

BATCH: dict[str, Any] = {"batch_records_max": 100}


@dataclass
class Joined:
    """A stream s, a stream r and a table t, and a query over them."""

    run: QueryRun
    statement: str
    partitions: int = 1

    def __post_init__(self) -> None:
        self.topics = {name: self.run.topic(name, self.partitions) for name in ("s", "r", "t")}
        self.sink = self.run.topic("out")
        declared = {
            "s": "STREAM s (k STRING KEY, a INT)",
            "r": "STREAM r (k STRING KEY, b INT)",
            "t": "TABLE t (k STRING PRIMARY KEY, v INT)",
        }
        catalogue = sources(
            *(
                f"CREATE {text} WITH (kafka_topic='{self.topics[name]}', value_format='JSON')"
                for name, text in declared.items()
            )
        )
        kind, name, query = self.statement.split(" ", 2)
        self.plan: PersistentPlan = planned(f"CREATE {kind} {name} WITH (kafka_topic='{self.sink}') {query}", catalogue)

    def write(self, name: str, records: Iterable[tuple[str, Mapping[str, Any] | None, int]]) -> None:
        self.run.write(self.topics[name], [(key, value, T0 + time) for key, value, time in records])

    def values(self, count: int) -> list[Any]:
        return [record.value for record in self.run.read(self.sink, count)]


LOOKUP = "STREAM made AS SELECT s.k AS k, a, v FROM s LEFT JOIN t ON s.k = t.k"


@pytest.mark.parametrize(("rows", "shards"), [(10, 1), (150, 2)])
def test_a_stream_waits_for_a_table_that_takes_several_batches(run: QueryRun, rows: int, shards: int) -> None:
    joined = Joined(run, LOOKUP)
    joined.write("t", ((str(number), {"v": number}, 0) for number in range(150)))
    joined.write("s", ((str(149 - number), {"a": number}, SECOND) for number in range(rows)))
    run.start(joined.plan, **BATCH, options={"spark.sql.shuffle.partitions": str(shards)})
    found = joined.values(rows)
    assert sorted(row["V"] for row in found) == list(range(150 - rows, 150))


def test_rows_of_a_stream_find_the_table_as_it_was_at_their_time(run: QueryRun) -> None:
    joined = Joined(run, "STREAM made AS SELECT s.k AS k, a, v FROM s JOIN t ON s.k = t.k")
    joined.write("t", [("a", {"v": 1}, 0), ("a", {"v": 2}, 140)])
    joined.write("s", (("a", {"a": number}, number) for number in range(150)))
    run.start(joined.plan, **BATCH)
    found = joined.values(150)
    assert [row["V"] for row in found] == [1] * 140 + [2] * 10
    assert [row["A"] for row in found] == list(range(150))


@pytest.mark.parametrize("kind", ["LEFT", "RIGHT", "FULL"])
def test_outer_joins_of_streams_lose_no_match(run: QueryRun, kind: str) -> None:
    joined = Joined(
        run,
        f"STREAM made AS SELECT ROWKEY, a, b FROM s {kind} JOIN r WITHIN 2 SECONDS GRACE PERIOD 10 SECONDS ON s.k = r.k"
        if kind == "FULL"
        else f"STREAM made AS SELECT s.k AS k, r.k AS rk, a, b FROM s {kind} JOIN r WITHIN 2 SECONDS GRACE PERIOD 10 SECONDS ON s.k = r.k",
    )
    joined.write("s", ((f"k{number // 10}", {"a": number}, 100 * number) for number in range(1100)))
    joined.write("r", ((f"k{number}", {"b": number}, 1000 * number) for number in range(110)))
    run.start(joined.plan, **BATCH)
    found = joined.values(1100)
    assert Counter((row["A"], row["B"]) for row in found) == Counter((number, number // 10) for number in range(1100))


def test_rows_that_wait_are_known_after_a_restart_and_go_once(run: QueryRun) -> None:
    joined = Joined(run, LOOKUP)
    joined.write("s", ((str(number), {"a": number}, SECOND) for number in range(50)))
    joined.write("t", ((str(number % 50), {"v": number}, 0) for number in range(150)))
    query_id = run.start(joined.plan, batch_records_max=40, **exactly_once())
    held = wait_for(lambda: next((each for each in run.events if _held(each)), None), "a batch with rows that wait")
    run.stop(query_id)
    assert held is not None
    run.start(joined.plan, **BATCH, **exactly_once())
    found = joined.values(50)
    assert sorted((row["A"], row["V"]) for row in found) == [(number, number + 100) for number in range(50)]


def _held(event: object) -> bool:
    return isinstance(event, Progress) and event.held_rows > 0


def test_rows_wait_for_a_partition_that_is_idle(run: QueryRun) -> None:
    """Until it has a later record, or for the idle time."""
    joined = Joined(run, LOOKUP)
    joined.write("s", [("a", {"a": 1}, 10)])
    run.start(joined.plan, task_idle_ms=600_000)
    wait_for(lambda: any(map(_held, run.events)), "a batch with a row that waits")
    joined.write("t", [("a", {"v": 7}, 5), ("b", {"v": 8}, 20)])
    assert joined.values(1) == [{"A": 1, "V": 7}]


LATE = [(0, "a"), (SECOND, "a"), (12 * SECOND, "b"), (2 * SECOND, "a"), (30 * SECOND, "b"), (3 * SECOND, "a")]
WINDOWED = "TABLE made AS SELECT k, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 5 SECONDS) GROUP BY k EMIT {}"


@pytest.mark.parametrize(
    ("size", "shards", "emit"), [(100, 1, "CHANGES"), (1, 2, "CHANGES"), (100, 2, "FINAL"), (1, 1, "FINAL")]
)
def test_what_is_late_does_not_depend_on_batches_nor_on_shards(
    run: QueryRun, size: int, shards: int, emit: str
) -> None:
    """The row at 2 s comes when stream time is 12 s and is counted; the one at 3 s comes at 30 s and is late."""
    joined = Joined(run, WINDOWED.format(emit))
    joined.write("s", ((key, {"a": 1}, time) for time, key in LATE))
    joined.write("s", [("c", {"a": 1}, 100 * SECOND)])
    run.start(joined.plan, batch_records_max=size, options={"spark.sql.shuffle.partitions": str(shards)})
    run.settled(len(LATE) + 1)
    wanted = {("a", 0): 3, ("b", 10): 1, ("b", 30): 1} | ({} if emit == "FINAL" else {("c", 100): 1})
    expected = {(key, T0 + start * SECOND): count for (key, start), count in wanted.items()}
    found: dict[tuple[str, int], int] = {}
    for record in run.read(joined.sink, len(expected)):
        assert record.key is not None
        key, start = record.key[:-8].decode(), int.from_bytes(record.key[-8:], "big")
        found[json.loads(f'"{key}"'), start] = record.value["N"]
    assert found == expected
