"""Queries without state, each clause by itself: statements in, records in, records out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streams_sql.evaluation.expression_error import ExpressionError
from streams_sql.plan.records import ProblemKind
from tests.streams_sql.plan.in_process import Record, run

S = (
    "CREATE STREAM s (k STRING KEY, id INT, name STRING, price DECIMAL(6, 2), tags ARRAY<STRING>, m MAP<STRING, INT>, "
    "st STRUCT<x INT, deep STRUCT<y STRING>>) WITH (kafka_topic='s', value_format='JSON')"
)
ROWS: tuple[dict[str, Any], ...] = (
    {"id": 1, "name": "one", "price": 1.5, "tags": ["a", "b"], "m": {"p": 1}, "st": {"x": 1, "deep": {"y": "low"}}},
    {"id": 2, "name": None, "price": 10, "tags": [], "m": {}, "st": None},
    {"ID": 3, "NAME": "three"},
)


def records(*values: Any, topic_time: int = 0) -> list[Record]:
    return [
        Record(f"k{place}".encode(), json.dumps(value).encode(), topic_time + place)
        for place, value in enumerate(values)
    ]


CLAUSES: dict[str, list[Any]] = {
    "SELECT k, id FROM s": [{"ID": 1}, {"ID": 2}, {"ID": 3}],
    "SELECT k, id FROM s WHERE id > 1 AND name IS NOT NULL": [{"ID": 3}],
    "SELECT k, id FROM s WHERE name = 'one' OR name <> 'one'": [{"ID": 1}, {"ID": 3}],
    "SELECT k, id FROM s WHERE NOT (name = 'one')": [{"ID": 2}, {"ID": 3}],
    "SELECT k, id FROM s WHERE id BETWEEN 2 AND 3": [{"ID": 2}, {"ID": 3}],
    "SELECT k, id FROM s WHERE name LIKE '%e' AND id IN (1, 2)": [{"ID": 1}],
    "SELECT k, id FROM s WHERE name IS DISTINCT FROM 'one'": [{"ID": 2}, {"ID": 3}],
    "SELECT k, id + 1 AS n, id / 2 AS h, -id AS m FROM s WHERE id < 3": [
        {"N": 2, "H": 0, "M": -1},
        {"N": 3, "H": 1, "M": -2},
    ],
    "SELECT k, price * 2 AS twice, CAST(price AS INT) AS whole FROM s": [
        {"TWICE": 3.0, "WHOLE": 1},
        {"TWICE": 20.0, "WHOLE": 10},
        {"TWICE": None, "WHOLE": None},
    ],
    "SELECT k, CASE WHEN id = 1 THEN 'a' WHEN id = 2 THEN 'b' ELSE name END AS c FROM s": [
        {"C": "a"},
        {"C": "b"},
        {"C": "three"},
    ],
    "SELECT k, CASE id WHEN 1 THEN 'a' END AS c FROM s": [{"C": "a"}, {"C": None}, {"C": None}],
    "SELECT k, st->x AS x, st->deep->y AS y FROM s": [{"X": 1, "Y": "low"}, {"X": None, "Y": None}, {"X": None, "Y": None}],
    "SELECT k, st->* FROM s WHERE id = 1": [{"X": 1, "DEEP": {"Y": "low"}}],
    "SELECT k, tags[1] AS one, tags[-1] AS two, tags[3] AS three, m['p'] AS p FROM s WHERE id < 3": [
        {"ONE": "a", "TWO": "b", "THREE": None, "P": 1},
        {"ONE": None, "TWO": None, "THREE": None, "P": None},
    ],
    "SELECT k, ARRAY[id, 5] AS a, MAP('n' := id) AS m, STRUCT(n := name, `i` := id) AS s FROM s WHERE id = 3": [
        {"A": [3, 5], "M": {"n": 3}, "S": {"N": "three", "i": 3}}
    ],
    "SELECT k, TRANSFORM(tags, t => UCASE(t)) AS up FROM s WHERE id = 1": [{"UP": ["A", "B"]}],
    "SELECT k, EXPLODE(tags) AS t FROM s": [{"T": "a"}, {"T": "b"}],
    "SELECT k, EXPLODE(tags) AS t, EXPLODE(ARRAY[1, 2, 3]) AS n FROM s WHERE id = 1": [
        {"T": "a", "N": 1},
        {"T": "b", "N": 2},
        {"T": None, "N": 3},
    ],
    "SELECT id, name FROM s PARTITION BY id": [{"NAME": "one"}, {"NAME": None}, {"NAME": "three"}],
    "SELECT k, ROWTIME AS t, ROWPARTITION AS part, ROWOFFSET AS off FROM s WHERE ROWTIME > 0": [
        {"T": 1, "PART": 0, "OFF": 1},
        {"T": 2, "PART": 0, "OFF": 2},
    ],
    "SELECT k, ROWTIME AS t FROM s WHERE ROWTIME < '1970-01-01T00:00:00.001'": [{"T": 0}],
    "SELECT k, COALESCE(name, 'nobody') AS n, IFNULL(id, 0) AS i, NULLIF(id, 1) AS j FROM s": [
        {"N": "one", "I": 1, "J": None},
        {"N": "nobody", "I": 2, "J": 2},
        {"N": "three", "I": 3, "J": 3},
    ],
    "SELECT k, name + '!' AS a, name || '?' AS b FROM s WHERE id <> 2": [{"A": "one!", "B": "one?"}, {"A": "three!", "B": "three?"}],
}  # fmt: skip


@pytest.mark.parametrize(("select", "values"), CLAUSES.items(), ids=CLAUSES)
def test_a_clause(select: str, values: list[Any]) -> None:
    assert run([S, f"CREATE STREAM made AS {select}"], records(*ROWS)).values == values


def test_keys_are_partitioned_by_what_is_said() -> None:
    made = run(
        [S, "CREATE STREAM made WITH (key_format='JSON') AS SELECT * FROM s PARTITION BY id, name"], records(*ROWS)
    )
    assert [record.key for record in made.written] == [
        b'{"ID":1,"NAME":"one"}',
        b'{"ID":2,"NAME":null}',
        b'{"ID":3,"NAME":"three"}',
    ]
    assert list(made.values[0])[-1] == "K", "the old key is the last column of the value"
    null_key = run(
        [S, "CREATE STREAM made WITH (key_format='JSON') AS SELECT * FROM s PARTITION BY id, name"],
        [*records({"id": None, "name": None}), Record(b"k", None)],
    )
    assert [record.key for record in null_key.written] == [b'{"ID":null,"NAME":null}'] * 2
    unkeyed = run([S, "CREATE STREAM made AS SELECT id FROM s PARTITION BY NULL"], records(*ROWS))
    assert [record.key for record in unkeyed.written] == [None, None, None]


def test_a_tombstone_has_no_key_that_needs_a_value() -> None:
    """Not even one that would be true without it. What the old key is enough for is evaluated."""
    tombstone = [Record(b"k", None), *records({"name": None})]
    made = "CREATE STREAM made WITH (key_format='JSON') AS SELECT"
    one = run([S, f"{made} (name IS NULL) AS n, id FROM s PARTITION BY (name IS NULL)"], tombstone)
    assert [record.key for record in one.written] == [None, b"true"]
    both = run(
        [S, f"{made} (name IS NULL) AS n, k + '!' AS l, id FROM s PARTITION BY (name IS NULL), k + '!'"], tombstone
    )
    assert [record.key for record in both.written] == [b'{"N":null,"L":"k!"}', b'{"N":true,"L":"k0!"}']


def test_headers_are_columns() -> None:
    statements = [
        "CREATE STREAM h (v INT, a ARRAY<STRUCT<key STRING, value BYTES>> HEADERS) WITH (kafka_topic='h', value_format='JSON')",
        "CREATE STREAM one (v INT, b BYTES HEADER('x')) WITH (kafka_topic='h', value_format='JSON')",
    ]
    headers = (("x", b"1"), ("y", None), ("x", b"2"))
    record = [Record(None, b'{"v":7}', headers=headers)]
    every = run([*statements, "CREATE STREAM made AS SELECT v, a FROM h"], record)
    assert every.values == [
        {"V": 7, "A": [{"KEY": "x", "VALUE": "MQ=="}, {"KEY": "y", "VALUE": None}, {"KEY": "x", "VALUE": "Mg=="}]}
    ]
    last = run([*statements, "CREATE STREAM made AS SELECT FROM_BYTES(b, 'utf8') AS x FROM one"], record)
    assert last.values == [{"X": "2"}]


def test_rowtime_comes_from_a_column_and_a_record_without_it_is_told() -> None:
    made = run(
        [
            (
                "CREATE STREAM s (k STRING KEY, ts STRING) WITH (kafka_topic='s', value_format='JSON', timestamp='ts', "
                "timestamp_format='yyyy-MM-dd''T''HH:mm:ssX')"
            ),
            "CREATE STREAM made AS SELECT k, ts, ROWTIME AS r FROM s",
        ],
        records({"ts": "1970-01-01T00:00:01Z"}, {"ts": "never"}, {}, topic_time=5_000),
    )
    assert [(record.timestamp, value["R"]) for record, value in zip(made.written, made.values, strict=True)] == [
        (1_000, 1_000)
    ]
    assert [problem.offset for problem in made.problems] == [1, 2]


@pytest.mark.parametrize(
    ("column", "pattern", "values"),
    [
        ("BIGINT", "", (7_000, None, -1)),
        ("TIMESTAMP", "", (7_000, None, -1)),
        ("STRING", ", timestamp_format='HH:mm:ss'", ("00:00:07", None, "never")),
    ],
)
def test_a_sink_writes_the_times_that_a_column_has(column: str, pattern: str, values: tuple[Any, ...]) -> None:
    """A row whose column has no time that a record can have is not written, and reported. A tombstone keeps its own."""
    made = run(
        [
            f"CREATE STREAM s (k STRING KEY, ts {column}) WITH (kafka_topic='s', value_format='JSON')",
            f"CREATE STREAM made WITH (timestamp='ts'{pattern}) AS SELECT k, ts FROM s",
        ],
        [*records(*({"ts": value} for value in values), topic_time=50), Record(b"gone", None, 53)],
    )
    assert [(record.key, record.timestamp) for record in made.written] == [(b"k0", 7_000), (b"gone", 53)]
    assert [(problem.topic, problem.offset, problem.kind) for problem in made.problems] == [
        ("s", 1, ProblemKind.SERIALIZATION),
        ("s", 2, ProblemKind.SERIALIZATION),
    ]
    assert "the timestamp column TS is" in made.problems[0].reason


def test_a_failing_expression_is_null_and_told() -> None:
    made = run([S, "CREATE STREAM made AS SELECT k, 10 / (id - 1) AS n, id FROM s"], records(*ROWS))
    assert made.values == [{"N": None, "ID": 1}, {"N": 10, "ID": 2}, {"N": 5, "ID": 3}]
    assert [type(error.cause) for error in made.errors if isinstance(error, ExpressionError)] == [ZeroDivisionError]


def test_records_that_cannot_be_decoded_are_passed_over_and_told() -> None:
    bad = [Record(b"a", b'{"id": "many"}'), Record(b"b", b"no json"), Record(b"c", b'{"id": 3}')]
    made = run([S, "CREATE STREAM made AS SELECT k, id FROM s"], bad)
    assert made.values == [{"ID": 3}]
    assert [(problem.topic, problem.offset) for problem in made.problems] == [("s", 0), ("s", 1)]


def test_records_without_a_value() -> None:
    nothing = [Record(b"a", None), Record(b"b", b'{"v": 2}'), Record(None, b'{"v": 3}')]
    stream = "CREATE STREAM s (k STRING KEY, v INT) WITH (kafka_topic='s', value_format='JSON')"
    table = "CREATE TABLE t (k STRING PRIMARY KEY, v INT) WITH (kafka_topic='t', value_format='JSON')"
    assert run([stream, "CREATE STREAM made AS SELECT k, v FROM s"], nothing).values == [None, {"V": 2}, {"V": 3}]
    assert run([stream, "CREATE STREAM made AS SELECT k, v FROM s WHERE v IS NULL"], nothing).values == []
    kept = run([table, "CREATE TABLE made AS SELECT k, v + 1 AS w FROM t"], nothing)
    assert [(record.key, record.value) for record in kept.written] == [(b"a", None), (b"b", b'{"W":3}')]


def test_inserted_rows_have_the_types_of_the_target() -> None:
    made = run(
        [
            S,
            "CREATE STREAM target (k STRING KEY, a BIGINT, b DOUBLE, c DECIMAL(8, 3)) WITH (kafka_topic='t', value_format='JSON')",
            "INSERT INTO target SELECT k, id AS a, id AS b, price AS c FROM s",
        ],
        records(ROWS[0]),
    )
    assert [record.value for record in made.written] == [b'{"A":1,"B":1.0,"C":1.500}']


@pytest.mark.parametrize(
    ("format_name", "value"),
    [("JSON", b'{"ID":1,"NAME":"a,b"}'), ("DELIMITED", b'1,"a,b"')],
)
def test_a_sink_may_have_another_format(format_name: str, value: bytes) -> None:
    query = f"CREATE STREAM made WITH (value_format='{format_name}') AS SELECT k, id, name FROM s"
    assert [record.value for record in run([S, query], records({"id": 1, "name": "a,b"})).written] == [value]


def test_a_single_value_may_stand_alone() -> None:
    query = "CREATE STREAM made WITH (wrap_single_value=false) AS SELECT k, id FROM s"
    assert [record.value for record in run([S, query], records({"id": 1}, {"id": None})).written] == [b"1", None]


def test_arithmetic_with_null_in_a_lambda_makes_all_of_the_call_null() -> None:
    source = (
        "CREATE STREAM n (k STRING KEY, a ARRAY<INT>, m MAP<STRING, INT>) WITH (kafka_topic='n', value_format='JSON')"
    )
    query = (
        "CREATE STREAM made AS SELECT k, TRANSFORM(a, x => x + 1) AS t, FILTER(a, x => -x < 0) AS f, "
        "TRANSFORM(m, (p, q) => p, (p, q) => q) AS m FROM n"
    )
    made = run([source, query], records({"a": [1, 2], "m": {"p": 1}}, {"a": [1, None], "m": {"p": None}}))
    assert made.values == [{"T": [2, 3], "F": [1, 2], "M": {"p": 1}}, {"T": None, "F": None, "M": None}]
    assert len(made.errors) == 3
