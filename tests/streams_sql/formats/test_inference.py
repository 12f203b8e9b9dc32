"""Columns from the registry, and schemas that sources put there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, SchemaText
from streams_sql.formats.inference import infer_schema
from streams_sql.formats.registration import forget_schemas, register_schemas
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.statements import Kind
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, FormatUse, InferredSchema, MissingSchema, Schema, Source
from streams_sql.sql_types import BIGINT, DOUBLE, STRING
from tests.streams_sql.formats.layouts import EVERY_TYPE
from tests.streams_sql.formats.test_registered import ORDER, PROTO

DOCUMENT = {
    "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}}},
    "type": "object",
    "properties": {
        "count": {"type": "integer", "connect.index": 1},
        "id": {"type": "integer", "connect.type": "int32", "connect.index": 0},
        "size": {"oneOf": [{"type": "null"}, {"type": "number"}], "connect.index": 2},
        "who": {"$ref": "#/$defs/person", "connect.index": 3},
        "tags": {"type": "array", "items": {"type": ["string", "null"]}, "connect.index": 4},
        "colour": {"enum": ["RED", "BLUE"], "connect.index": 5},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}], "connect.index": 6},
        "both": {
            "allOf": [{"$ref": "#/$defs/person"}, {"properties": {"age": {"type": "integer"}}}],
            "connect.index": 7,
        },
        "counts": {
            "type": "object",
            "connect.type": "map",
            "additionalProperties": {"type": "integer"},
            "connect.index": 8,
        },
        "yes": {"type": "boolean", "connect.index": 9},
    },
}


def _inferred(
    access: RegistryAccess, topic: str, *, key: FormatUse | None = None, value: FormatUse | None = None
) -> InferredSchema:
    return infer_schema(MissingSchema(topic, key, value), access)


def _shown(columns: tuple[Column, ...] | None) -> list[str]:
    return [str(column) for column in columns or ()]


@pytest.mark.parametrize(
    ("use", "schema", "columns"),
    [
        (
            FormatUse("AVRO"),
            SchemaText(json.dumps(ORDER), AVRO),
            [
                "`ID` INTEGER",
                "`STATUS` STRING",
                "`PRICE` DECIMAL(6, 2)",
                "`DAY` DATE",
                "`CLOCK` TIME",
                "`AT` TIMESTAMP",
                "`EXACT` BIGINT",
                "`TAGS` MAP<STRING, DOUBLE>",
                "`LINES` ARRAY<STRUCT<`SKU` STRING>>",
                "`EITHER` STRUCT<`STRING` STRING, `LINE` STRUCT<`SKU` STRING>>",
                "`HASH` BYTES",
            ],
        ),
        (
            FormatUse("JSON_SR"),
            SchemaText(json.dumps(DOCUMENT), JSON),
            [
                "`ID` INTEGER",
                "`COUNT` BIGINT",
                "`SIZE` DOUBLE",
                "`WHO` STRUCT<`NAME` STRING>",
                "`TAGS` ARRAY<STRING>",
                "`COLOUR` STRING",
                "`BOTH` STRUCT<`NAME` STRING, `AGE` BIGINT>",
                "`COUNTS` MAP<STRING, BIGINT>",
                "`YES` BOOLEAN",
            ],
        ),
        (
            FormatUse("PROTOBUF", full_name="shop.Order"),
            SchemaText(PROTO, PROTOBUF),
            [
                "`EITHER_0` STRUCT<`NAME` STRING, `NUMBER` INTEGER>",
                "`ID` BIGINT",
                "`KIND` STRING",
                "`COUNTS` MAP<STRING, BIGINT>",
                "`OTHERS` ARRAY<STRUCT<`X` STRING>>",
            ],
        ),
        (FormatUse("PROTOBUF"), SchemaText(PROTO, PROTOBUF), ["`X` STRING"]),
        (FormatUse("AVRO", is_wrapped=False), SchemaText('"long"', AVRO), ["`ROWVAL` BIGINT"]),
    ],
    ids=lambda value: value.name if isinstance(value, FormatUse) else None,
)
def test_columns_come_from_the_newest_schema(
    use: FormatUse, schema: SchemaText, columns: list[str], access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    client.register(f"{topic}-value", schema)
    found = _inferred(access, topic, value=use)
    assert found.key is None
    assert _shown(found.value) == columns


@pytest.mark.parametrize("name", ["AVRO", "JSON_SR", "PROTOBUF"])
def test_what_a_source_registers_gives_its_columns_again(name: str, access: RegistryAccess, topic: str) -> None:
    columns = tuple(Column(column, type_) for column, type_ in EVERY_TYPE.items())
    source = _source(topic, FormatUse(name), columns)
    register_schemas(source, access)
    assert _inferred(access, topic, value=FormatUse(name)).value == columns


@pytest.mark.parametrize(
    ("schema", "column"),
    [
        ('"string"', "`ROWKEY` STRING"),
        (json.dumps({**ORDER, "fields": ORDER["fields"][:1]}), "`ROWKEY` STRUCT<`ID` INTEGER>"),
    ],
    ids=["alone", "record"],
)
def test_keys_are_one_column(
    schema: str, column: str, access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    client.register(f"{topic}-key", SchemaText(schema, AVRO))
    found = _inferred(access, topic, key=FormatUse("AVRO"))
    assert _shown(found.key) == [column]
    assert found.value is None


def test_a_schema_by_its_id_keeps_its_names(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "orderId", "type": "long"}]}
    schema_id = client.register("elsewhere", SchemaText(json.dumps(schema), AVRO))
    assert _shown(_inferred(access, topic, value=FormatUse("AVRO", schema_id=schema_id)).value) == ["`orderId` BIGINT"]


@pytest.mark.parametrize(
    ("use", "schema", "message"),
    [
        (FormatUse("AVRO"), None, r"Schema for message values on topic '.*' does not exist in the Schema Registry"),
        (FormatUse("AVRO", schema_id=2**31 - 1), None, "Schema Id: 2147483647"),
        (FormatUse("JSON_SR"), SchemaText('"long"', AVRO), "You may want to set VALUE_FORMAT to 'AVRO'"),
        (FormatUse("AVRO"), SchemaText('"long"', AVRO), "set 'WRAP_SINGLE_VALUE=false'"),
        (FormatUse("AVRO"), SchemaText('"null"', AVRO), "does not include any columns"),
        (FormatUse("JSON_SR"), SchemaText('{"type": "object"}', JSON), "does not include any columns"),
        (FormatUse("PROTOBUF", full_name="shop.Missing"), SchemaText(PROTO, PROTOBUF), "shop.Missing"),
    ],
    ids=str,
)
def test_what_cannot_be_inferred_is_told(
    use: FormatUse, schema: SchemaText | None, message: str, access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    if schema is not None:
        client.register(f"{topic}-value", schema)
    with pytest.raises(SqlProblem, match=message):
        _inferred(access, topic, value=use)


def test_keys_of_many_columns_are_refused(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    client.register(f"{topic}-key", SchemaText(PROTO, PROTOBUF))
    with pytest.raises(SqlProblem, match="contains multiple columns"):
        _inferred(access, topic, key=FormatUse("PROTOBUF", full_name="shop.Order"))


def test_a_registry_that_is_away_is_told(topic: str) -> None:
    with pytest.raises(SqlProblem, match="request failed for topic"):
        _inferred(RegistryAccess("http://127.0.0.1:1", timeout_ms=1_000), topic, value=FormatUse("AVRO"))


ID = Column("ID", BIGINT)


def _source(topic: str, use: FormatUse, columns: tuple[Column, ...] = (ID,), *, is_filled: bool = False) -> Source:
    schema = Schema((Column("K", STRING),), columns)
    query_id = "CSAS_S_1" if is_filled else None
    return Source("S", Kind.STREAM, schema, topic, FormatUse("AVRO", is_wrapped=False), use, "", query_id=query_id)


def test_schemas_are_registered_and_forgotten(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    source = _source(topic, FormatUse("AVRO"))
    register_schemas(source, access)
    assert client.version(f"{topic}-key").schema.text == '"string"'
    wider = _source(topic, FormatUse("AVRO"), (ID, Column("SIZE", DOUBLE)))
    register_schemas(wider, access)
    assert client.versions(f"{topic}-value") == [1]
    register_schemas(_source(topic, FormatUse("AVRO"), wider.schema.value, is_filled=True), access)
    assert client.versions(f"{topic}-value") == [1, 2]
    forget_schemas(source, access)
    forget_schemas(source, access)
    for part in ("key", "value"):
        with pytest.raises(RegistryClientError):
            client.versions(f"{topic}-{part}")


def test_formats_without_schemas_need_no_registry(topic: str) -> None:
    plain = Source("S", Kind.STREAM, Schema((ID,), (ID,)), topic, FormatUse("KAFKA"), FormatUse("JSON"), "")
    register_schemas(plain, None)
    forget_schemas(plain, None)


def test_a_schema_that_does_not_follow_the_last_is_told(access: RegistryAccess, topic: str) -> None:
    register_schemas(_source(topic, FormatUse("AVRO")), access)
    other = _source(topic, FormatUse("AVRO"), (Column("ID", STRING),), is_filled=True)
    with pytest.raises(SqlProblem, match="Could not register schema for topic"):
        register_schemas(other, access)


@pytest.mark.parametrize(
    ("columns", "refused"),
    [((ID,), None), ((Column("ID", STRING),), "`ID` STRING"), ((ID, Column("SIZE", DOUBLE)), "`SIZE` DOUBLE")],
    ids=str,
)
def test_a_schema_by_its_id_must_have_the_columns(
    columns: tuple[Column, ...], refused: str | None, access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    fields: list[dict[str, Any]] = [{"name": "ID", "type": "long"}, {"name": "MORE", "type": "int", "default": 0}]
    text = SchemaText(json.dumps({"type": "record", "name": "R", "fields": fields}), AVRO)
    schema_id = client.register("with-more", text)
    source = _source(topic, FormatUse("AVRO", schema_id=schema_id), columns, is_filled=True)
    if refused is None:
        register_schemas(source, access)
        assert client.version(f"{topic}-value").id == schema_id
        return
    with pytest.raises(SqlProblem, match=rf"value columns are changed, missing or reordered: \[{refused}\]"):
        register_schemas(source, access)


def test_a_schema_that_no_row_can_be_written_with_is_told_at_once(
    access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    fields = [{"name": "ID", "type": "long"}, {"name": "MORE", "type": "int"}]
    schema_id = client.register(
        "needs-more", SchemaText(json.dumps({"type": "record", "name": "R", "fields": fields}), AVRO)
    )
    use = FormatUse("AVRO", schema_id=schema_id)
    register_schemas(_source(f"{topic}-read", use), access)
    with pytest.raises(SqlProblem, match="a field without a default that no column fills: MORE"):
        register_schemas(_source(topic, use, is_filled=True), access)
