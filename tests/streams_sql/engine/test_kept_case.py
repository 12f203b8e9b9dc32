"""Records whose fields have the names that statements have written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.catalogue.schema_texts import read_schema, schema_texts
from streams_sql.formats.library import encoder_of, format_of
from streams_sql.formats.serde import Layout
from streams_sql.formats.spelling import written_layout
from streams_sql.sources import Column, InferredSchema, Source
from streams_sql.sql_types import STRING, Field, Struct
from tests.streams_sql.engine.catalogues import Statements

KEPT = {"sql.names.keep.case": "true"}
ORDERS = (
    "CREATE STREAM O (orderId STRING KEY, shipTo STRUCT<streetName STRING, `Zip-Code` STRING>, lineItems ARRAY<STRUCT<skuId INT>>, "
    "attrs MAP<STRING, STRUCT<v1x STRING>>, `asIs` INT) WITH (KAFKA_TOPIC='o', VALUE_FORMAT='{format}');"
)
ROW = (
    {"STREETNAME": "Elm", "Zip-Code": "1"},
    [{"SKUID": 1}, None],
    {"k": {"V1X": "x"}},
    3,
)


def layout(source: Source) -> Layout:
    return Layout(source.value_format, source.schema.value, source.topic, is_key=False)


def written(source: Source, row: tuple[Any, ...]) -> Any:
    (raw,) = encoder_of(layout(source))([row])
    assert raw is not None
    # What was written is read, whatever the case of names.
    assert format_of(source.value_format.name).decoder(layout(source))([raw]) == [row]
    return json.loads(raw)


@pytest.fixture
def statements() -> Statements:
    made = Statements()
    made.apply(ORDERS.format(format="JSON"), properties=KEPT)
    return made


def test_columns_and_fields_of_a_declared_stream(statements: Statements) -> None:
    assert written(statements.catalogue.sources["O"], ROW) == {
        "shipTo": {"streetName": "Elm", "Zip-Code": "1"},
        "lineItems": [{"skuId": 1}, None],
        "attrs": {"k": {"v1x": "x"}},
        "asIs": 3,
    }


def test_without_the_property_names_are_in_capitals() -> None:
    statements = Statements(ORDERS.format(format="JSON"))
    found = written(statements.catalogue.sources["O"], ROW)
    assert list(found) == ["SHIPTO", "LINEITEMS", "ATTRS", "asIs"]
    assert found["SHIPTO"] == {"STREETNAME": "Elm", "Zip-Code": "1"}


@pytest.mark.parametrize(
    ("select", "names"),
    [
        ("*", ["shipTo", "lineItems", "attrs", "asIs"]),
        ("orderId, SHIPTO, `asIs` AS howMany, `asIs` AS `As It`", ["SHIPTO", "howMany", "As It"]),
        ('orderId, shipTo->streetName, shipTo AS "X", 1', ["streetName", "X", "KSQL_COL_0"]),
        ("orderId, O.shipto, UCASE(orderId) upperId", ["shipto", "upperId"]),
    ],
)
def test_columns_of_a_query(statements: Statements, select: str, names: list[str]) -> None:
    started = statements.apply(f"CREATE STREAM X AS SELECT {select} FROM O;", properties=KEPT).started
    assert started is not None
    assert [column.name for column in written_layout(layout(started.plan.sink)).columns] == names


def test_structs_that_are_selected_keep_their_fields(statements: Statements) -> None:
    started = statements.apply("CREATE STREAM X AS SELECT orderId, shipTo AS target FROM O;", properties=KEPT).started
    assert started is not None
    assert written(started.plan.sink, (ROW[0],)) == {"target": {"streetName": "Elm", "Zip-Code": "1"}}


def test_types_and_added_columns(statements: Statements) -> None:
    statements.apply("CREATE TYPE PLACE AS STRUCT<cityName STRING>;")
    statements.apply("CREATE STREAM P (homeTown PLACE) WITH (KAFKA_TOPIC='p', VALUE_FORMAT='JSON');", properties=KEPT)
    statements.apply("ALTER STREAM P ADD birthPlace PLACE;")
    row = ({"CITYNAME": "Ulm"}, None)
    assert written(statements.catalogue.sources["P"], row) == {"homeTown": {"cityName": "Ulm"}, "birthPlace": None}


def test_columns_that_the_registry_gave_keep_their_names_in_the_command_topic() -> None:
    inner = Struct((Field("CITYNAME", STRING, "cityName"), Field("FROM", STRING, "from"), Field("a b", STRING, "a b")))
    schema = InferredSchema(None, (Column("HOMETOWN", inner, "homeTown"), Column("ODD", STRING)))
    found = read_schema(Command.decode(Command("", schema=schema_texts(schema)).encode()).schema)
    assert found == schema
    assert found is not None
    assert found.value is not None
    home, odd = found.value
    assert isinstance(home.type, Struct)
    assert (home.written, [field.written for field in home.type.fields]) == ("homeTown", ["cityName", "FROM", "a b"])
    assert odd.written == "ODD"
