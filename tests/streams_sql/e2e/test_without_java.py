"""A server on a machine without Java: queries wait and say why, and all else works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.broker import BarnabasBroker
from tests.sql_service import SqlProcess
from tests.streams_sql import no_java
from tests.waiting import wait_for

SERVICE_ID = "without_java_"
REASON = "Spark needs Java 17 or newer"


@pytest.fixture
def server(
    barnabas: BarnabasBroker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, topic: str
) -> Iterator[SqlProcess]:
    for name, value in no_java.environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    own = SqlProcess(tmp_path / "sql", barnabas.address, "", settings={"ksql.service.id": SERVICE_ID})
    own.start()
    yield own
    own.stop()


def health(server: SqlProcess) -> dict[str, Any]:
    found: dict[str, Any] = server.get("/healthcheck").json()
    return found


def test_queries_wait_and_say_why(server: SqlProcess, topic: str) -> None:
    wait_for(lambda: not health(server)["isHealthy"], "the server to find out that there is no Java")
    parts = health(server)["details"]
    assert REASON in parts["spark"]["reason"]
    assert [name for name, part in parts.items() if not part["isHealthy"]] == ["spark"]
    query = server.start_query(
        f"CREATE STREAM s (k STRING KEY, v INTEGER) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
        f"CREATE SOURCE TABLE t (k STRING PRIMARY KEY, v INTEGER) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"
        "INSERT INTO s VALUES ('a', 1);"
        f"CREATE TABLE n WITH (KAFKA_TOPIC='{topic}-n') AS SELECT k, COUNT(*) AS n FROM s GROUP BY k;"
    )
    (listed,) = server.execute("SHOW QUERIES;")
    (told,) = [each for each in listed["queries"] if each["id"] == query]
    assert REASON in told["error"]
    assert server.rows("SELECT * FROM s EMIT CHANGES LIMIT 1;") == [["a", 1]]
    server.wait_for_rows("SELECT * FROM t WHERE k = 'a';", [["a", 1]])
    assert server.rows("SELECT * FROM n;") == []
    assert server.log.read_text().count("queries cannot run, all else can") == 1
