"""Whole queries on real Spark: records in, records out."""

from __future__ import annotations

import json
import struct

import pytest

from streams_sql.language.statements import Emit, JoinKind, Kind, Window, WindowKind, Within
from streams_sql.plan.nodes import (
    LookupJoin,
    Node,
    PersistentPlan,
    Shape,
    StreamJoin,
)
from streams_sql.sources import ROWTIME, Column
from streams_sql.spark.driver.messages import BadRecord, Explained, Noted, QueryFailed, Started
from streams_sql.sql_types import BIGINT, STRING
from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.spark.query_plans import (
    MINUTE,
    SECOND,
    T0,
    column,
    counted,
    doubled,
    order,
    project,
    read,
    source,
)
from tests.streams_sql.spark.query_runs import Found, QueryRun

HOUR = 60 * MINUTE


def test_rows_are_filtered_and_computed(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    records = [order(1, "anna", 5.0, 1), order(2, "bob", 20.0, 2), order(3, None, 30.5, 3)]
    run.write(topic, [*records, ("4", None, T0 + 4)])
    run.start(doubled(topic, sink))
    assert run.read(sink, 2) == [
        Found(b"2", {"ID": 2, "TWICE": 40.0}, T0 + 2),
        Found(b"3", {"ID": 3, "TWICE": 61.0}, T0 + 3),
    ]
    (batch,) = run.settled(4)
    assert (batch.input_rows, batch.written_rows, batch.lag, batch.bad_records) == (4, 2, 0, 0)


def test_a_record_that_cannot_be_decoded_is_told_and_passed_over(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [("1", b"{", T0 + 1), order(2, "bob", 20.0, 2)])
    run.start(doubled(topic, sink))
    assert run.read(sink, 1) == [Found(b"2", {"ID": 2, "TWICE": 40.0}, T0 + 2)]
    (batch,) = run.settled(2)
    (example,) = batch.examples
    assert (batch.bad_records, example.topic, example.partition, example.offset) == (1, topic, 0, 0)
    assert "JSON" in example.reason
    assert (example.kind, example.part, example.raw) == ("DESERIALIZATION_ERROR", "value", "ew==")


def test_an_expression_that_fails_gives_null_and_is_told_with_its_record(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    declared = sources(f"CREATE STREAM s (v STRING) WITH (kafka_topic='{topic}', value_format='JSON')")
    plan = planned(
        f"CREATE STREAM made WITH (kafka_topic='{sink}') AS SELECT v, CAST(v AS INT) AS n FROM s PARTITION BY v",
        declared,
    )
    run.write(topic, [(None, {"v": "1"}, T0), *[(None, {"v": "x"}, T0 + 1)] * 12])
    run.start(plan, fails_on_bad_record=True)
    assert [found.value for found in run.read(sink, 13)][:2] == [{"N": 1}, {"N": None}]
    (batch,) = run.settled(13)
    assert (batch.bad_records, batch.failed, sum(example.times for example in batch.examples)) == (0, 12, 12)
    example = batch.examples[0]
    assert (example.topic, example.partition, example.offset) == (topic, 0, 1)
    assert (example.kind, example.reason[:31]) == ("RECORD_PROCESSING_ERROR", "CAST(`V` AS INTEGER) gave NULL:")
    assert json.loads(example.raw or "")["V"] == "x"


def test_rows_without_a_timestamp_are_reported_and_null_keys_are_written(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    declared = sources(f"CREATE STREAM s (a INT, b INT, ts BIGINT) WITH (kafka_topic='{topic}', value_format='JSON')")
    plan = planned(
        f"CREATE STREAM made WITH (kafka_topic='{sink}', key_format='JSON', timestamp='ts') AS "
        "SELECT a, (b IS NULL) AS c, ts FROM s PARTITION BY a, (b IS NULL)",
        declared,
    )
    run.write(topic, [(None, {"b": 1, "ts": T0 + 9}, T0), (None, {"a": 1, "ts": -5}, T0 + 1), ("k", None, T0 + 2)])
    run.start(plan)
    assert run.read(sink, 2) == [
        Found(b'{"A":null,"C":false}', {"TS": T0 + 9}, T0 + 9),
        Found(b'{"A":null,"C":null}', None, T0 + 2),
    ]
    (batch,) = run.settled(3)
    (example,) = batch.examples
    assert (batch.bad_records, example.topic, example.offset, example.kind) == (1, topic, 1, "SERIALIZATION_ERROR")


def test_a_record_that_cannot_be_decoded_fails_a_query_that_is_told_so(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 50.0, 1), ("2", b"{", T0 + 2)])
    run.start(doubled(topic, sink), fails_on_bad_record=True)
    failed = run.expect(QueryFailed)
    assert failed.record == BadRecord(topic, 0, 1, failed.cause)
    assert "JSON" in failed.cause


def test_a_query_goes_on_where_it_was(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 50.0, 1)])
    query_id = run.start(doubled(topic, sink))
    run.settled(1)
    run.stop(query_id)
    run.write(topic, [order(2, "anna", 60.0, 2)])
    run.start(doubled(topic, sink))
    assert [found.value["ID"] for found in run.read(sink, 2)] == [1, 2]


def test_groups_are_counted(run: QueryRun) -> None:
    topic, sink = run.topic("in", partitions=2), run.topic("out")
    run.write(
        topic, [order(1, "anna", 1.0, 1), order(2, "bob", 2.0, 2), order(3, "anna", 4.0, 3), order(4, None, 8.0, 4)]
    )
    run.start(counted(topic, sink))
    run.settled(4)
    run.write(topic, [order(5, "anna", 16.0, 0)])
    *_, last = run.read(sink, 3)
    latest = {found.key: found for found in run.read(sink, 3)}
    assert last == latest[b"anna"] == Found(b"anna", {"N": 3, "TOTAL": 21.0}, T0 + 3)
    assert latest[b"bob"] == Found(b"bob", {"N": 1, "TOTAL": 2.0}, T0 + 2)


@pytest.mark.parametrize(
    ("window", "starts"),
    [
        (Window(WindowKind.TUMBLING, MINUTE, grace_ms=0), [0, 2 * MINUTE]),
        (
            Window(WindowKind.HOPPING, MINUTE, advance_ms=MINUTE // 2, grace_ms=0),
            [-MINUTE // 2, 0, 2 * MINUTE, 3 * MINUTE // 2],
        ),
    ],
    ids=["tumbling", "hopping"],
)
def test_groups_are_counted_by_window(run: QueryRun, window: Window, starts: list[int]) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 1.0, 1), order(2, "anna", 2.0, 2), order(3, "anna", 4.0, 2 * MINUTE)])
    run.start(counted(topic, sink, window))
    found = run.read(sink, len(starts))
    assert {record.key for record in found} == {b"anna" + struct.pack(">q", T0 + start) for start in starts}
    assert {record.value["N"] for record in found if record.timestamp == T0 + 2} == {2}


def test_windows_are_those_of_the_other_host_near_1970_and_where_no_grace_period_is_given(run: QueryRun) -> None:
    """No window begins before 1970, and a window that has no grace period of its own is open for 24 hours from its beginning."""
    topic, sink = run.topic("in"), run.topic("out")
    window = Window(WindowKind.HOPPING, 12 * HOUR, advance_ms=6 * HOUR)
    run.start(counted(topic, sink, window))
    times = [("anna", HOUR), ("bob", 30 * HOUR), ("anna", 4 * HOUR), ("bob", 31 * HOUR)]
    for number, (user, time) in enumerate(times, 1):
        run.write(topic, [order(number, user, 1.0, time - T0)])
        run.settled(number)
    found = {record.key: record.value["N"] for record in run.read(sink, 5)}
    bob = {b"bob" + struct.pack(">q", start * HOUR): 2 for start in (24, 30)}
    assert found == {b"anna" + struct.pack(">q", 0): 1, **bob}


def test_emit_final_tells_of_a_window_once_it_is_over(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    window = Window(WindowKind.TUMBLING, MINUTE, grace_ms=0)
    run.start(counted(topic, sink, window, Emit.FINAL))
    run.write(topic, [order(1, "anna", 1.0, 1), order(2, "anna", 2.0, 2)])
    run.settled(2)
    run.write(topic, [order(3, "bob", 4.0, 2 * MINUTE)])
    assert run.read(sink, 1) == [Found(b"anna" + struct.pack(">q", T0), {"N": 2, "TOTAL": 3.0}, T0 + 2)]


def sides(run: QueryRun, right_kind: Kind) -> tuple[str, str, Node, Node]:
    left, right = run.topic("left"), run.topic("right")
    left_node = read(source(left, {"K": STRING}, {"A": STRING}), "L_")
    right_node = read(source(right, {"K": STRING}, {"B": STRING}, right_kind), "R_")
    return left, right, left_node, right_node


def joined_shape(left: Node, right: Node) -> Shape:
    columns = [each for each in (*left.shape.columns, *right.shape.columns) if each.name != ROWTIME]
    return Shape((*columns, Column(ROWTIME, BIGINT)), ("L_K",))


def joined_plan(node: Node, sink: str) -> PersistentPlan:
    selected = project(node, ("K",), K=column(node, "L_K"), A=column(node, "L_A"), B=column(node, "R_B"))
    return PersistentPlan(selected, source(sink, {"K": STRING}, {"A": STRING, "B": STRING}))


def test_streams_are_joined_within_a_time(run: QueryRun) -> None:
    left_topic, right_topic, left, right = sides(run, Kind.STREAM)
    sink = run.topic("out")
    within = Within(10 * SECOND, 10 * SECOND, grace_ms=0)
    keys = column(left, "L_K"), column(right, "R_K")
    run.write(left_topic, [("1", {"A": "a"}, T0), ("2", {"A": "c"}, T0)])
    run.write(right_topic, [("1", {"B": "b"}, T0 + 5 * SECOND), ("2", {"B": "late"}, T0 + 11 * SECOND)])
    node = StreamJoin(left, right, *keys, JoinKind.LEFT, within, joined_shape(left, right))
    run.start(joined_plan(node, sink))
    # One stream alone has gone past the window of the row without a partner, so that it is told.
    alone = Found(b"2", {"A": "c", "B": None}, T0)
    assert run.read(sink, 2) == [Found(b"1", {"A": "a", "B": "b"}, T0 + 5 * SECOND), alone]


def test_a_row_that_is_later_than_the_grace_period_finds_a_partner_that_is_kept(run: QueryRun) -> None:
    left_topic, right_topic, left, right = sides(run, Kind.STREAM)
    sink = run.topic("out")
    within = Within(4 * SECOND, 4 * SECOND, grace_ms=0)
    keys = column(left, "L_K"), column(right, "R_K")
    run.start(joined_plan(StreamJoin(left, right, *keys, JoinKind.INNER, within, joined_shape(left, right)), sink))
    run.write(right_topic, [("1", {"B": "b"}, T0)])
    run.settled(1)
    run.write(left_topic, [("2", {"A": "other"}, T0 + 5 * SECOND)])
    run.write(right_topic, [("3", {"B": "other"}, T0 + 5 * SECOND)])
    run.settled(3)
    run.write(left_topic, [("1", {"A": "a"}, T0 + SECOND)])
    assert run.read(sink, 1) == [Found(b"1", {"A": "a", "B": "b"}, T0 + SECOND)]


@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT], ids=lambda kind: kind.name)
def test_a_stream_looks_up_what_a_table_had(run: QueryRun, kind: JoinKind) -> None:
    stream_topic, table_topic, stream, table = sides(run, Kind.TABLE)
    sink = run.topic("out")
    run.write(
        table_topic,
        [("1", {"B": "old"}, T0), ("1", {"B": "new"}, T0 + 20), ("2", {"B": "gone"}, T0), ("2", None, T0 + 5)],
    )
    run.write(stream_topic, [("1", {"A": "a"}, T0 + 10), ("1", {"A": "b"}, T0 + 20), ("2", {"A": "c"}, T0 + 10)])
    node = LookupJoin(stream, table, column(stream, "L_K"), kind, joined_shape(stream, table))
    run.start(joined_plan(node, sink))
    pairs = [Found(b"1", {"A": "a", "B": "old"}, T0 + 10), Found(b"1", {"A": "b", "B": "new"}, T0 + 20)]
    alone = [Found(b"2", {"A": "c", "B": None}, T0 + 10)] if kind is JoinKind.LEFT else []
    found = run.read(sink, 2 + len(alone))
    assert sorted(found, key=lambda each: str(each.key)) == pairs + alone
    run.settled(7)
    # What the table has is kept from batch to batch.
    run.write(stream_topic, [("1", {"A": "d"}, T0 + 30)])
    assert run.read(sink, len(found) + 1)[-1] == Found(b"1", {"A": "d", "B": "new"}, T0 + 30)


def test_a_table_is_known_whole_though_the_stream_begins_at_its_end(run: QueryRun) -> None:
    stream_topic, table_topic, stream, table = sides(run, Kind.TABLE)
    sink = run.topic("out")
    run.write(table_topic, [("1", {"B": "here"}, T0)])
    run.write(stream_topic, [("1", {"A": "before"}, T0 + 1)])
    node = LookupJoin(stream, table, column(stream, "L_K"), JoinKind.INNER, joined_shape(stream, table))
    run.start(joined_plan(node, sink), starting_offsets="latest")
    run.settled(1)
    run.write(stream_topic, [("1", {"A": "after"}, T0 + 2)])
    assert run.read(sink, 1) == [Found(b"1", {"A": "after", "B": "here"}, T0 + 2)]


def test_a_query_that_another_version_has_run_is_built_anew_and_says_so(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 50.0, 1)])
    run.start(doubled(topic, sink), is_rebuilt=True)
    assert run.expect(Noted).text.endswith("It is built anew from its topics. Its rows are written once more.")
    run.read(sink, 1)
    run.stop(run.query_id)
    # Once it has begun, it goes on like any other.
    run.start(doubled(topic, sink), is_rebuilt=True)
    run.expect(Started)
    assert not [event for event in run.events if isinstance(event, Noted)]


def test_a_plan_is_explained(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    query_id = run.start(counted(topic, sink))
    run.write(topic, [order(1, "anna", 1.0, 1)])
    run.settled(1)
    run.host.explain(query_id)
    text = run.expect(Explained).text
    assert text is not None
    assert "StateStoreSave" in text
