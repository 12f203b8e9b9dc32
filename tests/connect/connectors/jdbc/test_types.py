"""What the types of each database are in records."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    DECIMAL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    Type,
    array_of,
)
from connect.errors import ConnectError
from tests.connect.connectors.jdbc.reading import Task, jdbc_source, offsets_after, read_once, records_of
from tests.connect.connectors.jdbc.sample_database import SampleDatabase


def decimal(scale: int, precision: int) -> Schema:
    parameters = (("scale", str(scale)), ("connect.decimal.precision", str(precision)))
    return Schema(Type.BYTES, name=DECIMAL, version=1, parameters=parameters)


MOMENT = datetime(2024, 5, 31, 12, 30, 15, 123456, UTC)

# The type in the database, the value in SQL, the schema and the value in a record.
Case = tuple[str, str, Schema, Any]
CASES: dict[str, list[Case]] = {
    "postgresql": [
        ("smallint", "-1", INT16, -1),
        ("integer", "2", INT32, 2),
        ("bigint", "3", INT64, 3),
        ("real", "1.5", FLOAT32, 1.5),
        ("double precision", "2.5", FLOAT64, 2.5),
        ("boolean", "true", BOOLEAN, True),
        ("numeric(10,2)", "12.30", decimal(2, 10), Decimal("12.30")),
        ("numeric", "0.000000001", STRING, "0.000000001"),
        ("varchar(10)", "'a'", STRING, "a"),
        ("char(3)", "'a'", STRING, "a  "),
        ("text", "'ü'", STRING, "ü"),
        ("bytea", r"'\x00ff'", BYTES, b"\x00\xff"),
        ("date", "'2024-05-31'", DATE_SCHEMA, date(2024, 5, 31)),
        ("time", "'12:30:15.123456'", TIME_SCHEMA, time(12, 30, 15, 123456)),
        ("timestamp", "'2024-05-31 12:30:15.123456'", TIMESTAMP_SCHEMA, MOMENT),
        ("timestamptz", "'2024-05-31 14:30:15.123456+02'", TIMESTAMP_SCHEMA, MOMENT),
        ("timetz", "'12:30:15+02'", STRING, "12:30:15+02"),
        ("interval", "'1 month 2 days'", STRING, "1 mon 2 days"),
        ("uuid", "'8a6e0804-2bd0-4672-b79d-d97027f9071a'", STRING, "8a6e0804-2bd0-4672-b79d-d97027f9071a"),
        ("json", """'{"a": [1]}'""", STRING, '{"a": [1]}'),
        ("jsonb", """'{"a":1}'""", STRING, '{"a": 1}'),
        ("xml", "'<a/>'", STRING, "<a/>"),
        ("inet", "'10.0.0.1'", STRING, "10.0.0.1"),
        ("bit(1)", "B'1'", BOOLEAN, True),
        ("bit varying(4)", "B'101'", STRING, "101"),
        ("int4range", "'[1,5)'", STRING, "[1,5)"),
        ("integer[]", "'{1,NULL,3}'", array_of(INT32.as_optional()), [1, None, 3]),
        ("text[]", "'{a,b}'", array_of(STRING.as_optional()), ["a", "b"]),
        ("timestamp[]", "'{2024-05-31 12:30:15.123456}'", array_of(TIMESTAMP_SCHEMA.as_optional()), [MOMENT]),
        ("jsonb[]", """ARRAY['{"a": 1}']::jsonb[]""", array_of(STRING.as_optional()), ['{"a": 1}']),
    ],
    "mariadb": [
        ("tinyint", "-1", INT8, -1),
        ("boolean", "true", INT8, 1),
        ("tinyint unsigned", "255", INT16, 255),
        ("smallint unsigned", "65535", INT32, 65535),
        ("mediumint", "5", INT32, 5),
        ("int", "-5", INT32, -5),
        ("int unsigned", "4294967295", INT64, 4294967295),
        ("bigint unsigned", "6", INT64, 6),
        ("float", "1.5", FLOAT32, 1.5),
        ("double", "2.5", FLOAT64, 2.5),
        ("decimal(10,2)", "12.30", decimal(2, 10), Decimal("12.30")),
        ("varchar(10)", "'ü'", STRING, "ü"),
        ("longtext", "'a'", STRING, "a"),
        ("varbinary(10)", "x'00ff'", BYTES, b"\x00\xff"),
        ("blob", "x'00ff'", BYTES, b"\x00\xff"),
        ("date", "'2024-05-31'", DATE_SCHEMA, date(2024, 5, 31)),
        ("time(6)", "'12:30:15.123456'", TIME_SCHEMA, time(12, 30, 15, 123456)),
        ("datetime(6)", "'2024-05-31 12:30:15.123456'", TIMESTAMP_SCHEMA, MOMENT),
        ("timestamp(6)", "'2024-05-31 12:30:15.123456'", TIMESTAMP_SCHEMA, MOMENT),
        ("year", "2024", INT32, 2024),
        ("bit(1)", "b'1'", INT8, 1),
        ("bit(16)", "b'100000001'", BYTES, b"\x01\x01"),
        ("enum('a','b')", "'b'", STRING, "b"),
        ("json", """'{"a": 1}'""", STRING, '{"a": 1}'),
        ("uuid", "'8a6e0804-2bd0-4672-b79d-d97027f9071a'", STRING, "8a6e0804-2bd0-4672-b79d-d97027f9071a"),
        ("inet6", "'::1'", STRING, "::1"),
    ],
    "sqlite": [
        ("integer", "9007199254740993", INT64, 9007199254740993),
        ("bigint", "3", INT64, 3),
        ("boolean", "1", BOOLEAN, True),
        ("real", "1", FLOAT64, 1.0),
        ("double", "2.5", FLOAT64, 2.5),
        ("decimal(10,2)", "12.3", decimal(2, 10), Decimal("12.30")),
        ("numeric", "1.5", STRING, "1.5"),
        ("text", "'ü'", STRING, "ü"),
        ("blob", "x'00ff'", BYTES, b"\x00\xff"),
        ("date", "'2024-05-31'", DATE_SCHEMA, date(2024, 5, 31)),
        ("time", "'12:30:15'", TIME_SCHEMA, time(12, 30, 15)),
        ("timestamp", "'2024-05-31 12:30:15.123456'", TIMESTAMP_SCHEMA, MOMENT),
        ("timestamp", "'2024-05-31T14:30:15.123456+02:00'", TIMESTAMP_SCHEMA, MOMENT),
        ("datetime", "1717158615123", TIMESTAMP_SCHEMA, MOMENT.replace(microsecond=123000)),
        ("json", """'{"a":1}'""", STRING, '{"a":1}'),
        ("", "7", INT64, 7),
    ],
    "duckdb": [
        ("tinyint", "1", INT16, 1),
        ("integer", "2", INT32, 2),
        ("uinteger", "4294967295", INT64, 4294967295),
        ("hugeint", "170141183460469231731687303715884105727", decimal(0, 39), Decimal(2**127 - 1)),
        ("float", "1.5", FLOAT32, 1.5),
        ("decimal(10,2)", "12.30", decimal(2, 10), Decimal("12.30")),
        ("boolean", "true", BOOLEAN, True),
        ("varchar", "'ü'", STRING, "ü"),
        ("blob", r"'\x00\xff'::blob", BYTES, b"\x00\xff"),
        ("date", "'2024-05-31'", DATE_SCHEMA, date(2024, 5, 31)),
        ("timestamp", "'2024-05-31 12:30:15.123456'", TIMESTAMP_SCHEMA, MOMENT),
        ("uuid", "'8a6e0804-2bd0-4672-b79d-d97027f9071a'", STRING, "8a6e0804-2bd0-4672-b79d-d97027f9071a"),
        ("integer[]", "[1, NULL]", array_of(INT32.as_optional()), [1, None]),
        ("struct(a integer)", "{'a': 1}", STRING, '{"a":1}'),
        ("json", """'{"a":1}'""", STRING, '{"a":1}'),
    ],
}


@pytest.fixture(params=list(CASES))
def typed(request: pytest.FixtureRequest) -> tuple[SampleDatabase, list[Case]]:
    fixture = {"mariadb": "maria"}.get(request.param, request.param)
    return request.getfixturevalue(fixture), CASES[request.param]


def test_each_type_has_a_schema_and_a_value(typed: tuple[SampleDatabase, list[Case]]) -> None:
    database, cases = typed
    columns = ", ".join(f"c{at} {kind}" for at, (kind, *_) in enumerate(cases))
    values = ", ".join(value for _, value, *_ in cases)
    nulls = ", ".join("NULL" for _ in cases)
    database.execute(f"CREATE TABLE t ({columns})")
    database.execute(f"INSERT INTO t VALUES ({values})", f"INSERT INTO t VALUES ({nulls})")
    first, second = records_of(read_once(jdbc_source(database, "bulk")))
    schema = first.value_schema
    assert schema is not None
    found = [(field.schema, first.value[field.name]) for field in schema.fields]
    assert found == [(expected.as_optional(), value) for _, _, expected, value in cases]
    assert set(second.value.values()) == {None}


# The types in the database with a value each, and the schemas that follow from each mapping.
NUMBERS = {"numeric(18,2)": "12.34", "numeric(9,0)": "7", "numeric(20,0)": "8", "numeric": "1.50"}
MAPPED = {
    "none": [decimal(2, 18), decimal(0, 9), decimal(0, 20), STRING],
    "precision_only": [decimal(2, 18), INT32, decimal(0, 20), STRING],
    "best_fit": [FLOAT64, INT32, decimal(0, 20), STRING],
    "best_fit_eager_double": [FLOAT64, INT32, decimal(0, 20), FLOAT64],
}
PYTHON_TYPES = {Type.INT32: int, Type.FLOAT64: float, Type.BYTES: Decimal, Type.STRING: str}


def test_numbers_are_mapped_as_settings_say(postgresql: SampleDatabase) -> None:
    columns = ", ".join(f"c{at} {kind} NOT NULL" for at, kind in enumerate(NUMBERS))
    postgresql.execute(f"CREATE TABLE t ({columns})", f"INSERT INTO t VALUES ({', '.join(NUMBERS.values())})")
    for mapping, expected in MAPPED.items():
        (record,) = records_of(read_once(jdbc_source(postgresql, "bulk", numeric_mapping=mapping)))
        assert record.value_schema is not None
        assert [field.schema for field in record.value_schema.fields] == expected
        assert [type(value) for value in record.value.values()] == [PYTHON_TYPES[each.type] for each in expected]


@pytest.mark.parametrize(
    ("granularity", "schema", "value"),
    [
        ("connect_logical", TIMESTAMP_SCHEMA, MOMENT),
        ("micros_long", INT64, 1717158615123456),
        ("micros_string", STRING, "1717158615123456"),
        ("micros_iso_datetime_string", STRING, "2024-05-31T14:30:15.123456"),
        ("nanos_long", INT64, 1717158615123456000),
        ("nanos_string", STRING, "1717158615123456000"),
        ("nanos_iso_datetime_string", STRING, "2024-05-31T14:30:15.123456000"),
    ],
)
def test_times_are_in_the_zone_and_the_form_that_settings_say(
    sqlite: SampleDatabase, granularity: str, schema: Schema, value: Any
) -> None:
    sqlite.execute("CREATE TABLE t (at TIMESTAMP NOT NULL)", "INSERT INTO t VALUES ('2024-05-31 14:30:15.123456')")
    source = jdbc_source(
        sqlite, "timestamp", timestamp_column_name="at", timestamp_granularity=granularity, db_timezone="Europe/Berlin"
    )
    (batch,) = read_once(source)
    (record,) = batch.records
    assert record.value_schema is not None
    assert (record.value_schema.fields[0].schema, record.value["at"]) == (schema, value)
    assert batch.offsets[0].offset == {"timestamp": 1717158615123, "timestamp_nanos": 123456000}


def test_times_without_a_zone_are_compared_in_the_zone_of_the_database(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events([(1, 10)])
    source = jdbc_source(database, "timestamp", timestamp_column_name="at", db_timezone="America/New_York")
    (batch,) = read_once(source)
    assert batch.records[0].value["at"] == datetime(2024, 5, 31, 16, 0, 10, tzinfo=UTC)
    assert read_once(source, offsets_after([batch])) == []


def test_a_query_knows_times_with_a_zone_from_those_without(postgresql: SampleDatabase) -> None:
    postgresql.execute("CREATE TABLE t (at TIMESTAMPTZ NOT NULL)", "INSERT INTO t VALUES ('2024-05-31 12:00:00Z')")
    source = jdbc_source(
        postgresql, "timestamp", query="SELECT * FROM t", timestamp_column_name="at", db_timezone="America/New_York"
    )
    task = Task(source)
    assert task.values("at") == [datetime(2024, 5, 31, 12, tzinfo=UTC)]
    postgresql.execute("INSERT INTO t VALUES ('2024-05-31 12:00:01Z')")
    assert task.values("at") == [datetime(2024, 5, 31, 12, 0, 1, tzinfo=UTC)]
    task.close()


def test_times_that_python_does_not_know_are_the_nearest_that_it_knows(postgresql: SampleDatabase) -> None:
    postgresql.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, d DATE, a TIMESTAMP, z TIMESTAMPTZ)",
        "INSERT INTO t VALUES (1, '2024-05-31', '2024-05-31', '2024-05-31'), (2, 'infinity', 'infinity', 'infinity'), "
        "(3, '-infinity', '0044-03-15 BC', '-infinity'), (4, '10000-01-01', '10000-01-01', NULL)",
    )
    first, *others = records_of(read_once(jdbc_source(postgresql, "incrementing", batch_max_rows=1)))
    least, most = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    assert first.value["z"] == datetime(2024, 5, 31, tzinfo=UTC)
    assert [tuple(record.value.values()) for record in others] == [
        (2, date.max, most, most),
        (3, date.min, least, least),
        (4, date.max, most, None),
    ]


def test_columns_of_one_name_are_refused(sqlite: SampleDatabase) -> None:
    sqlite.create_events()
    with pytest.raises(ConnectError, match="more than one column a: give them different names"):
        read_once(jdbc_source(sqlite, "bulk", query="SELECT 1 AS a, 2 AS a"))


def test_the_types_of_a_query_are_those_of_its_columns(typed: tuple[SampleDatabase, list[Case]]) -> None:
    """A query tells less than a table, but never another kind of value."""
    database, cases = typed
    columns = ", ".join(f"c{at} {kind}" for at, (kind, *_) in enumerate(cases))
    database.execute(
        f"CREATE TABLE t ({columns})", f"INSERT INTO t VALUES ({', '.join(value for _, value, *_ in cases)})"
    )
    (record,) = records_of(read_once(jdbc_source(database, "bulk", query="SELECT * FROM t")))
    plainer = {("mariadb", "bit(1)"): b"\x01", ("postgresql", "bit(1)"): "1"}
    expected = [(kind, plainer.get((database.kind, kind), value)) for kind, _, _, value in cases]
    assert list(zip((kind for kind, *_ in cases), record.value.values(), strict=True)) == expected


def test_a_row_that_cannot_be_converted_is_rejected_alone(sqlite: SampleDatabase) -> None:
    sqlite.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at TIMESTAMP)",
        "INSERT INTO t VALUES (1, '2024-05-31'), (2, 'yesterday'), (3, NULL)",
    )
    (batch,) = read_once(jdbc_source(sqlite, "incrementing"))
    assert [record.value["id"] for record in batch.records] == [1, 3]
    (rejected,) = batch.rejected
    assert (rejected.topic, rejected.data) == ("db-t", b'{"id":2,"at":"yesterday"}')
    assert rejected.reason.startswith("column at: ")
