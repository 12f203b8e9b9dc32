"""The steps of `barnabas demo`: what a person would type to take a small shop from a database to a table of results and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Final

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "item", "type": "string"},
        {"name": "price", "type": "double"},
        {"name": "customer", "type": "string"},
    ],
}
ORDERS: Final = (
    {"item": "hammer", "price": 12.5, "customer": "ada"},
    {"item": "nail", "price": 0.1, "customer": "ada"},
    {"item": "nail", "price": 0.2, "customer": "bob"},
    {"item": "saw", "price": 31.0, "customer": "eve"},
)
JSON_BODY: Final = "Content-Type: application/json"
AVRO_BODY: Final = "Content-Type: application/vnd.kafka.avro.v2+json"
DATABASE: Final = "shop.db"
CUSTOMERS_TABLE: Final = "create table customers (id integer primary key, name text, city text)"
CUSTOMERS: Final = "demo-customers"
LOG: Final = "demo-log"
DEAR: Final = "demo-dear"
CONNECTORS: Final = (CUSTOMERS, LOG, DEAR)
TOPICS: Final = ("demo_customers", "demo_log", "demo_orders")
SUBJECTS: Final = ("demo_customers-value", "demo_orders-value", "DEMO_DEAR-value", "DEMO_TURNOVER-value")
PICTURE: Final = """
  shop.db ──JDBC source──► demo_customers ─┐
  log.txt ──file source──► demo_log        ├─► SELECT … FROM TOPIC('…')          looks, without a stream
                                           │
  curl ──REST, Avro──► demo_orders ────────┴─► demo_orders, a stream
                                                  │
                                                  ├─ Spark ─► DEMO_TURNOVER, a windowed table ─► pull query by key
                                                  └─ Spark ─► DEMO_DEAR, a stream ──JDBC sink──► shop.db, table dear
"""


@dataclass(frozen=True, slots=True)
class Step:
    """`command` is for a shell. With `until`, a pattern, it is repeated until its output has it."""

    title: str
    command: str
    until: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Urls:
    registry: str
    rest: str
    connect: str


def steps(folder: Path, urls: Urls) -> list[Step]:
    return [*_sources(folder, urls), *_orders(urls), *_queries(), *_sink(folder, urls)]


def _sources(folder: Path, urls: Urls) -> list[Step]:
    database = folder / DATABASE
    script = (
        "import sqlite3",
        f"db = sqlite3.connect({str(database)!r})",
        f'db.execute("{CUSTOMERS_TABLE}")',
        "people = [('ada', 'Vienna'), ('bob', 'Prague'), ('eve', 'Berlin')]",
        'db.executemany("insert into customers (name, city) values (?, ?)", people)',
        "db.commit()",
    )
    return [
        Step("A database with customers, and a log", _python(script)),
        Step("", f"printf 'shop opened\\nada came in\\n' > {quote(str(folder / 'log.txt'))}"),
        Step("A JDBC connector reads the customers into a topic, as Avro", _connector(folder, urls, CUSTOMERS)),
        Step("A file connector follows the log", _connector(folder, urls, LOG)),
    ]


def _orders(urls: Urls) -> list[Step]:
    schema = json.dumps({"schema": json.dumps(SCHEMA)})
    records = json.dumps({"value_schema": json.dumps(SCHEMA), "records": [{"value": order} for order in ORDERS]})
    return [
        Step(
            "An Avro schema for orders",
            f"curl -sS {urls.registry}/subjects/demo_orders-value/versions -H {quote(JSON_BODY)} -d {quote(schema)}",
            re.compile(r'"id":\s*\d'),
        ),
        # Clients of the broker do not have a topic made again that they have known and seen go, such as that of a former demo.
        Step("A topic for them", "barnabas topics create demo_orders"),
        Step(
            "Orders, over HTTP",
            f"curl -sS {urls.rest}/topics/demo_orders -H {quote(AVRO_BODY)} -d {quote(records)}",
            re.compile(r'"offset":\s*\d'),
        ),
    ]


def _queries() -> list[Step]:
    turnover = (
        "CREATE TABLE demo_turnover AS SELECT item, COUNT(*) AS sold, SUM(price) AS total "
        "FROM demo_orders WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY item EMIT CHANGES;"
    )
    dear = "CREATE STREAM demo_dear AS SELECT item, price, customer FROM demo_orders WHERE price > 10 EMIT CHANGES;"
    return [
        Step(
            "A look at a topic, whatever is in it",
            sql_command("SELECT name, city FROM TOPIC('demo_customers');"),
            re.compile("Prague"),
        ),
        Step(
            "A stream over the orders: the registry knows the columns",
            sql_command("CREATE STREAM demo_orders WITH (KAFKA_TOPIC='demo_orders', VALUE_FORMAT='AVRO');"),
        ),
        Step("Queries that go on: what was sold in each hour, and what was dear", sql_command(turnover, "earliest")),
        Step("", sql_command(dear, "earliest")),
        Step(
            "The table, asked by key, once Spark has started",
            sql_command("SELECT item, sold, total FROM demo_turnover WHERE item = 'nail';"),
            re.compile("nail"),
        ),
    ]


def _sink(folder: Path, urls: Urls) -> list[Step]:
    database = folder / DATABASE
    script = (
        "import sqlite3",
        f"db = sqlite3.connect({str(database)!r})",
        'print(db.execute("select ITEM, PRICE, CUSTOMER from dear order by ITEM").fetchall())',
    )
    return [
        Step("A JDBC connector writes what is dear into the database", _connector(folder, urls, DEAR)),
        Step("And there it is", _python(script), re.compile("hammer.*saw")),
        Step("All of it", "barnabas status"),
    ]


def connector_configs(folder: Path, urls: Urls) -> Mapping[str, Mapping[str, str]]:
    customers = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": f"jdbc:sqlite:{folder / DATABASE}",
        "table.whitelist": "customers",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": "demo_",
        **_avro(urls),
    }
    log = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": str(folder / "log.txt"),
        "topic": "demo_log",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    dear = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": "DEMO_DEAR",
        "connection.url": f"jdbc:sqlite:{folder / DATABASE}",
        "table.name.format": "dear",
        "auto.create": "true",
        "insert.mode": "insert",
        **_avro(urls),
    }
    return {CUSTOMERS: customers, LOG: log, DEAR: dear}


def _avro(urls: Urls) -> dict[str, str]:
    return {
        "value.converter": "io.confluent.connect.avro.AvroConverter",
        "value.converter.schema.registry.url": urls.registry,
    }


def _connector(folder: Path, urls: Urls, name: str) -> str:
    body = quote(json.dumps(connector_configs(folder, urls)[name], indent=2))
    return f"curl -sS -X PUT {urls.connect}/connectors/{name}/config -H {quote(JSON_BODY)} -d {body}"


def sql_command(statements: str, reset: str | None = None) -> str:
    settings = f" --set auto.offset.reset={reset}" if reset else ""
    # In double quotes, since SQL has single ones.
    return f'barnabas sql "{statements}"{settings}'


def _python(lines: Sequence[str]) -> str:
    return "\n".join(["python3 - <<'END'", *lines, "END"])
