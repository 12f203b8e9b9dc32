"""A query that is replaced goes on from the checkpoint of the former one, on real Spark."""

from __future__ import annotations

from typing import Any

from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.spark.query_plans import MINUTE, T0
from tests.streams_sql.spark.query_runs import QueryRun


class Replaced:
    """One query of statements, each in place of the one before it."""

    def __init__(self, run: QueryRun) -> None:
        self._run = run
        self._statements = Statements(prefix=f"{run.topics.prefix}-")
        self.sink = run.topic("out")
        self.s, self.r, self.t = (run.topic(name) for name in "srt")

    def start(self, select: str, kind: str = "STREAM") -> None:
        """Take the statement, and run its query as the server does. What it has read before, it does not read again."""
        text = f"CREATE OR REPLACE {kind} X WITH (KAFKA_TOPIC='{self.sink}') AS {select};"
        started = self._statements.apply(text, query_id="Q").started
        assert started is not None
        self._run.host.stop(self._run.query_id)
        self._run.events.clear()
        self._run.start(started.plan)

    def write(self, topic: str, key: str, value: dict[str, Any] | None, at: int = 0) -> None:
        self._run.write(topic, [(key, value, T0 + at)])

    def values(self, count: int) -> list[Any]:
        return [found.value for found in self._run.read(self.sink, count)]


def test_without_state_everything_may_change(run: QueryRun) -> None:
    query = Replaced(run)
    query.start("SELECT K, A FROM S WHERE A > 1")
    query.write(query.s, "k", {"a": 1})
    query.write(query.s, "k", {"a": 2})
    assert query.values(1) == [{"A": 2}]
    run.settled(2)
    query.start("SELECT K, A, A * 10 AS TEN, EXPLODE(ARRAY[A, -A]) AS E FROM S WHERE A < 5")
    query.write(query.s, "k", {"a": 7})
    query.write(query.s, "k", {"a": 3})
    assert query.values(3) == [{"A": 2}, {"A": 3, "TEN": 30, "E": 3}, {"A": 3, "TEN": 30, "E": -3}]


def test_what_an_aggregate_knows_is_kept_when_its_results_are_used_otherwise(run: QueryRun) -> None:
    query = Replaced(run)
    query.start("SELECT B, COUNT(*) AS N FROM S GROUP BY B", "TABLE")
    query.write(query.s, "k", {"a": 1, "b": "x"})
    assert query.values(1) == [{"N": 1}]
    run.settled(1)
    query.start("SELECT B, COUNT(*) AS N, COUNT(*) * 10 AS TEN, UCASE(B) AS BIG FROM S GROUP BY B", "TABLE")
    query.write(query.s, "k", {"a": 1, "b": "x"})
    assert query.values(2)[-1] == {"N": 2, "TEN": 20, "BIG": "X"}


def test_what_a_join_of_streams_knows_is_kept(run: QueryRun) -> None:
    query = Replaced(run)
    joined = "FROM S JOIN R WITHIN 1 HOUR GRACE PERIOD 1 HOUR ON S.K = R.K"
    query.start(f"SELECT S.K AS K, A, C {joined}")
    query.write(query.s, "k", {"a": 1, "b": "x"})
    query.write(query.r, "k", {"c": 2})
    assert query.values(1) == [{"A": 1, "C": 2}]
    run.settled(2)
    query.start(f"SELECT S.K AS K, A, C, A + C AS AC {joined} WHERE C > 2")
    query.write(query.r, "k", {"c": 5}, at=MINUTE)
    assert query.values(2)[-1] == {"A": 1, "C": 5, "AC": 6}


def test_what_a_join_with_a_table_knows_is_kept(run: QueryRun) -> None:
    query = Replaced(run)
    query.write(query.t, "k", {"d": "table"})
    query.start("SELECT S.K AS K, A, D FROM S JOIN T ON S.K = T.K")
    query.write(query.s, "k", {"a": 1, "b": "x"}, at=1)
    assert query.values(1) == [{"A": 1, "D": "table"}]
    run.settled(2)
    query.start("SELECT S.K AS K, A, D, B FROM S LEFT JOIN T ON S.K = T.K WHERE A > 1")
    query.write(query.s, "k", {"a": 1, "b": "x"}, at=2)
    query.write(query.s, "k", {"a": 2, "b": "y"}, at=3)
    assert query.values(2)[-1] == {"A": 2, "D": "table", "B": "y"}
