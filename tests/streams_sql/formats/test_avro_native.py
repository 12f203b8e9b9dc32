"""Avro in Spark's SQL gives what the decoder and the encoder give, on real Spark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.kernel.serdes.framing import id_prefix
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import AVRO, JSON, SchemaText
from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Layout, RegistryAccess, Undecodable, Values
from streams_sql.formats.spark_texts import text_literal
from streams_sql.formats.spark_types import spark_type
from streams_sql.sources import FormatUse
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    SqlType,
    quoted,
)
from tests.streams_sql.formats.layouts import layout_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES: dict[str, SqlType] = {
    "B": BOOLEAN,
    "I": INTEGER,
    "L": BIGINT,
    "D": DOUBLE,
    "S": STRING,
    "X": BYTES,
    "T": TIME,
    "DT": DATE,
    "TS": TIMESTAMP,
}
ROWS: list[Values] = [
    (True, 1, 2**40, 1.5, "ä😀", b"\0\xff", 5, -6, 7),
    (None,) * len(TYPES),
    (False, -(2**31), -(2**63), float("inf"), "", b"", 0, 0, -1),
]
# Written by somebody else: other spellings, other orders, other types that can become ours, and fields that nobody asks for.
OTHERS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "other spellings": (
        [{"name": "i", "type": "int"}, {"name": "more", "type": "string"}, {"name": "S", "type": ["string", "null"]}],
        [{"i": 5, "more": "x", "S": "a"}, {"i": -1, "more": "", "S": None}],
    ),
    "wider types": (
        [{"name": "L", "type": "int"}, {"name": "D", "type": "float"}, {"name": "s", "type": ["null", "long"]}],
        [{"L": 7, "D": 0.1, "s": -9}, {"L": 0, "D": -0.0, "s": None}],
    ),
    "micros": (
        [{"name": "TS", "type": {"type": "long", "logicalType": "timestamp-micros"}}],
        [{"TS": 1_500}, {"TS": -1}, {"TS": -1_000}],
    ),
    "a type that does not fit": ([{"name": "I", "type": "string"}], [{"I": "1"}]),
}


@pytest.fixture
def layout(topic: str, access: RegistryAccess) -> Layout:
    return layout_of(TYPES, FormatUse("AVRO"), topic=topic, registry=access)


def native_rows(spark: SparkSession, records: list[bytes], layout: Layout, *met: int) -> list[Values | None]:
    text = format_of("AVRO").spark_decoding(layout, frozenset(met))
    assert text is not None
    frame = spark.createDataFrame(
        [(record, 0, place) for place, record in enumerate(records)], "value binary, partition int, offset bigint"
    )
    decoded = frame.selectExpr("offset", f"{text.replace('{payload}', 'value')} AS row").orderBy("offset")
    found = [row["row"] for row in decoded.collect()]
    return [None if row is None else tuple(_plain(value) for value in row) for row in found]


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value


def expected_rows(records: list[bytes], layout: Layout) -> list[Values | None]:
    decoded = format_of("AVRO").decoder(layout)(records)
    return [None if isinstance(row, Undecodable) else row for row in decoded]


def record_schema(fields: list[dict[str, Any]]) -> SchemaText:
    return SchemaText(json.dumps({"type": "record", "name": "R", "namespace": "n", "fields": fields}), AVRO)


def test_records_of_every_known_schema_are_read(spark: SparkSession, layout: Layout, client: RegistryClient) -> None:
    client.set_config(f"{layout.topic}-value", {"compatibility": "NONE"})
    records = [record or b"" for record in format_of("AVRO").encoder(layout)(ROWS)]
    codecs = format_of("AVRO").codecs(client, layout)  # type: ignore[attr-defined]
    for fields, rows in OTHERS.values():
        number = client.register(f"{layout.topic}-value", record_schema(fields))
        records += [id_prefix(number) + codecs.codec(number).encode(row) for row in rows]
    records += [records[0][:9], records[0][:5], b"", b"\0\0", b"{}{}{}", records[0][:-1]]
    found, expected = native_rows(spark, records, layout), expected_rows(records, layout)
    assert found == expected
    assert found[: len(ROWS)] == ROWS


def test_a_record_of_another_schema_tells_its_number(
    spark: SparkSession, layout: Layout, client: RegistryClient
) -> None:
    from pyspark.errors import PySparkException

    number = client.register(f"{layout.topic}-elsewhere", record_schema([{"name": "i", "type": "int"}]))
    json_id = client.register(f"{layout.topic}-json", SchemaText('{"type":"object"}', JSON))
    records = [id_prefix(number) + b"\x02"]
    with pytest.raises(PySparkException, match=rf"NewSchema: {number} "):
        native_rows(spark, records, layout)
    records += [id_prefix(json_id) + b"\x02", id_prefix(2_000_000_000) + b"\x02"]
    found = native_rows(spark, records, layout, number, json_id, 2_000_000_000)
    assert found == [(None, 1, *[None] * (len(TYPES) - 2)), None, None] == expected_rows(records, layout)


@pytest.mark.parametrize(
    "fields",
    [
        [{"name": "i", "type": {"type": "array", "items": "int"}}],
        [{"name": "i", "type": ["int", "string"]}],
        [{"name": "i", "type": "int"}, {"name": "I", "type": "int"}],
        [{"name": "s", "type": "double"}],
    ],
    ids=["array", "union", "same letters", "float as text"],
)
def test_schemas_that_spark_reads_by_other_rules_are_left_to_python(
    layout: Layout, client: RegistryClient, fields: list[dict[str, Any]]
) -> None:
    client.register(f"{layout.topic}-value", record_schema(fields))
    assert format_of("AVRO").spark_decoding(layout) is None


def test_rows_are_written_as_the_encoder_writes_them(spark: SparkSession, layout: Layout) -> None:
    text = format_of("AVRO").spark_encoding(layout)
    assert text is not None
    schema = ", ".join(f"{quoted(name)} {spark_type(type_)}" for name, type_ in TYPES.items())
    fields = ", ".join(f"{text_literal(name)}, {quoted(name)}" for name in TYPES)
    frame = spark.createDataFrame(ROWS, schema)
    found = frame.selectExpr(f"{text.replace('{row}', f'named_struct({fields})')} AS value").collect()
    assert [bytes(row["value"]) for row in found] == format_of("AVRO").encoder(layout)(ROWS)


@pytest.mark.parametrize("type_", [Decimal(5, 2), Array(INTEGER)], ids=str)
def test_columns_that_spark_writes_by_other_rules_have_no_native_form(
    topic: str, access: RegistryAccess, client: RegistryClient, type_: SqlType
) -> None:
    written = layout_of({"A": type_, "B": INTEGER}, FormatUse("AVRO"), topic=topic, registry=access)
    assert format_of("AVRO").spark_encoding(written, registers=False) is None
    assert format_of("AVRO").spark_decoding(written) is None
    assert not list(client.schemas(topic))
