"""From a table of one database, through topics and queries, into a table of another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.broker import BarnabasBroker
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.e2e.pipelines import STRINGS, table_sink, table_source
from tests.connect.tasks.topics import create
from tests.connect_service import ConnectProcess
from tests.registry import RegistryProcess
from tests.sql_service import QUERY_DEADLINE_S, SqlProcess
from tests.streams_sql.e2e.deadlines import TEST_S
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_S)

ROWS = 500
AVRO = "io.confluent.connect.avro.AvroConverter"
TOTALS = "SELECT user_id, COUNT(*), SUM(amount) FROM orders WHERE amount > 20 GROUP BY user_id ORDER BY user_id"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SampleDatabase]:
    opened = SampleDatabase("sqlite", f"sqlite:///{tmp_path / 'orders.db'}")
    opened.execute(
        "PRAGMA journal_mode=WAL", "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, amount INTEGER)"
    )
    yield opened
    opened.close()


def test_a_table_of_totals_equals_sql_over_its_source(
    sql_service: SqlProcess,
    connect_service: ConnectProcess,
    barnabas: BarnabasBroker,
    registry: RegistryProcess,
    database: SampleDatabase,
    topic: str,
) -> None:
    _insert(database, 0, ROWS)
    create(barnabas.address, f"{topic}-orders")
    connect_service.create(
        f"{topic}-source", table_source(database.url, "orders", f"{topic}-", **{"value.converter": AVRO})
    )
    subject = f"/subjects/{topic}-orders-value/versions/latest"
    wait_for(lambda: registry.ask("GET", subject).status == 200, f"the schema of {topic}-orders")
    sql_service.execute(
        f"CREATE STREAM DB_ORDERS WITH (KAFKA_TOPIC='{topic}-orders', VALUE_FORMAT='AVRO');"
        f"CREATE TABLE DB_TOTALS WITH (KAFKA_TOPIC='{topic}-totals') AS "
        "SELECT USER_ID, COUNT(*) AS ORDERED, SUM(AMOUNT) AS TOTAL FROM DB_ORDERS WHERE AMOUNT > 20 GROUP BY USER_ID;"
    )
    upsert = {
        "auto.create": "true",
        "insert.mode": "upsert",
        "pk.mode": "record_key",
        "pk.fields": "user_id",
        "key.converter": STRINGS,
        "value.converter": AVRO,
    }
    connect_service.create(f"{topic}-sink", table_sink(database.url, f"{topic}-totals", "totals", **upsert))
    _insert(database, ROWS, 2 * ROWS)

    def totals() -> list[tuple[Any, ...]]:
        is_there = database.rows("SELECT 1 FROM sqlite_master WHERE name = 'totals'")
        return database.rows('SELECT user_id, "ORDERED", "TOTAL" FROM totals ORDER BY user_id') if is_there else []

    expected = database.rows(TOTALS)
    assert sum(row[1] for row in expected) > ROWS
    wait_for(lambda: totals() == expected, f"{expected} in the sink", QUERY_DEADLINE_S)
    for end in ("source", "sink"):
        assert connect_service.call("DELETE", f"/connectors/{topic}-{end}").status_code == 204


def _insert(database: SampleDatabase, start: int, end: int) -> None:
    rows = ", ".join(f"({number}, 'user {number % 9}', {number * 7 % 100})" for number in range(start, end))
    database.execute(f"INSERT INTO orders VALUES {rows}")
