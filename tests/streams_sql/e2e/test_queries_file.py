"""A server that runs the statements of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker import BarnabasBroker
from tests.sql_service import SqlProcess
from tests.streams_sql.e2e.deadlines import TEST_S
from tests.streams_sql.e2e.order_results import OrderResults
from tests.streams_sql.e2e.order_topics import OrderTopics
from tests.streams_sql.e2e.sample_orders import queries, statements

pytestmark = pytest.mark.timeout(TEST_S)

FROM_BEGINNING = "SET 'auto.offset.reset' = 'earliest';\n"


class FileServer(SqlProcess):
    """Its statements can be changed between two starts."""

    def __init__(self, home: Path, bootstrap: str, prefix: str) -> None:
        self.prefix = prefix
        self.file = home / "queries.sql"
        settings = {"ksql.queries.file": str(self.file), "ksql.service.id": prefix}
        super().__init__(home, bootstrap, "", settings=settings)

    def write(self, *texts: str) -> None:
        self.file.write_text("\n".join(texts))

    def query_ids(self) -> dict[str, str]:
        """By the name of what they write."""
        (listed,) = self.execute("SHOW QUERIES;")
        return {query["sinks"][0]: query["id"] for query in listed["queries"]}


@pytest.fixture
def server(barnabas: BarnabasBroker, spark_jars: Path, tmp_path: Path, topic: str) -> Iterator[FileServer]:
    made = FileServer(tmp_path, barnabas.address, f"{topic}-")
    yield made
    if made.is_running():
        made.stop()


def test_queries_of_a_file_go_on_when_it_changes_around_them(server: FileServer, barnabas: BarnabasBroker) -> None:
    prefix, topics = server.prefix, OrderTopics(barnabas.address, server.prefix)
    per_user = queries(prefix, ("PER_USER",))
    server.write(statements(prefix), FROM_BEGINNING, queries(prefix, ("BIG",)), per_user)
    server.start()
    topics.write_orders(0, 200)
    totals = OrderResults(barnabas.address, prefix, ("PER_USER",))
    totals.wait_until_covers(200)
    before = server.query_ids()
    assert set(before) == {"BIG", "PER_USER"}
    assert server.stop() == 0

    # Another one in front, another form of one that stays, and one that goes.
    small = f"CREATE STREAM SMALL WITH (KAFKA_TOPIC='{prefix}small') AS SELECT * FROM ORDERS WHERE AMOUNT < 10;"
    server.write("-- changed", statements(prefix), FROM_BEGINNING, small, " ".join(per_user.split()))
    server.start()
    topics.write_orders(200, 400)
    totals.compare(400)
    # It has gone on from where it was: had it begun anew, it would have told of the first orders again.
    assert totals.setbacks == []
    after = server.query_ids()
    assert set(after) == {"SMALL", "PER_USER"}
    assert after["PER_USER"] == before["PER_USER"]
    totals.close()


def test_clients_may_only_read(server: FileServer) -> None:
    server.write(statements(server.prefix), queries(server.prefix))
    server.start()
    for text in (
        "CREATE STREAM OWN AS SELECT * FROM ORDERS;",
        "DROP STREAM BIG;",
        "TERMINATE ALL;",
        "INSERT INTO ORDERS VALUES (1, 'user-1', 2);",
    ):
        assert "queries.sql" in server.refusal(text)
    assert len(server.execute("SHOW QUERIES;")[0]["queries"]) == 5
    assert server.rows("SELECT * FROM PER_USER;") == []
    assert server.get("/healthcheck").json()["isHealthy"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE STREAM X AS SELECT * FROM NOWHERE;", "the statement in line 1: NOWHERE does not exist"),
        ("\n\nSELECT 1 FROM X EMIT CHANGES;", "the statement in line 3: Only CREATE STREAM"),
        ("SET 'auto.offset.reset' = 'sometimes';", "is not one of earliest, latest"),
        ("CREATE STREAM X (A INT", "line 1"),
    ],
)
def test_a_file_that_makes_no_sense_keeps_the_server_from_starting(server: FileServer, text: str, reason: str) -> None:
    server.write(text)
    with pytest.raises(AssertionError, match="ended at its start"):
        server.start()
    assert f"ksql.queries.file={server.file}" in server.tail()
    assert reason in server.tail()
    assert "Traceback" not in server.tail()
