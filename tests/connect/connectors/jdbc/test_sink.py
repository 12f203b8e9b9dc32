"""The modes of the sink, on each kind of database."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import inspect

from connect.api.record import Record
from connect.connectors.jdbc.writing.fields import COORDINATES
from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
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
    decimal,
    struct,
)
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.connectors.jdbc.writing import (
    BIG,
    BY_KEY,
    ORDER,
    TOPIC,
    jdbc_sink,
    order,
    plain,
    record,
    rows,
    tombstone,
    write,
)

AT = datetime(2024, 5, 31, 12, 30, 15, 123000, tzinfo=UTC)
NAIVE = AT.replace(tzinfo=None)
HARD_TEXTS = [
    "",
    "tab\there",
    "line\nbreak\r\n",
    "back\\slash \\N \\. \\t",
    'it\'s "quoted" `so`',
    "%s %% ${x}",
    "日本 🐦",
    "a,b;c",
]


@pytest.mark.parametrize(("mode", "count"), [("insert", 3), ("multi", BIG)])
def test_insert_makes_rows(any_database: SampleDatabase, mode: str, count: int) -> None:
    with jdbc_sink(any_database, auto_create=True, insert_mode=mode, batch_size=100) as sink:
        write(sink, [order(number, None if number == 2 else f"item {number}") for number in range(count)])
        write(sink, [order(count)])
        write(sink, [])
    expected = [(number, None if number == 2 else f"item {number}", 1.5) for number in range(count)]
    assert rows(any_database) == [*expected, (count, "x", 1.5)]


@pytest.mark.parametrize("count", [5, BIG])
def test_upsert_writes_the_last_of_each_key(any_database: SampleDatabase, count: int) -> None:
    with jdbc_sink(any_database, BY_KEY, insert_mode="upsert") as sink:
        write(sink, [order(number, f"{turn}") for turn in range(3) for number in range(count)])
        assert rows(any_database) == [(number, "2", 1.5) for number in range(count)]
        write(sink, [order(number, "again", None) for number in (0, 2, count)])
    expected = dict.fromkeys(range(count), ("2", 1.5)) | dict.fromkeys((0, 2, count), ("again", None))
    assert rows(any_database) == [(number, *rest) for number, rest in sorted(expected.items())]


@pytest.mark.parametrize("count", [5, BIG])
def test_update_changes_the_rows_that_exist(any_database: SampleDatabase, count: int) -> None:
    with jdbc_sink(any_database, BY_KEY) as sink:
        write(sink, [order(number) for number in range(count)])
    with jdbc_sink(any_database, BY_KEY, insert_mode="update") as sink:
        write(sink, [order(number, f"{turn}") for turn in range(2) for number in range(1, count + 10)])
    assert rows(any_database) == [(0, "x", 1.5), *((number, "1", 1.5) for number in range(1, count))]


@pytest.mark.parametrize("spread", [2, 150])
@pytest.mark.parametrize("mode", ["upsert", "update", "insert"])
def test_changes_and_deletions_of_a_key_keep_their_order(any_database: SampleDatabase, mode: str, spread: int) -> None:
    chance = random.Random(7)
    expected: dict[int, str] = {}
    with jdbc_sink(any_database, BY_KEY, insert_mode=mode, delete_enabled=True) as sink:
        with jdbc_sink(any_database, BY_KEY) as creator:
            write(creator, [order(-1, "0")])
        expected[-1] = "0"
        for _ in range(4):
            batch: list[Record] = []
            for place in range(400 if spread > 2 else 12):
                number = chance.randrange(-1, spread)
                if chance.random() < 0.4:
                    batch.append(tombstone(number))
                    expected.pop(number, None)
                elif mode == "upsert" or (number in expected) == (mode == "update"):
                    batch.append(order(number, f"{place}"))
                    expected[number] = f"{place}"
            write(sink, batch)
            assert dict(rows(any_database, "id, item")) == expected


def test_a_row_that_was_deleted_and_written_again_has_nothing_of_the_old_one(database: SampleDatabase) -> None:
    database.execute(f"CREATE TABLE {TOPIC} (id BIGINT PRIMARY KEY, item VARCHAR(10), price FLOAT, note VARCHAR(10))")
    database.execute(f"INSERT INTO {TOPIC} VALUES (1, 'a', 1, 'old'), (2, 'b', 1, 'old')")
    with jdbc_sink(database, BY_KEY, insert_mode="upsert", delete_enabled=True) as sink:
        write(sink, [tombstone(1), order(1, "new"), order(2, "new")])
    assert rows(database, "id, item, note") == [(1, "new", None), (2, "new", "old")]


EVERYTHING: list[tuple[str, Schema, Any]] = [
    ("int8", INT8, -5),
    ("int16", INT16, 300),
    ("int32", INT32, 70_000),
    ("int64", INT64, 1 << 40),
    ("float32", FLOAT32, 0.5),
    ("float64", FLOAT64, 1e300),
    ("boolean", BOOLEAN, True),
    ("text", STRING, "grüße"),
    ("data", BYTES, b"\x00\xff\\'\n"),
    ("number", decimal(2), Decimal("12345.67")),
    ("day", DATE_SCHEMA, AT.date()),
    ("clock", TIME_SCHEMA, time(1, 2, 3, 4000)),
    ("moment", TIMESTAMP_SCHEMA, AT),
]


@pytest.mark.parametrize("count", [1, BIG])
def test_every_type_can_be_made_and_written(any_database: SampleDatabase, count: int) -> None:
    fields = [("id", INT64), *((name, schema.as_optional()) for name, schema, _ in EVERYTHING)]
    schema = struct(*fields)
    values = {name: value for name, _, value in EVERYTHING}
    with jdbc_sink(any_database, BY_KEY, {"pk.mode": "record_value", "pk.fields": "id"}, insert_mode="upsert") as sink:
        write(sink, [record(schema, {"id": number, **values}) for number in range(count)])
        write(sink, [record(schema, {"id": count})])
    names = ", ".join(any_database.quoted(name) for name, _, _ in EVERYTHING)
    first, *_, last = (row[1:] for row in rows(any_database, f"id, {names}"))
    assert last == (None,) * len(EVERYTHING)
    expected = [NAIVE if name == "moment" else value for name, _, value in EVERYTHING]
    if any_database.kind == "sqlite":
        expected[-4:] = [12345.67, "2024-05-31", "01:02:03.004000", "2024-05-31 12:30:15.123000"]
    if any_database.kind == "mariadb":
        first = (*first[:-2], (NAIVE.replace(hour=0, minute=0, second=0, microsecond=0) + first[-2]).time(), first[-1])
    assert list(first) == expected


def test_text_stays_what_it_is(any_database: SampleDatabase) -> None:
    _let_hold_all_text(any_database)
    texts = HARD_TEXTS * 40
    with jdbc_sink(any_database, BY_KEY, insert_mode="upsert") as sink:
        write(sink, [order(number, text) for number, text in enumerate(HARD_TEXTS)])
        write(sink, [order(number, text) for number, text in enumerate(texts)])
    assert [row[1] for row in rows(any_database)] == texts


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_times_are_written_as_a_clock_of_the_database_shows_them(database: SampleDatabase, zone: str) -> None:
    database.execute(
        f"CREATE TABLE {TOPIC} (id INT, moment {'DATETIME(3)' if database.kind == 'mariadb' else 'TIMESTAMP'})"
    )
    schema = struct(("id", INT32), ("moment", TIMESTAMP_SCHEMA))
    with jdbc_sink(database, db_timezone=zone) as sink:
        write(sink, [record(schema, {"id": 1, "moment": AT})])
        write(
            sink,
            [plain({"id": 2, "moment": int(AT.timestamp() * 1000)}), plain({"id": 3, "moment": "2024-01-01 00:00:00"})],
        )
    hour = 14 if zone == "Europe/Berlin" else 12
    found = [
        row[1] if isinstance(row[1], datetime) else datetime.fromisoformat(row[1])
        for row in rows(database, "id, moment")
    ]
    assert found == [NAIVE.replace(hour=hour), NAIVE.replace(hour=hour), datetime(2024, 1, 1)]  # noqa: DTZ001


def test_a_time_that_sessions_see_in_their_own_zones_is_written_in_ours(maria: SampleDatabase) -> None:
    maria.execute(f"CREATE TABLE {TOPIC} (id INT, moment TIMESTAMP(3) NULL)")
    with jdbc_sink(maria, db_timezone="Europe/Berlin") as sink:
        write(sink, [record(struct(("id", INT32), ("moment", TIMESTAMP_SCHEMA)), {"id": 1, "moment": AT})])
    assert rows(maria, "id, UNIX_TIMESTAMP(moment)") == [(1, Decimal(str(AT.timestamp())))]


@pytest.mark.parametrize(("unit", "factor"), [("microseconds", 1), ("nanoseconds", 1000)])
def test_numbers_may_be_times(database: SampleDatabase, unit: str, factor: int) -> None:
    schema = struct(("id", INT32), ("at", INT64))
    choice = {"timestamp.fields.list": "at", "timestamp.precision.mode": unit}
    with jdbc_sink(database, choice, auto_create=True) as sink:
        write(sink, [record(schema, {"id": 1, "at": int(AT.timestamp() * 1000) * 1000 * factor})])
    ((_, found),) = rows(database, f"id, {database.quoted('at')}")
    assert str(found).startswith("2024-05-31 12:30:15.123")


KEYS: list[tuple[dict[str, str], list[Record], list[str]]] = [
    ({"pk.mode": "kafka"}, [order(1, at=5)], list(COORDINATES)),
    ({"pk.mode": "kafka", "pk.fields": "a,b,c"}, [order(1, at=5)], ["a", "b", "c"]),
    ({"pk.mode": "record_key"}, [order(1)], ["id"]),
    ({"pk.mode": "record_key", "pk.fields": "k"}, [order(1)._replace(key=7, key_schema=INT64)], ["k"]),
    ({"pk.mode": "record_key", "pk.fields": "k"}, [plain({"v": 1}, "text")], ["k"]),
    ({"pk.mode": "record_key"}, [plain({"v": 1}, {"a": 1, "b": 2})], ["a", "b"]),
    ({"pk.mode": "record_key", "pk.fields": "b"}, [plain({"v": 1}, {"a": 1, "b": 2})], ["b"]),
    ({"pk.mode": "record_value", "pk.fields": "item,id"}, [order(1)], ["item", "id"]),
    ({"pk.mode": "record_value"}, [order(1)], ["id", "item", "price"]),
]


def test_the_primary_key_comes_from_where_the_settings_say(database: SampleDatabase) -> None:
    for number, (settings, records, columns) in enumerate(KEYS):
        table = f"table_{number}"
        with jdbc_sink(database, settings, auto_create=True, insert_mode="upsert", table_name_format=table) as sink:
            write(sink, records)
            write(sink, records)
        assert len(rows(database, "*", table)) == 1
        assert primary_key(database, table) == columns, settings


def primary_key(database: SampleDatabase, table: str) -> list[str]:
    with database.connect() as connection:
        return list(inspect(connection).get_pk_constraint(table)["constrained_columns"])


def test_json_without_schema_makes_a_table_and_new_columns(any_database: SampleDatabase) -> None:
    with jdbc_sink(any_database, auto_create=True, auto_evolve=True) as sink:
        write(sink, [plain({"id": 1, "price": 1}), plain({"price": 2.5, "id": 2, "item": "b"})])
        write(sink, [plain({"id": 3, "new": True, "tags": "t"})])
    assert rows(any_database) == [(1, None, 1.0), (2, "b", 2.5), (3, None, None)]
    assert rows(any_database, "id, new, tags")[-1] == (3, True, "t")


def test_json_without_schema_goes_into_the_columns_of_a_table(database: SampleDatabase) -> None:
    database.execute(f"CREATE TABLE {TOPIC} (id INT PRIMARY KEY, item VARCHAR(200), price DECIMAL(10, 2))")
    by_value = {"pk.mode": "record_value", "pk.fields": "id", "insert.mode": "upsert"}
    with jdbc_sink(database, by_value) as sink:
        write(
            sink,
            [
                plain({"id": 1, "item": "a", "price": 1}),
                plain({"id": 2, "price": "2.50"}),
                plain({"id": 1, "price": 3}),
            ],
        )
        write(sink, [plain({"id": 3, "item": {"nested": [1, None]}})])
    found = [(number, item, None if price is None else float(price)) for number, item, price in rows(database)]
    assert found == [(1, "a", 3.0), (2, None, 2.5), (3, '{"nested":[1,null]}', None)]


def test_a_new_field_gets_a_column_if_old_rows_can_do_without(any_database: SampleDatabase) -> None:
    newer = struct(("id", INT64), ("item", STRING.as_optional()), ("size", Schema(Type.INT32, default=7)))
    with jdbc_sink(any_database, BY_KEY, auto_evolve=True, insert_mode="upsert") as sink:
        write(
            sink,
            [order(1), order(2)._replace(value_schema=newer, value={"id": 2, "item": "n", "size": None}), order(3)],
        )
    assert rows(any_database, "id, item, price, size") == [(1, "x", 1.5, 7), (2, "n", None, 7), (3, "x", 1.5, 7)]


def test_null_may_stay_null(database: SampleDatabase) -> None:
    schema = struct(("id", INT64), ("item", Schema(Type.STRING, optional=True, default="d")))
    with jdbc_sink(database, auto_create=True, replace_null_with_default=False) as sink:
        write(sink, [record(schema, {"id": 1, "item": None})])
    with jdbc_sink(database) as sink:
        write(sink, [record(schema, {"id": 2, "item": None})])
    assert rows(database, "id, item") == [(1, None), (2, "d")]


def test_only_wanted_fields_are_written(database: SampleDatabase) -> None:
    with jdbc_sink(database, BY_KEY, fields_whitelist="price") as sink:
        write(sink, [order(1)])
    assert rows(database, "*") == [(1, 1.5)]


def test_plain_text_is_one_column(database: SampleDatabase) -> None:
    with jdbc_sink(database, auto_create=True) as sink:
        write(sink, [record(STRING, "line")])
    with jdbc_sink(
        database, auto_create=True, table_name_format="other", string_output_value_column_name="line"
    ) as sink:
        write(sink, [record(STRING, "line")])
    assert rows(database, "record_value") == [("line",)]
    assert rows(database, "line", "other") == [("line",)]


def test_topics_have_tables_of_their_own(database: SampleDatabase) -> None:
    schema = "main." if database.kind in ("sqlite", "duckdb") else "public." if database.kind == "postgresql" else ""
    with jdbc_sink(database, auto_create=True, table_name_format=f"{schema}of_${{topic}}") as sink:
        write(sink, [order(1), order(2)._replace(topic="a"), order(3)])
    assert rows(database, "id", "of_orders") == [(1,), (3,)]
    assert rows(database, "id", "of_a") == [(2,)]


def test_odd_names_are_quoted(database: SampleDatabase) -> None:
    schema = struct(("the id", INT64), ("50%s", STRING), ("SELECT", STRING))
    value = {"the id": 1, "50%s": "a", "SELECT": "b"}
    keys = {"pk.mode": "record_value", "pk.fields": "the id", "insert.mode": "upsert"}
    with jdbc_sink(database, keys, auto_create=True, auto_evolve=True, table_name_format="odd 100%") as sink:
        write(sink, [record(schema, value)])
        write(sink, [record(schema, {**value, "the id": number}) for number in range(BIG)])
    names, table = ", ".join(map(database.quoted, value)), database.quoted("odd 100%")
    assert rows(database, names, table) == [(number, "a", "b") for number in range(BIG)]


def test_names_without_quotes_are_left_to_the_database(postgresql: SampleDatabase) -> None:
    with jdbc_sink(postgresql, auto_create=True, quote_sql_identifiers="never", table_name_format="MixedCase") as sink:
        write(sink, [order(1)])
        write(sink, [order(2)])
    assert rows(postgresql, table="mixedcase") == [(1, "x", 1.5), (2, "x", 1.5)]


def test_arrays_go_into_arrays(postgresql: SampleDatabase) -> None:
    schema = struct(("id", INT64), ("tags", array_of(STRING.as_optional())), ("days", array_of(DATE_SCHEMA)))
    tags = ["a", None, 'q"\\', "", "{x}"]
    with jdbc_sink(postgresql, auto_create=True) as sink:
        write(sink, [record(schema, {"id": 1, "tags": tags, "days": [date(2024, 1, 2)]})])
    assert rows(postgresql, "*") == [(1, tags, [date(2024, 1, 2)])]


def test_types_that_only_the_server_knows(postgresql: SampleDatabase) -> None:
    postgresql.execute(
        "CREATE TYPE mood AS ENUM ('happy', 'sad')",
        f"CREATE TABLE {TOPIC} (id UUID PRIMARY KEY, feeling mood, more JSONB, at TIMESTAMPTZ, place INET)",
    )
    value = {
        "id": "00000000-0000-0000-0000-00000000000{}",
        "feeling": "sad",
        "more": {"a": [1]},
        "at": AT,
        "place": "10.0.0.1",
    }
    keys = {"pk.mode": "record_value", "pk.fields": "id", "insert.mode": "upsert"}
    for count in (1, BIG):
        with jdbc_sink(postgresql, keys, db_timezone="Asia/Tokyo") as sink:
            write(sink, [plain(value | {"id": f"{number:032x}"}) for number in range(count)])
    assert rows(postgresql, "COUNT(*), MIN(at), MIN(more->'a'->>0), MIN(feeling)") == [(BIG, AT, "1", "sad")]


def test_a_file_of_rows_is_sent_where_that_is_allowed(maria: SampleDatabase) -> None:
    _let_hold_all_text(maria)
    maria.execute(
        f"CREATE TABLE {TOPIC} (id BIGINT PRIMARY KEY, item VARCHAR(300), price DOUBLE, ok BOOLEAN, data BLOB)"
    )
    schema = struct(
        *((field.name, field.schema) for field in ORDER.fields), ("ok", BOOLEAN), ("data", BYTES.as_optional())
    )
    values = [
        {
            "id": number,
            "item": HARD_TEXTS[number % len(HARD_TEXTS)],
            "price": 0.1,
            "ok": True,
            "data": b"\0\t" if number % 2 else None,
        }
        for number in range(1000)
    ]
    with jdbc_sink(f"{maria.url}&allowLoadLocalInfile=true") as sink:
        write(sink, [record(schema, value) for value in values])
        assert rows(maria, "*") == [tuple(value.values()) for value in values]
        # The server would leave out the row that is there already, and cut the one that is too long.
        bad = {999: values[0], 1500: values[0] | {"id": 1500, "item": "x" * 301}}
        batch = [record(schema, bad.get(number, values[0] | {"id": number})) for number in range(999, 1999)]
        assert [each.place for each in sink.write(batch)] == [0, 501]
    assert rows(maria, "COUNT(*)") == [(1998,)]


def test_a_table_that_is_missing_has_nothing_to_delete(database: SampleDatabase) -> None:
    with jdbc_sink(database, BY_KEY, delete_enabled=True, insert_mode="upsert") as sink:
        write(sink, [tombstone(1)])
        write(sink, [order(1), order(2)])
        write(sink, [tombstone(1)])
    assert rows(database, "id") == [(2,)]


def _let_hold_all_text(database: SampleDatabase) -> None:
    if database.kind == "mariadb":
        database.execute("ALTER DATABASE CHARACTER SET utf8mb4")
