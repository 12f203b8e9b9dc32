"""Spark's Kafka connector: a topic written and read in batch."""

import json

from pyspark.sql import DataFrame, Row, SparkSession

from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.records import EPOCH_MS, KEEP_FOREVER, numbered

PARTITIONS = 4
ROWS = 1000


def test_a_batch_is_written_and_read_back(broker_address: str, spark: SparkSession, topic: str) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    rows = spark.range(ROWS).selectExpr(
        "CAST(id AS STRING) AS key",
        "IF(id % 10 = 0, NULL, CAST(id * id AS STRING)) AS value",
        f"CAST(id % {PARTITIONS} AS INT) AS partition",
        "array(struct('parity' AS key, CAST(CAST(id % 2 AS STRING) AS BINARY) AS value)) AS headers",
    )
    rows.write.format("kafka").option("kafka.bootstrap.servers", broker_address).option("topic", topic).option(
        "includeHeaders", "true"
    ).option("kafka.compression.type", "zstd").save()
    read = everything(spark, broker_address, topic).selectExpr(
        "CAST(key AS STRING) AS key", "CAST(value AS STRING) AS value", "partition", "offset", "headers"
    )
    found = sorted(read.collect(), key=lambda row: int(row.key))
    assert [(row.key, row.value, row.partition) for row in found] == [
        (str(n), None if n % 10 == 0 else str(n * n), n % PARTITIONS) for n in range(ROWS)
    ]
    assert [row.headers for row in found] == [[Row(key="parity", value=str(n % 2).encode())] for n in range(ROWS)]
    ends = [max(row.offset for row in found if row.partition == partition) for partition in range(PARTITIONS)]
    assert ends == [ROWS // PARTITIONS - 1] * PARTITIONS


def test_a_range_is_read_by_offset_and_by_time(broker_address: str, spark: SparkSession, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    ConfluentClient().produce(broker_address, topic, numbered(100), "lz4")
    by_offset = everything(
        spark,
        broker_address,
        topic,
        startingOffsets=json.dumps({topic: {"0": 30}}),
        endingOffsets=json.dumps({topic: {"0": 60}}),
    )
    assert [row.offset for row in by_offset.orderBy("offset").collect()] == list(range(30, 60))
    by_time = everything(
        spark, broker_address, topic, startingOffsetsByTimestamp=json.dumps({topic: {"0": EPOCH_MS + 90}})
    )
    found = by_time.selectExpr("offset", "unix_millis(timestamp) AS moment", "timestampType").orderBy("offset")
    assert [tuple(row) for row in found.collect()] == [(n, EPOCH_MS + n, 0) for n in range(90, 100)]


def everything(spark: SparkSession, address: str, topic: str, **options: str) -> DataFrame:
    wanted = {"kafka.bootstrap.servers": address, "subscribe": topic, "includeHeaders": "true", **options}
    return spark.read.format("kafka").options(**wanted).load()
