"""Queries over topics of a broker, without a JVM."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from streams_sql.analysis.push import plan_push
from streams_sql.local.run import LocalRun
from streams_sql.plan.nodes import PushPlan
from streams_sql.plan.records import Problem
from streams_sql.plan.spans import FROM_NOW_ON, Span
from streams_sql.problem import SqlProblem
from tests.broker import BarnabasBroker, BrokerProcess
from tests.streams_sql.analysis.catalogues import query_of, sources
from tests.streams_sql.processors.plans import unexpected
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for


class Asked:
    """Queries over a stream S and a table T, whose topics are `topic` and `topic`-t."""

    def __init__(self, address: str, topic: str) -> None:
        self._settings = {"bootstrap.servers": address}
        self.problems: list[Problem] = []
        self._catalogue = sources(
            f"CREATE STREAM s (k STRING KEY, a INT) WITH (kafka_topic='{topic}')",
            f"CREATE TABLE t (k STRING PRIMARY KEY, b INT) WITH (kafka_topic='{topic}-t')",
        )

    def plan(self, text: str) -> PushPlan:
        return plan_push(query_of(text), self._catalogue)

    @contextmanager
    def run(
        self, text: str, spans: Mapping[str, Span] | None = None, is_bounded: bool = True, idle_s: float = 0.0
    ) -> Iterator[LocalRun]:
        run = LocalRun(
            self.plan(text),
            self._settings,
            None,
            self.problems.append,
            unexpected,
            spans,
            is_bounded=is_bounded,
            idle_s=idle_s,
        )
        try:
            yield run
        finally:
            run.close()

    def rows(self, text: str, spans: Mapping[str, Span] | None = None) -> list[tuple[Any, ...]]:
        with self.run(text, spans) as run:
            found = []
            while (page := run.page()) is not None:
                found += [values for values, _ in page]
            return found


def test_a_bounded_look_ends_where_the_topic_ended(kafka: BrokerProcess, topic: str) -> None:
    written, asked = WrittenTopic(kafka.address, topic, 2), Asked(kafka.address, topic)
    written.write([("x", {"a": 1}), ("y", {"a": 2}), ("x", {"a": 3})])
    written.write([("z", {"a": 4}), ("z", b"no JSON")], partition=1)
    with asked.run("SELECT k, a FROM s WHERE a > 1 EMIT CHANGES;") as run:
        written.write([("late", {"a": 9})])
        found = []
        while (page := run.page()) is not None:
            found += page
    assert sorted(found) == [(("x", 3), False), (("y", 2), False), (("z", 4), False)]
    assert (run.figures.records, run.figures.problems, len(asked.problems)) == (5, 1, 1)


def test_a_look_at_a_topic_with_aborted_transactions_ends(kafka: BrokerProcess, topic: str) -> None:
    written, asked = WrittenTopic(kafka.address, topic), Asked(kafka.address, topic)
    written.write_transaction([("x", {"a": 1})], is_committed=True)
    written.write_transaction([("x", {"a": 2})], is_committed=False)
    # A transaction is there when the broker has written its end, which may be after the producer heard of it.
    wait_for(lambda: asked.rows("SELECT k, a FROM s EMIT CHANGES;") == [("x", 1)], "the row that was committed")


def test_an_empty_topic_and_one_that_is_not_there(barnabas: BarnabasBroker, topic: str) -> None:
    WrittenTopic(barnabas.address, topic)
    asked = Asked(barnabas.address, topic)
    assert asked.rows("SELECT * FROM s EMIT CHANGES;") == []
    with pytest.raises(SqlProblem, match=f"Topic {topic}-t cannot be read"):
        asked.rows("SELECT * FROM t EMIT CHANGES;")


def test_partitions_and_topics_are_taken_in_the_order_of_time(barnabas: BarnabasBroker, topic: str) -> None:
    stream, table = WrittenTopic(barnabas.address, topic, 3), WrittenTopic(barnabas.address, f"{topic}-t", 2)
    for number in range(300):
        stream.write([("x", {"a": number})], partition=number % 3, timestamp_ms=1_000 + 10 * number)
    for number in range(30):
        # Of the same time, the table is first.
        table.write([("x", {"b": number})], partition=0, timestamp_ms=1_000 + 100 * number)
    rows = Asked(barnabas.address, topic).rows("SELECT s.a, t.b FROM s LEFT JOIN t ON s.k = t.k EMIT CHANGES;")
    assert rows == [(number, number // 10) for number in range(300)]


def test_many_records_are_counted_by_key(barnabas: BarnabasBroker, topic: str) -> None:
    written = WrittenTopic(barnabas.address, topic, 4)
    for partition in range(4):
        written.write([(f"k{number % 7}", {"a": number}) for number in range(12_000)], partition)
    rows = Asked(barnabas.address, topic).rows("SELECT k, COUNT(*) AS n FROM s GROUP BY k EMIT CHANGES;")
    assert len(rows) == 48_000
    last = dict(rows)
    assert sum(last.values()) == 48_000
    assert last["k0"] == 4 * len(range(0, 12_000, 7))


def test_a_limit_ends_early(barnabas: BarnabasBroker, topic: str) -> None:
    written, asked = WrittenTopic(barnabas.address, topic), Asked(barnabas.address, topic)
    written.write([("x", {"a": number}) for number in range(100)])
    with asked.run("SELECT a FROM s WHERE a > 10 EMIT CHANGES LIMIT 3;", is_bounded=False) as run:
        found = [values for _ in range(50) if (page := run.page()) for values, _ in page]
        assert found == [(11,), (12,), (13,)]
        assert run.has_reached_limit
        assert run.page() is None


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span(from_offset=7), [7, 8, 9]),
        (Span(to_offset=2), [0, 1]),
        (Span(from_offset=3, to_offset=5), [3, 4]),
        (Span(last=2), [8, 9]),
        (Span(last=2, to_offset=4), [2, 3]),
        (Span(from_time_ms=1_700), [7, 8, 9]),
        (Span(from_time_ms=1_650, to_time_ms=1_800), [7]),
        (Span(from_time_ms=9_999), []),
        (Span(to_time_ms=9_999, last=1), [9]),
        (Span(from_offset=50), []),
        (Span(partitions=frozenset({1})), []),
        (Span(partitions=frozenset({0}), to_offset=1), [0]),
        (FROM_NOW_ON, []),
    ],
    ids=str,
)
def test_a_span_is_what_is_read(barnabas: BarnabasBroker, spanned: str, span: Span, expected: list[int]) -> None:
    found = Asked(barnabas.address, spanned).rows("SELECT a FROM s EMIT CHANGES;", {spanned: span})
    assert found == [(value,) for value in expected]


@pytest.fixture(scope="module")
def spanned(barnabas: BarnabasBroker) -> str:
    """A topic of ten records, a tenth of a second apart, and an empty partition."""
    written = WrittenTopic(barnabas.address, "spanned", 2)
    for number in range(10):
        written.write([("x", {"a": number})], timestamp_ms=1_000 + 100 * number)
    return written.name


def test_what_is_not_bounded_goes_on(barnabas: BarnabasBroker, topic: str) -> None:
    written, asked = WrittenTopic(barnabas.address, topic), Asked(barnabas.address, topic)
    written.write([("x", {"a": 1})])
    found: list[tuple[Any, ...]] = []
    text = "SELECT k, COUNT(*) AS n FROM s GROUP BY k EMIT CHANGES;"
    with asked.run(text, {topic: FROM_NOW_ON}, is_bounded=False) as run:
        thread = threading.Thread(target=lambda: _collect(run, found))
        thread.start()
        written.write([("x", {"a": 2}), ("x", {"a": 3})])
        wait_for(lambda: found == [("x", 1), ("x", 2)], "both rows")
        run.interrupt()
        thread.join()


JOINED = "SELECT s.k, a, b FROM s LEFT JOIN t ON s.k = t.k EMIT CHANGES;"


def test_rows_wait_for_unread_records_of_other_partitions(barnabas: BarnabasBroker, topic: str) -> None:
    """Also of those that come after the beginning: some of a table may be fetched while others of it are still to come."""
    stream, table = WrittenTopic(barnabas.address, topic), WrittenTopic(barnabas.address, f"{topic}-t")
    asked, found, count = Asked(barnabas.address, topic), list[tuple[Any, ...]](), 30_000
    with asked.run(JOINED, is_bounded=False, idle_s=600.0) as run:
        table.write(((str(number), {"b": number}) for number in range(count)), timestamp_ms=1_000)
        table.write([("later", {"b": 0})], timestamp_ms=3_000)
        stream.write(((str(number), {"a": number}) for number in range(count - 100, count)), timestamp_ms=2_000)
        thread = threading.Thread(target=lambda: _collect(run, found))
        thread.start()
        wait_for(lambda: len(found) == 100, "the rows of the stream")
        run.interrupt()
        thread.join()
    assert all(a == b for _, a, b in found)


def test_rows_wait_for_a_partition_that_is_idle(barnabas: BarnabasBroker, topic: str) -> None:
    stream, table = WrittenTopic(barnabas.address, topic), WrittenTopic(barnabas.address, f"{topic}-t")
    stream.write([("x", {"a": 1})], timestamp_ms=2_000)
    asked, found = Asked(barnabas.address, topic), list[tuple[Any, ...]]()
    with asked.run(JOINED, is_bounded=False, idle_s=600.0) as run:
        thread = threading.Thread(target=lambda: _collect(run, found))
        thread.start()
        wait_for(lambda: run.figures.records == 1, "the row of the stream")
        table.write([("x", {"b": 7})], timestamp_ms=1_000)
        table.write([("later", {"b": 8})], timestamp_ms=3_000)
        wait_for(lambda: found, "the row")
        run.interrupt()
        thread.join()
    assert found == [("x", 1, 7)]


def _collect(run: LocalRun, found: list[tuple[Any, ...]]) -> None:
    while (page := run.page()) is not None:
        found += [values for values, _ in page]
