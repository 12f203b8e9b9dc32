"""CREATE OR REPLACE of a stream whose state is of no use any more: the new query learns beside it, and goes on behind it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.broker import BarnabasBroker
from tests.sql_service import QUERY_DEADLINE_S, SqlProcess
from tests.streams_sql.e2e.deadlines import TEST_S
from tests.streams_sql.e2e.spark_processes import SparkProcesses, kill
from tests.streams_sql.spark.query_runs import Topics
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_S)

PAUSE_S = 0.02
FIRST = 10
"""Records before Spark is killed: some of them may be written twice."""
SOURCES = """CREATE STREAM S (K STRING KEY, A INT) WITH (KAFKA_TOPIC='{0}-s', VALUE_FORMAT='JSON');
    CREATE TABLE T (K STRING PRIMARY KEY, D STRING) WITH (KAFKA_TOPIC='{0}-t', VALUE_FORMAT='JSON');"""
JOINED = """CREATE OR REPLACE STREAM X WITH (KAFKA_TOPIC='{0}-out') AS
    SELECT S.K AS K, A, D FROM S LEFT JOIN {1} T ON S.K = T.K;"""


class Records:
    """Numbered ones of S, and what becomes of them."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._source, self.sink = topics.create("s"), topics.create("out")
        topics.write(topics.create("t"), [("k", {"D": "row"}, 1)])
        self.written = 0

    def write(self, count: int) -> None:
        numbers = range(self.written, self.written + count)
        self._topics.write(self._source, [("k", {"A": number}, 2 + number) for number in numbers])
        self.written += count

    @contextmanager
    def growing(self) -> Iterator[Callable[[], int]]:
        """Write all the time; yields what tells how many there are by now."""
        ends = threading.Event()

        def work() -> None:
            while not ends.wait(PAUSE_S):
                self.write(2)

        writing = threading.Thread(target=work)
        writing.start()
        try:
            yield lambda: self.written
        finally:
            ends.set()
            writing.join()

    def results(self) -> list[tuple[int, str | None]]:
        """Of all records, once the last of them is there."""

        def found() -> list[tuple[int, str | None]] | None:
            rows = [(each.value["A"], each.value["D"]) for each in self._topics.read(self.sink, self.written)]
            return rows if rows[-1][0] == self.written - 1 else None

        return wait_for(found, "results of all records", QUERY_DEADLINE_S)


@pytest.fixture
def sql(barnabas: BarnabasBroker, spark_jars: Path, tmp_path: Path) -> Iterator[SqlProcess]:
    """A server whose Spark may be killed."""
    settings = {"ksql.service.id": f"{tmp_path.name}_"}
    server = SqlProcess(tmp_path / "sql", barnabas.address, "", settings=settings)
    server.start()
    yield server
    server.stop()


def test_a_stream_goes_on_as_the_new_query_has_it_though_spark_is_killed_on_the_way(
    sql: SqlProcess, barnabas: BarnabasBroker, topic: str
) -> None:
    records = Records(Topics(barnabas.address, topic))
    sql.execute(SOURCES.format(topic))
    old = sql.start_query(JOINED.format(topic, "T"))
    records.write(FIRST)
    assert set(records.results()) == {(number, "row") for number in range(FIRST)}

    new = sql.start_query(JOINED.format(topic, "(SELECT * FROM T WHERE D <> 'row')"))
    assert new != old
    kill(SparkProcesses(sql.pid).driver())
    assert f"take the place of {old}" in sql.query(new)["executionPlan"]
    assert set(shown(sql)) == {old, new}
    with records.growing() as written:
        wait_for(lambda: shown(sql) == [new], "the former query to be gone", QUERY_DEADLINE_S)
        after = written() + 50
        wait_for(lambda: written() > after, "more records")
    found = records.results()[-(records.written - FIRST) :]
    assert Counter(number for number, _ in found) == Counter(range(FIRST, records.written))
    joined = [row for _, row in found]
    assert joined == sorted(joined, key=lambda row: row is None), (
        "records of the new query come behind those of the former one"
    )
    assert (joined[0], joined[-1]) == ("row", None)


def shown(sql: SqlProcess) -> list[str]:
    return [query["id"] for query in sql.execute("SHOW QUERIES;")[0]["queries"]]
