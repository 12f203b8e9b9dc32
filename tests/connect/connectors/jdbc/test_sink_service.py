"""The sink in a worker: from a topic with plain JSON to a table."""

from __future__ import annotations

import orjson
from confluent_kafka import Producer

from tests.broker import BarnabasBroker
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect_service import ConnectProcess
from tests.waiting import wait_for

COUNT = 5000
GOOD = 3
ATTEMPTS = 30
"""To insert a row. One run of the task makes about 14, since it looks for the bad row by halves."""


def produce(broker: BarnabasBroker, topic: str, values: list[object]) -> None:
    producer = Producer({"bootstrap.servers": broker.address})
    for value in values:
        producer.produce(topic, orjson.dumps(value), b"key")
    assert producer.flush(90) == 0


def test_plain_json_becomes_rows_and_bad_records_are_kept(
    barnabas: BarnabasBroker, connect_service: ConnectProcess, postgresql: SampleDatabase, topic: str
) -> None:
    good = [{"id": number, "item": f"item {number}", "price": 0.5} for number in range(COUNT)]
    produce(barnabas, topic, [*good, {"id": "no number", "item": "bad", "price": 1}, {"id": COUNT, "item": "last"}])
    config = {
        "connector.class": "JdbcSinkConnector",
        "topics": topic,
        "connection.url": postgresql.url,
        "table.name.format": "orders",
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        "auto.create": "true",
        "exactly.once": "true",
        "key.converter": "StringConverter",
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{topic}-bad",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    postgresql.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, item TEXT, price FLOAT)")
    connect_service.create(topic, config)
    connect_service.wait_for_tasks(topic, ["RUNNING"])

    def end() -> int:
        rows = postgresql.rows("SELECT next_offset FROM connect_sink_offsets")
        return int(rows[0][0]) if rows and rows[0][0] is not None else 0

    wait_for(lambda: end() == COUNT + 2, f"all records to be written; {connect_service.status(topic)}")
    assert postgresql.rows("SELECT COUNT(*), MAX(id), SUM(price) FROM orders") == [(COUNT + 1, COUNT, COUNT * 0.5)]
    assert connect_service.call("DELETE", f"/connectors/{topic}").status_code == 204


def test_a_batch_with_a_bad_row_is_not_repeated_by_restarts(
    barnabas: BarnabasBroker, connect_service: ConnectProcess, postgresql: SampleDatabase, topic: str
) -> None:
    """The sequence of the table counts rows that were undone as well: it shows that the batch came again."""
    good = [{"id": number, "item": "fine"} for number in range(GOOD)]
    produce(barnabas, topic, [*good, {"id": GOOD, "item": None}])
    config = {
        "connector.class": "JdbcSinkConnector",
        "topics": topic,
        "connection.url": postgresql.url,
        "table.name.format": "orders",
        "insert.mode": "insert",
        "key.converter": "StringConverter",
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    postgresql.execute("CREATE TABLE orders (attempt BIGSERIAL, id BIGINT, item TEXT NOT NULL)")
    connect_service.create(topic, config)

    def attempts() -> int:
        status = connect_service.status(topic)
        if status is not None and [task["state"] for task in status["tasks"]] == ["FAILED"]:
            connect_service.call("POST", f"/connectors/{topic}/restart?includeTasks=true&onlyFailed=true")
        return int(postgresql.rows("SELECT last_value FROM orders_attempt_seq")[0][0])

    wait_for(lambda: attempts() > ATTEMPTS, "several restarts")
    (count,) = postgresql.rows("SELECT COUNT(*) FROM orders")[0]
    assert count <= GOOD
    assert connect_service.call("DELETE", f"/connectors/{topic}").status_code == 204
