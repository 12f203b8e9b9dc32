"""AVRO, JSON_SR and PROTOBUF through a real registry, with other implementations on the other side."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal as Exact
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import FloatValue

from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, SchemaText
from streams_sql.formats.inference import inferred_columns
from streams_sql.formats.library import format_of
from streams_sql.formats.registered import RegistryNotConfigured
from streams_sql.formats.serde import Layout, RegistryAccess, Undecodable
from streams_sql.sources import FormatUse
from streams_sql.spark.jobs.codecs import encoder_of
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
    Field,
    Map,
    SqlType,
    Struct,
)
from tests import apache_avro
from tests.streams_sql.formats.layouts import EVERY_TYPE, PERSON, decode_one, encode_one, layout_of

NAMES = ("AVRO", "JSON_SR", "PROTOBUF")
FULL_ROW: tuple[Any, ...] = (
    1,
    2**40,
    1.5,
    True,
    "é",
    Exact("-12.125"),
    b"\x00\xff",
    5,
    -7,
    1_700_000_000_123,
    [{"NAME": "x", "AGE": 1}],
    [1, 2],
    {"k": Exact("1.5")},
    {"NAME": "y", "AGE": 2},
)
NULL_ROW = (None,) * len(FULL_ROW)


def _use(name: str) -> FormatUse:
    return FormatUse(name, nullable_as="OPTIONAL" if name == "PROTOBUF" else None)


@pytest.mark.parametrize("name", NAMES)
def test_rows_come_back_and_the_schema_is_registered(
    name: str, access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    layout = layout_of(EVERY_TYPE, _use(name), topic=topic, registry=access)
    encode, decode = format_of(name).encoder(layout), format_of(name).decoder(layout)
    assert encode([None, None]) == [None, None]
    with pytest.raises(RegistryClientError):
        client.versions(f"{topic}-value")
    payloads = encode([FULL_ROW, None, NULL_ROW])
    (version,) = client.versions(f"{topic}-value")
    registered = client.version(f"{topic}-value", version)
    assert payloads[0] is not None
    assert payloads[0][:5] == struct.pack(">BI", 0, registered.id)
    full, nothing, empty = decode(payloads)
    assert (full, nothing) == (FULL_ROW, None)
    # Protobuf has no null for what is repeated.
    repeated: dict[str, Any] = {"AR": [], "AI": [], "M": {}} if name == "PROTOBUF" else {}
    assert empty == tuple(repeated.get(column) for column in EVERY_TYPE)


@pytest.mark.parametrize("name", ["AVRO", "JSON_SR"])
@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (STRING, "k"),
        (BIGINT, 5),
        (DOUBLE, 0.5),
        (PERSON, {"NAME": "x", "AGE": None}),
        (Array(PERSON), [{"NAME": "x", "AGE": 1}]),
    ],
    ids=str,
)
def test_single_keys_stand_alone(name: str, type_: SqlType, value: Any, access: RegistryAccess, topic: str) -> None:
    layout = layout_of({"K": type_}, FormatUse(name), topic=topic, is_key=True, registry=access)
    assert decode_one(layout, encode_one(layout, (value,))) == (value,)
    assert encode_one(layout, (None,)) is None


def test_avro_is_what_ksqldb_registers_and_apache_reads(
    access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    columns: dict[str, SqlType] = {"ID": BIGINT, "PRICE": Decimal(4, 2), "M": Map(STRING, BIGINT), "P": PERSON}
    layout = layout_of(columns, FormatUse("AVRO"), topic=topic, registry=access)
    payload = encode_one(layout, (1, Exact("1.50"), {"k": 2}, {"NAME": "x", "AGE": None}))
    assert payload is not None
    schema = json.loads(client.version(f"{topic}-value").schema.text)
    full_name = "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
    assert f"{schema['namespace']}.{schema['name']}" == schema["connect.name"] == full_name
    assert schema["fields"][0] == {"name": "ID", "type": ["null", "long"], "default": None}
    assert schema["fields"][2]["type"][1]["items"]["name"] == "KsqlDataSourceSchema_M"
    assert schema["fields"][2]["type"][1]["items"]["connect.internal.type"] == "MapEntry"
    assert schema["fields"][3]["type"][1]["connect.name"] == f"{full_name}_P"
    assert apache_avro.read(schema, payload[5:]) == {
        "ID": 1,
        "PRICE": Exact("1.50"),
        "M": [{"key": "k", "value": 2}],
        "P": {"NAME": "x", "AGE": None},
    }


def written_by_others(client: RegistryClient, topic: str, schema: dict[str, Any], value: dict[str, Any]) -> bytes:
    """A record of Avro that another implementation has made."""
    schema_id = client.register(f"{topic}-value", SchemaText(json.dumps(schema), AVRO))
    return struct.pack(">BI", 0, schema_id) + apache_avro.written(schema, value)


def test_a_decimal_keeps_all_its_digits(access: RegistryAccess, topic: str) -> None:
    value = Exact("-12345678901234567890123456789012345.678")
    for name in NAMES:
        layout = layout_of({"V": Decimal(38, 3)}, _use(name), topic=f"{topic}-{name}", registry=access)
        assert decode_one(layout, encode_one(layout, (value,))) == (value,)


OUT_OF_RANGE: list[tuple[SqlType, Any, Any, str]] = [
    (
        Decimal(4, 2),
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
        b"\x27\x10",
        "Numeric field overflow",
    ),
    (
        Decimal(4, 2),
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3},
        b"\x01",
        "without rounding",
    ),
    (TIME, {"type": "int", "logicalType": "time-millis"}, 86_400_001, "Time values must use"),
    (TIME, "int", -1, "Time values must use"),
    (INTEGER, "long", 1, "Cannot deserialize type BIGINT as type INTEGER"),
]


@pytest.mark.parametrize(("type_", "written", "value", "reason"), OUT_OF_RANGE, ids=str)
def test_an_avro_number_that_the_column_cannot_hold_is_undecodable(
    type_: SqlType, written: Any, value: Any, reason: str, access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    plain = written if isinstance(written, str) else written["type"]
    schema = {"type": "record", "name": "R", "fields": [{"name": "V", "type": written}]}
    # Without its annotation, a value that the schema does not allow can be written.
    data = apache_avro.written({**schema, "fields": [{"name": "V", "type": plain}]}, {"V": value})
    schema_id = client.register(f"{topic}-value", SchemaText(json.dumps(schema), AVRO))
    layout = layout_of({"V": type_}, FormatUse("AVRO"), topic=topic, registry=access)
    found = decode_one(layout, struct.pack(">BI", 0, schema_id) + data)
    assert isinstance(found, Undecodable)
    assert reason in found.reason


ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "Status", "type": {"type": "enum", "name": "Status", "symbols": ["OPEN", "PAID"]}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "exact", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "tags", "type": {"type": "map", "values": "float"}},
        {
            "name": "lines",
            "type": {
                "type": "array",
                "items": ["null", {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]}],
            },
        },
        {"name": "either", "type": ["null", "string", "Line"]},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "next", "type": ["null", "Order"], "default": None},
    ],
}
ORDER_VALUE = {
    "id": 7,
    "Status": "PAID",
    "price": Exact("12.50"),
    "day": date(1970, 1, 4),
    "clock": time(0, 0, 0, 5_000),
    "at": datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC),
    "exact": datetime(2023, 11, 14, 22, 13, 20, 123_456, UTC),
    "tags": {"a": 0.5},
    "lines": [{"sku": "s"}, None],
    "either": {"sku": "e"},
    "hash": b"\x01\x02",
    "next": None,
}


def test_avro_of_others_is_read_by_its_own_schema(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    payload = written_by_others(client, topic, ORDER, ORDER_VALUE)
    columns: dict[str, SqlType] = {
        "ID": BIGINT,
        "STATUS": STRING,
        "PRICE": Decimal(8, 3),
        "DAY": DATE,
        "CLOCK": TIME,
        "AT": TIMESTAMP,
        "EXACT": TIMESTAMP,
        "TAGS": Map(STRING, DOUBLE),
        "LINES": Array(PERSON),
        "HASH": BYTES,
        "MISSING": STRING,
    }
    layout = layout_of(columns, FormatUse("AVRO"), topic=topic, registry=access)
    assert decode_one(layout, payload) == (
        7,
        "PAID",
        Exact("12.500"),
        3,
        5,
        1_700_000_000_123,
        1_700_000_000_123,
        {"a": 0.5},
        [{"NAME": None, "AGE": None}, None],
        b"\x01\x02",
        None,
    )
    texts = replace(layout, columns=layout_of({"ID": STRING, "EXACT": BIGINT}, FormatUse("AVRO")).columns)
    assert decode_one(texts, payload) == ("7", 1_700_000_000_123_456)
    wrong = decode_one(layout_of({"STATUS": INTEGER}, FormatUse("AVRO"), topic=topic, registry=access), payload)
    assert wrong == Undecodable("Cannot deserialize type STRING as type INTEGER for path: ->STATUS")


def test_schemas_may_change_in_mid_stream(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    def written(kind: str, value: dict[str, Any]) -> bytes:
        text = [{"name": "s", "type": "string", "default": ""}] if "s" in value else []
        schema = {"type": "record", "name": "R", "fields": [{"name": "id", "type": kind, "default": 0}, *text]}
        return written_by_others(client, topic, schema, value)

    payloads = [written("int", {"id": 1}), written("long", {"id": 2**40}), written("long", {"id": 3, "s": "x"})]
    layout = layout_of({"ID": BIGINT, "S": STRING}, FormatUse("AVRO"), topic=topic, registry=access)
    decode = format_of("AVRO").decoder(layout)
    assert decode([*payloads, payloads[0]]) == [(1, None), (2**40, None), (3, "x"), (1, None)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"{}", "does not begin with the number of a schema"),
        (b"\x00\x7f\xff\xff\xff{}", "The registry has no schema 2147483647"),
    ],
)
def test_records_without_a_schema_are_undecodable(
    name: str, payload: bytes, reason: str, access: RegistryAccess, topic: str
) -> None:
    found = decode_one(layout_of({"A": STRING}, FormatUse(name), topic=topic, registry=access), payload)
    assert isinstance(found, Undecodable)
    assert reason in found.reason


@pytest.mark.parametrize("name", NAMES)
def test_records_of_another_format_and_half_ones_are_undecodable(name: str, access: RegistryAccess, topic: str) -> None:
    columns: dict[str, SqlType] = {"A": STRING, "B": BIGINT}
    layout = layout_of(columns, FormatUse(name), topic=topic, registry=access)
    payload = encode_one(layout, ("some text", 1))
    assert payload is not None
    for other in NAMES:
        found = decode_one(replace(layout, format=FormatUse(other)), payload)
        assert found == ("some text", 1) if other == name else isinstance(found, Undecodable)
    assert isinstance(decode_one(layout, payload[:9]), Undecodable)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_registry_these_formats_are_refused(name: str) -> None:
    with pytest.raises(RegistryNotConfigured, match=f"The format {name} needs a schema registry"):
        decode_one(layout_of({"A": STRING}, FormatUse(name)), b"")


def test_a_registry_that_is_away_is_no_fault_of_the_record(topic: str) -> None:
    away = RegistryAccess("http://127.0.0.1:1", timeout_ms=1_000)
    with pytest.raises(RegistryClientError):
        decode_one(layout_of({"A": STRING}, FormatUse("AVRO"), topic=topic, registry=away), b"\x00\x00\x00\x00\x01")


@pytest.mark.parametrize(
    ("nullable_as", "text", "row"),
    [
        (None, "int32 I = 1;", (0, "")),
        ("OPTIONAL", "optional int32 I = 1;", (None, None)),
        ("WRAPPER", "google.protobuf.Int32Value I = 1;", (None, None)),
    ],
)
def test_protobuf_has_three_ways_for_null(
    nullable_as: str | None, text: str, row: Any, access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    use = FormatUse("PROTOBUF", nullable_as=nullable_as)
    layout = layout_of({"I": INTEGER, "S": STRING}, use, topic=topic, registry=access)
    assert decode_one(layout, encode_one(layout, (None, None))) == row
    assert decode_one(layout, encode_one(layout, (0, ""))) == (0, "")
    assert text in client.version(f"{topic}-value").schema.text


@pytest.mark.parametrize(
    ("name", "full_name", "text"),
    [("AVRO", "shop.Order", '"name":"Order","namespace":"shop"'), ("PROTOBUF", "shop.Order", "message Order {")],
)
def test_schemas_can_be_named(
    name: str, full_name: str, text: str, access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    layout = layout_of({"A": STRING}, FormatUse(name, full_name=full_name), topic=topic, registry=access)
    assert decode_one(layout, encode_one(layout, ("x",))) == ("x",)
    assert text.replace(" ", "") in client.version(f"{topic}-value").schema.text.replace(" ", "")


PROTO = """syntax = "proto3";
package shop;
message Other { string x = 1; }
message Order {
  uint64 id = 1;
  Kind kind = 2;
  map<string, int64> counts = 3;
  oneof either { string name = 4; int32 number = 5; }
  repeated Other others = 6;
  enum Kind { NONE = 0; BIG = 1; }
}
"""


def test_protobuf_of_others_is_read_and_written_by_its_id(
    access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    schema_id = client.register(f"{topic}-value", SchemaText(PROTO, PROTOBUF))
    use = FormatUse("PROTOBUF", schema_id=schema_id, full_name="shop.Order")
    columns: dict[str, SqlType] = {"id": BIGINT, "kind": STRING}
    layout = layout_of(columns, use, topic=topic, registry=access)
    payload = encode_one(layout, (7, "BIG"))
    assert payload == struct.pack(">BI", 0, schema_id) + b"\x02\x02" + b"\x08\x07\x10\x01"
    assert decode_one(layout, payload) == (7, "BIG")
    body = b"\x08" + b"\xff" * 8 + b"\x7f" + b"\x1a\x05\x0a\x01k\x10\x02" + b"\x28\x05" + b"\x32\x03\x0a\x01x"
    other: dict[str, SqlType] = {"ID": BIGINT, "COUNTS": Map(STRING, BIGINT), "OTHERS": Array(PERSON)}
    upper = layout_of(other, FormatUse("PROTOBUF"), topic=topic, registry=access)
    assert decode_one(upper, payload[:7] + body) == (2**63 - 1, {"k": 2}, [{"NAME": None, "AGE": None}])
    too_large = decode_one(upper, payload[:7] + b"\x08" + b"\xff" * 9 + b"\x01")
    assert isinstance(too_large, Undecodable)
    assert too_large.reason.startswith("Number out of range: 18446744073709551615: BIGINT holds")


WRAPPERS = """syntax = "proto3";
import "google/protobuf/wrappers.proto";
message Wrapped {
  google.protobuf.BoolValue b = 1;
  google.protobuf.StringValue s = 2;
  float f = 3;
  google.protobuf.FloatValue g = 4;
}
"""


def test_protobuf_wrappers_are_scalars_and_floats_have_the_bits_that_were_written(
    access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    schema_id = client.register(f"{topic}-value", SchemaText(WRAPPERS, PROTOBUF))
    flat, use = FloatValue(value=1.1234).SerializeToString(), FormatUse("PROTOBUF")
    body = b"\x0a\x00" + b"\x1d" + struct.pack("<f", 1.1234) + b"\x22" + bytes([len(flat)]) + flat
    payload = struct.pack(">BI", 0, schema_id) + b"\x00" + body
    columns: dict[str, SqlType] = {"B": BOOLEAN, "S": STRING, "F": DOUBLE, "G": DOUBLE}
    layout = layout_of(columns, use, topic=topic, registry=access)
    assert {column.name: column.type for column in inferred_columns(layout)} == columns
    assert decode_one(layout, payload) == (False, None, 1.1233999729156494, 1.1233999729156494)
    # As they were declared before.
    structs: dict[str, SqlType] = {"B": Struct((Field("VALUE", BOOLEAN),)), "S": Struct((Field("VALUE", STRING),))}
    assert decode_one(layout_of(structs, use, topic=topic, registry=access), payload) == ({"VALUE": False}, None)


def test_avro_can_be_written_by_a_schema_of_others(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    schema_id = client.register(f"{topic}-value", SchemaText(json.dumps(ORDER), AVRO))
    use = FormatUse("AVRO", schema_id=schema_id)
    columns: dict[str, SqlType] = {"id": INTEGER, "price": Decimal(6, 2), "day": DATE, "tags": Map(STRING, DOUBLE)}
    narrow: Layout = layout_of(columns, use, topic=topic, registry=access)
    with pytest.raises(ValueError, match="has a field without a default that no column fills: Status"):
        encode_one(narrow, (1, Exact("1.00"), 2, {}))
    unknown = layout_of({"nope": STRING}, use, topic=topic, registry=access)
    with pytest.raises(ValueError, match="Schema from Schema Registry misses field with name: nope"):
        encode_one(unknown, ("x",))


def test_defaults_of_an_avro_schema_stand_for_null(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    inner = {"type": "record", "name": "I", "fields": [{"name": "n", "type": "int", "default": 7}]}
    fields = [
        {"name": "a", "type": "int", "default": 5},
        {"name": "b", "type": ["null", "int"], "default": None},
        {"name": "c", "type": inner},
        {"name": "d", "type": "string", "default": "more"},
    ]
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    schema_id = client.register(f"{topic}-value", SchemaText(text, AVRO))
    struct_of_n = Struct((Field("n", INTEGER),))
    columns: dict[str, SqlType] = {"a": INTEGER, "b": INTEGER, "c": struct_of_n}
    layout = layout_of(columns, FormatUse("AVRO", schema_id=schema_id), topic=topic, registry=access)
    whole = layout_of({**columns, "d": STRING}, FormatUse("AVRO"), topic=topic, registry=access)
    assert decode_one(whole, encode_one(layout, (None, None, {"n": None}))) == (5, None, {"n": 7}, "more")
    assert decode_one(whole, encode_one(layout, (1, 2, {"n": 3}))) == (1, 2, {"n": 3}, "more")


def test_what_a_json_schema_has_beside_the_columns_is_null(
    access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    schema_id = client.register(f"{topic}-value", SchemaText(json.dumps(schema), JSON))
    layout = layout_of({"a": BIGINT}, FormatUse("JSON_SR", schema_id=schema_id), topic=topic, registry=access)
    payload = encode_one(layout, (1,))
    assert payload is not None
    assert json.loads(payload[5:]) == {"a": 1, "b": None}


def test_json_schemas_of_others_keep_their_maps(access: RegistryAccess, client: RegistryClient, topic: str) -> None:
    schema = {
        "type": "object",
        "properties": {"M": {"type": "object", "connect.type": "map", "additionalProperties": {"type": "integer"}}},
    }
    schema_id = client.register(f"{topic}-value", SchemaText(json.dumps(schema), JSON))
    columns: dict[str, SqlType] = {"M": Map(STRING, BIGINT)}
    own = layout_of(columns, FormatUse("JSON_SR"), topic=f"{topic}-own", registry=access)
    others = layout_of(columns, FormatUse("JSON_SR", schema_id=schema_id), topic=topic, registry=access)
    row = ({"k": 1},)
    written, by_id = encode_one(own, row), encode_one(others, row)
    assert (written or b"")[5:] == b'{"M":[{"key":"k","value":1}]}'
    assert (by_id or b"")[5:] == b'{"M":{"k":1}}'
    assert decode_one(own, written) == decode_one(own, by_id) == row


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("AVRO", {"a-b": STRING}, "not compatible with Avro: Illegal character in: a-b"),
        ("PROTOBUF", {"a-b": STRING}, "is no name in PROTOBUF"),
        ("PROTOBUF", {"A": Array(Array(STRING))}, "no arrays of arrays"),
        ("PROTOBUF", {"A": Map(STRING, Array(STRING))}, "no maps of arrays"),
    ],
    ids=str,
)
def test_columns_that_a_format_cannot_say_are_refused(
    name: str, columns: dict[str, SqlType], message: str, access: RegistryAccess, topic: str
) -> None:
    with pytest.raises(Exception, match=message):
        encode_one(layout_of(columns, FormatUse(name), topic=topic, registry=access), (None,))


def test_null_inside_of_an_array_is_refused_by_protobuf(access: RegistryAccess, topic: str) -> None:
    layout = layout_of({"A": Array(BOOLEAN)}, FormatUse("PROTOBUF"), topic=topic, registry=access)
    with pytest.raises(ValueError, match="An array holds NULL"):
        encode_one(layout, ([True, None],))


def test_a_worker_asks_anew_for_the_schema_of_another_query(
    access: RegistryAccess, client: RegistryClient, topic: str
) -> None:
    """Somebody may have deleted the subject of the former one."""
    # A name that no other subject has: the schema goes with this one.
    layout = layout_of({f"C_{topic[-8:].upper()}": INTEGER}, FormatUse("AVRO"), topic=topic, registry=access)
    (former,) = encoder_of(layout, "CSAS_A_1")([(1,)])
    for permanent in (False, True):
        client.delete(f"{topic}-value", permanent=permanent)
    (written,) = encoder_of(layout, "CSAS_A_2")([(1,)])
    assert written is not None
    assert former != written
    assert struct.unpack(">I", written[1:5]) == (client.version(f"{topic}-value").id,)
