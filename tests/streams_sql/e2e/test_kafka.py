"""The whole story on Apache Kafka, with a producer of Confluent's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.connect.tasks.topics import create, read
from tests.oracle import ApacheKafka
from tests.registry import RegistryProcess
from tests.sql_service import SqlProcess
from tests.streams_sql.e2e.deadlines import TEST_S

pytestmark = pytest.mark.timeout(TEST_S)

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "USER_ID", "type": "string"}, {"name": "AMOUNT", "type": "long"}],
}
AMOUNTS = [("ann", 5), ("bob", 70), ("ann", 80), ("cid", 9), ("bob", 90)]


@pytest.fixture
def sql_on_kafka(
    apache_kafka: ApacheKafka, registry_on_kafka: RegistryProcess, spark_jars: Path, tmp_path: Path
) -> Iterator[SqlProcess]:
    server = SqlProcess(tmp_path, apache_kafka.address, registry_on_kafka.url)
    server.start()
    yield server
    server.stop()


def test_from_a_topic_to_a_table_and_away_again(
    sql_on_kafka: SqlProcess, apache_kafka: ApacheKafka, registry_on_kafka: RegistryProcess, topic: str
) -> None:
    sql, bootstrap = sql_on_kafka, apache_kafka.address
    create(bootstrap, topic, partitions=2)
    with SchemaRegistryClient({"url": registry_on_kafka.url}) as client:
        encode = AvroSerializer(client, json.dumps(ORDER))
        producer = Producer({"bootstrap.servers": bootstrap})
        for user, amount in AMOUNTS:
            row = {"USER_ID": user, "AMOUNT": amount}
            producer.produce(topic, encode(row, SerializationContext(topic, MessageField.VALUE)), user)
        assert producer.flush() == 0
        sql.execute(
            f"CREATE STREAM ORDERS WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='AVRO');"
            f"CREATE STREAM LARGE WITH (KAFKA_TOPIC='{topic}-large', PARTITIONS=1) AS SELECT * FROM ORDERS WHERE AMOUNT > 50;"
            f"CREATE TABLE TOTALS WITH (KAFKA_TOPIC='{topic}-totals', PARTITIONS=1) AS "
            "SELECT USER_ID, COUNT(*) AS ORDERED, SUM(AMOUNT) AS TOTAL FROM LARGE GROUP BY USER_ID;"
        )
        sql.wait_for_rows("SELECT * FROM TOTALS;", [["ann", 1, 80], ["bob", 2, 160]])
        sql.wait_for_rows("SELECT TOTAL FROM TOTALS WHERE USER_ID = 'bob';", [[160]])
        large = sql.rows("SELECT USER_ID, AMOUNT FROM LARGE EMIT CHANGES LIMIT 3;")
        assert sorted(large) == [["ann", 80], ["bob", 70], ["bob", 90]]
        decode = AvroDeserializer(client)
        context = SerializationContext(f"{topic}-large", MessageField.VALUE)
        found = [decode(message.value(), context) for message in read(bootstrap, f"{topic}-large")]
        assert sorted((row["USER_ID"], row["AMOUNT"]) for row in found) == [("ann", 80), ("bob", 70), ("bob", 90)]
        sql.execute("DROP TABLE TOTALS DELETE TOPIC; DROP STREAM LARGE DELETE TOPIC; DROP STREAM ORDERS;")
        left = AdminClient({"bootstrap.servers": bootstrap}).list_topics().topics
        assert [name for name in left if name.startswith(topic)] == [topic]
        assert [name for name in client.get_subjects() if name.startswith(topic)] == [f"{topic}-value"]
