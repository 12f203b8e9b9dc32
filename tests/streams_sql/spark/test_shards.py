"""What Spark has no operator for, on real Spark: statements, records in, records out."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import PersistentPlan
from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.spark.query_plans import SECOND, T0
from tests.streams_sql.spark.query_runs import QueryRun, exactly_once

STREAM, OTHER, TABLE, FEW = "s", "r", "t", "u"
DECLARED = {
    STREAM: "STREAM s (k STRING KEY, a INT, g STRING)",
    OTHER: "STREAM r (k STRING KEY, b INT)",
    TABLE: "TABLE t (k STRING PRIMARY KEY, v INT, f STRING)",
    FEW: "TABLE u (k STRING PRIMARY KEY, w INT)",
}


PRODUCT = """
class Product:
    def initial(self):
        return 1.0

    def add(self, state, value):
        return state * value

    def result(self, state):
        return state
"""


class Record(NamedTuple):
    """Of a source. Without a value, the row of a table is deleted."""

    source: str
    key: str
    value: dict[str, Any] | None
    time: int = 0


class Case(NamedTuple):
    """`told` are keys and values of the sink, in order."""

    statement: str
    records: Sequence[Record]
    told: Sequence[tuple[str | bytes, dict[str, Any] | None]]


def session_key(key: str, start: int, end: int) -> bytes:
    return key.encode() + struct.pack(">qq", T0 + end, T0 + start)


CASES = {
    "sessions that grow together": Case(
        "TABLE made AS SELECT g, COUNT(*) AS n FROM s WINDOW SESSION (5 SECONDS) GROUP BY g",
        [
            Record(STREAM, "1", {"a": 1, "g": "x"}, 0),
            Record(STREAM, "2", {"a": 1, "g": "x"}, 8 * SECOND),
            Record(STREAM, "3", {"a": 1, "g": "x"}, 4 * SECOND),
        ],
        [
            (session_key("x", 0, 0), {"N": 1}),
            (session_key("x", 8 * SECOND, 8 * SECOND), {"N": 1}),
            (session_key("x", 0, 0), None),
            (session_key("x", 8 * SECOND, 8 * SECOND), None),
            (session_key("x", 0, 8 * SECOND), {"N": 3}),
        ],
    ),
    "having": Case(
        "TABLE made AS SELECT g, SUM(a) AS total FROM s GROUP BY g HAVING SUM(a) > 2",
        [
            Record(STREAM, "1", {"a": 2, "g": "x"}),
            Record(STREAM, "2", {"a": 3, "g": "x"}),
            Record(STREAM, "3", {"a": -4, "g": "x"}),
        ],
        [("x", {"TOTAL": 5}), ("x", None)],
    ),
    "rows of a table that pass": Case(
        "TABLE made AS SELECT k, v FROM t WHERE v > 1",
        [Record(TABLE, "1", {"v": 2}), Record(TABLE, "2", {"v": 1}), Record(TABLE, "1", {"v": 0})],
        [("1", {"V": 2}), ("1", None)],
    ),
    "aggregates that Spark does not have": Case(
        "TABLE made AS SELECT g, HISTOGRAM(k) AS h, COLLECT_SET(a) AS l FROM s GROUP BY g",
        [Record(STREAM, "1", {"a": 2, "g": "x"}), Record(STREAM, "1", {"a": 1, "g": "x"})],
        [("x", {"H": {"1": 1}, "L": [2]}), ("x", {"H": {"1": 2}, "L": [2, 1]})],
    ),
    "groups of a table": Case(
        "TABLE made AS SELECT f, SUM(v) AS total, MAX(v) AS most, TOPK(v, 2) AS top FROM t GROUP BY f",
        [
            Record(TABLE, "1", {"v": 2, "f": "x"}),
            Record(TABLE, "2", {"v": 3, "f": "x"}),
            Record(TABLE, "1", {"v": 5, "f": "y"}),
            Record(TABLE, "2", None),
        ],
        [
            ("x", {"TOTAL": 2, "MOST": 2, "TOP": [2]}),
            ("x", {"TOTAL": 5, "MOST": 3, "TOP": [3, 2]}),
            ("x", {"TOTAL": 3, "MOST": 3, "TOP": [3]}),
            ("y", {"TOTAL": 5, "MOST": 5, "TOP": [5]}),
            ("x", {"TOTAL": 0, "MOST": None, "TOP": []}),
        ],
    ),
    "groups of a join": Case(
        "TABLE made AS SELECT w, COUNT(*) AS n FROM s JOIN u ON s.k = u.k GROUP BY w",
        [
            Record(FEW, "1", {"w": 7}, 0),
            Record(STREAM, "1", {"a": 1, "g": "x"}, 1),
            Record(STREAM, "2", {"a": 1, "g": "x"}, 2),
            Record(STREAM, "1", {"a": 1, "g": "x"}, 3),
        ],
        [("7", {"N": 1}), ("7", {"N": 2})],
    ),
    "a stream that looks up a table": Case(
        "STREAM made AS SELECT s.k, a, w FROM s LEFT JOIN u ON s.k = u.k",
        [
            Record(STREAM, "1", {"a": 1, "g": "x"}, 0),
            Record(FEW, "1", {"w": 7}, 1),
            Record(STREAM, "1", {"a": 2, "g": "x"}, 2),
            Record(FEW, "1", None, 3),
            Record(STREAM, "1", {"a": 3, "g": "x"}, 4),
        ],
        [("1", {"A": 1, "W": None}), ("1", {"A": 2, "W": 7}), ("1", {"A": 3, "W": None})],
    ),
    "a row without a partner that is told at once": Case(
        "STREAM made AS SELECT s.k, a, b FROM s LEFT JOIN r WITHIN 5 SECONDS ON s.k = r.k",
        [
            Record(STREAM, "1", {"a": 1, "g": "x"}, 0),
            Record(OTHER, "1", {"b": 2}, 1),
            Record(OTHER, "1", {"b": 3}, 9 * SECOND),
        ],
        [("1", {"A": 1, "B": None}), ("1", {"A": 1, "B": 2})],
    ),
    "three sources": Case(
        "STREAM made AS SELECT s.k, a, b, w FROM s JOIN r WITHIN 5 SECONDS ON s.k = r.k JOIN u ON s.k = u.k",
        [
            Record(FEW, "1", {"w": 7}, 0),
            Record(STREAM, "1", {"a": 1, "g": "x"}, 1),
            Record(OTHER, "1", {"b": 2}, 2),
        ],
        [("1", {"A": 1, "B": 2, "W": 7})],
    ),
    "two tables": Case(
        "TABLE made AS SELECT ROWKEY AS k, v, w FROM t FULL OUTER JOIN u ON t.k = u.k",
        [
            Record(TABLE, "1", {"v": 2}, 0),
            Record(FEW, "1", {"w": 7}, 1),
            Record(TABLE, "1", None, 2),
            Record(FEW, "1", None, 3),
        ],
        [("1", {"V": 2, "W": None}), ("1", {"V": 2, "W": 7}), ("1", {"V": None, "W": 7}), ("1", None)],
    ),
    "a foreign key": Case(
        "TABLE made AS SELECT t.k, v, w FROM t JOIN u ON t.f = u.k",
        [
            Record(FEW, "x", {"w": 7}, 0),
            Record(TABLE, "1", {"v": 2, "f": "x"}, 1),
            Record(FEW, "x", {"w": 8}, 2),
            Record(TABLE, "1", {"v": 2, "f": "y"}, 3),
        ],
        [("1", {"V": 2, "W": 7}), ("1", {"V": 2, "W": 8}), ("1", None)],
    ),
}


class Written:
    """The topics of a case, and its plan."""

    def __init__(self, run: QueryRun, case: Case) -> None:
        self._run = run
        self._topics = {name: run.topic(name) for name in DECLARED}
        self.sink = run.topic("out")
        declared = [f"CREATE {text} WITH (kafka_topic='{self._topics[name]}')" for name, text in DECLARED.items()]
        made = case.statement.replace(" AS ", f" WITH (kafka_topic='{self.sink}') AS ", 1)
        self.plan: PersistentPlan = planned(f"CREATE {made}", sources(*declared))
        assert hosting_of(self.plan.node) is Hosting.SHARDS

    def write(self, records: Sequence[Record]) -> None:
        for record in records:
            value = None if record.value is None else json.dumps(record.value).encode()
            self._run.write(self._topics[record.source], [(record.key, value, T0 + record.time)])

    def told(self, count: int) -> list[tuple[str | bytes, Any]]:
        found = self._run.read(self.sink, count)
        return [(_readable(record.key or b""), record.value) for record in found]


def _readable(key: bytes) -> str | bytes:
    """Keys with the bounds of windows stay as they are, and so do numbers, in their last byte."""
    if len(key) == struct.calcsize(">i") and not key[0]:
        return str(struct.unpack(">i", key)[0])
    return key if len(key) > struct.calcsize(">qq") else key.decode()


@pytest.mark.parametrize("name", CASES)
def test_what_is_told(run: QueryRun, name: str) -> None:
    case = CASES[name]
    written = Written(run, case)
    written.write(case.records)
    run.start(written.plan)
    assert written.told(len(case.told)) == list(case.told)


@pytest.mark.parametrize("name", ["having", "two tables", "a foreign key", "a stream that looks up a table"])
def test_what_is_known_is_known_after_a_restart_and_told_once(run: QueryRun, name: str) -> None:
    case = CASES[name]
    written = Written(run, case)
    for number, record in enumerate(case.records):
        written.write([record])
        query_id = run.start(written.plan, **exactly_once())
        run.settled(1)
        if number + 1 < len(case.records):
            run.stop(query_id)
    assert written.told(len(case.told)) == list(case.told)


def test_rows_are_dealt_out_to_several_shards(run: QueryRun) -> None:
    written = Written(run, CASES["a stream that looks up a table"])
    keys = [str(number) for number in range(50)]
    written.write([Record(FEW, key, {"w": int(key)}, 0) for key in keys])
    run.start(written.plan, options={"spark.sql.shuffle.partitions": "2"})
    run.settled(len(keys))
    written.write([Record(STREAM, key, {"a": 1, "g": "x"}, 1) for key in keys])
    assert sorted(written.told(len(keys))) == sorted((key, {"A": 1, "W": int(key)}) for key in keys)


def test_an_expression_that_fails_in_a_shard_is_told(run: QueryRun) -> None:
    topic, sink = run.topic(STREAM), run.topic("out")
    declared = sources(f"CREATE STREAM s (k STRING KEY, v STRING) WITH (kafka_topic='{topic}', value_format='JSON')")
    plan = planned(
        f"CREATE TABLE made WITH (kafka_topic='{sink}') AS "
        "SELECT k, HISTOGRAM(v) AS h, SUM(CAST(v AS INT)) AS n FROM s GROUP BY k",
        declared,
    )
    run.write(topic, [("a", {"v": "1"}, T0), ("a", {"v": "x"}, T0 + 1)])
    run.start(plan)
    assert run.read(sink, 2)[1].value == {"H": {"1": 1, "x": 1}, "N": 1}
    (batch,) = run.settled(2)
    (example,) = batch.examples
    assert (batch.failed, example.topic, example.offset, example.kind) == (1, topic, 1, "RECORD_PROCESSING_ERROR")


def test_functions_of_users_run_in_stages_and_in_shards(run: QueryRun) -> None:
    topic, sink = run.topic(STREAM), run.topic("out")
    statements = Statements(
        f"CREATE STREAM n (k STRING KEY, x DOUBLE) WITH (kafka_topic='{topic}', value_format='JSON')",
        "CREATE FUNCTION hypotenuse (x DOUBLE, y DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'math:hypot'",
        f"CREATE AGGREGATE FUNCTION product (x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS $${PRODUCT}$$",
    )
    query = statements.query(
        f"CREATE TABLE made WITH (kafka_topic='{sink}') AS SELECT k, PRODUCT(HYPOTENUSE(x, 4)) AS p FROM n GROUP BY k;"
    )
    run.write(topic, [("a", {"x": 3}, T0), ("a", {"x": 0}, T0 + 1), ("a", {"x": -3}, T0 + 2)])
    run.start(query.plan)
    assert [found.value for found in run.read(sink, 3)] == [{"P": 5.0}, {"P": 20.0}, {"P": 100.0}]
