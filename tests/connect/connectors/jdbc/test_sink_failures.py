"""Records that no table takes, and tables that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pytest

from connect.api.record import Record
from connect.api.sink import RejectedRecord
from connect.connectors.jdbc.sink import JdbcSink
from connect.data.schema import INT32, INT64, STRING, Schema, Type, map_of, struct
from connect.errors import ConnectError, DataError, Retry
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

STRICT = f"CREATE TABLE {TOPIC} (id BIGINT NOT NULL PRIMARY KEY, item VARCHAR(10) NOT NULL, price DOUBLE PRECISION CHECK (price > 0))"
BY_VALUE = {"pk.mode": "record_value", "pk.fields": "id"}


def refused(sink: JdbcSink, records: Sequence[Record]) -> str:
    """The message of the failure that ends the task."""
    with pytest.raises(ConnectError) as raised:
        sink.write(records)
    assert not isinstance(raised.value, Retry | DataError)
    return str(raised.value)


def places(rejected: Sequence[RejectedRecord]) -> list[int]:
    assert all(isinstance(each.error, DataError) for each in rejected)
    return [each.place for each in rejected]


@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_nothing_of_a_batch_with_a_bad_row_is_written_where_none_is_tolerated(
    any_database: SampleDatabase, mode: str
) -> None:
    """The task ends, and the batch is written again when it is restarted."""
    any_database.execute(STRICT)
    batch = [order(0, "fine"), order(1, "fine"), order(2, None), order(3, "fine"), order(4, "x", -1.0)]
    with jdbc_sink(any_database, BY_VALUE, insert_mode=mode) as sink:
        sink.tolerates_rejected = False
        # Without savepoints, the database does not say which row it is.
        with suppress(DataError):
            assert places(sink.write(batch)) == [2, 4]
        assert rows(any_database) == []
        write(sink, batch[:2])
    assert [row[0] for row in rows(any_database)] == [0, 1]


@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_only_bad_rows_are_rejected(any_database: SampleDatabase, mode: str) -> None:
    any_database.execute(STRICT)
    batch = [order(number, "fine") for number in range(BIG)]
    bad = {0: order(0, None), 77: order(77, "x", -1.0), 78: order(78, None), BIG - 1: order(BIG - 1, None)}
    for place, each in bad.items():
        batch[place] = each
    with jdbc_sink(any_database, BY_VALUE, insert_mode=mode) as sink:
        rejected = sink.write(batch)
        write(sink, [order(BIG, "after")])
    assert places(rejected) == sorted(bad)
    assert all("cannot write to table orders" in str(each.error) for each in rejected)
    assert [row[0] for row in rows(any_database)] == [number for number in range(BIG + 1) if number not in bad]


def test_a_row_that_exists_is_rejected_by_insert(database: SampleDatabase) -> None:
    database.execute(STRICT)
    with jdbc_sink(database, BY_VALUE) as sink:
        write(sink, [order(5)])
        rejected = sink.write([order(number) for number in (1, 5, 2, 2, 3)])
    assert places(rejected) == [1, 3]
    assert [row[0] for row in rows(database)] == [1, 2, 3, 5]


def test_the_good_change_before_a_bad_one_of_the_same_key_is_kept(database: SampleDatabase) -> None:
    database.execute(STRICT)
    with jdbc_sink(database, BY_KEY, insert_mode="upsert", delete_enabled=True) as sink:
        batch = [
            order(1, "a"),
            order(1, None),
            order(2, "b"),
            tombstone(2),
            order(2, None),
            order(3, "c"),
            order(3, "d"),
        ]
        assert places(sink.write(batch)) == [1, 4]
    assert rows(database) == [(1, "a", 1.5), (3, "d", 1.5)]


BAD_RECORDS: list[tuple[dict[str, str], Record, str]] = [
    ({}, tombstone(2), "no value: delete.enabled=true"),
    ({}, record(INT32, 5), "of type int32, and has no fields"),
    ({}, plain([1]), "no object, and has no fields"),
    (
        {"pk.mode": "record_key", "pk.fields": "k"},
        plain({"id": 2}, {}),
        "the record's key has no field for a primary key",
    ),
    (
        BY_VALUE | {"pk.fields": "nope"},
        order(2),
        "the record's value has no field nope, which pk.fields names; it has id, item, price",
    ),
    ({"pk.mode": "record_key", "pk.fields": "k"}, plain({"id": 2}), "the record has no key"),
]


@pytest.mark.parametrize(("settings", "bad", "message"), BAD_RECORDS)
def test_a_record_that_is_no_row_is_rejected(
    sqlite: SampleDatabase, settings: dict[str, str], bad: Record, message: str
) -> None:
    with jdbc_sink(sqlite, settings, auto_create=True) as sink:
        good = plain({"id": 1, "nope": 1}, "k")
        (found,) = sink.write([good, bad, good._replace(key="l", value={"id": 3, "nope": 3})])
    assert found.place == 1
    assert message in str(found.error)
    assert rows(sqlite, "id") == [(1,), (3,)]


@pytest.mark.parametrize(
    ("database_fixture", "bad"),
    [
        ("postgresql", "text"),
        ("postgresql", 1 << 70),
        ("postgresql", "\ud800"),
        ("postgresql", "\x00"),
        ("maria", "text"),
        ("maria", 1 << 70),
        ("maria", float("nan")),
        ("sqlite", 1 << 70),
        ("duckdb", "text"),
    ],
)
def test_a_value_that_its_column_cannot_hold(
    request: pytest.FixtureRequest, database_fixture: str, bad: object
) -> None:
    database: SampleDatabase = request.getfixturevalue(database_fixture)
    database.execute(f"CREATE TABLE {TOPIC} (id BIGINT)")
    with jdbc_sink(database) as sink:
        assert places(sink.write([plain({"id": 1}), plain({"id": bad}), plain({"id": 2})])) == [1]
        assert places(sink.write([plain({"id": bad})])) == [0]
    assert rows(database, "id") == [(1,), (2,)]


def test_messages_may_hide_what_is_in_a_row(postgresql: SampleDatabase) -> None:
    postgresql.execute(f"CREATE TABLE {TOPIC} (id BIGINT)")
    for hides in (False, True):
        with jdbc_sink(postgresql, trim_sensitive_log=hides) as sink:
            found = sink.write([plain({"id": "secret word"}), plain({"id": object})])
        assert len(found) == 2
        assert ("secret word" in str(found[0].error)) is not hides
        assert ("trim.sensitive.log" in str(found[1].error)) is hides


def test_a_missing_table_is_told_with_what_to_do(database: SampleDatabase) -> None:
    with jdbc_sink(database) as sink:
        message = refused(sink, [order(1)])
        assert message.startswith(f"there is no table {TOPIC} in ")
        assert "auto.create=true" in message
        # Somebody does it.
        database.execute(STRICT)
        write(sink, [order(1)])


def test_a_missing_column_is_told_with_what_to_do(database: SampleDatabase) -> None:
    database.execute(f"CREATE TABLE {TOPIC} (id BIGINT, price DOUBLE PRECISION)")
    with jdbc_sink(database) as sink:
        # A record that does without it is none the worse for it.
        (rejected,) = sink.write([plain({"id": 2}), order(1), plain({"id": 3})])
        assert rejected.place == 1
        assert str(rejected.error).startswith(f"table {TOPIC} has no column for item: ")
        assert "auto.evolve=true" in str(rejected.error)
        database.execute(f"ALTER TABLE {TOPIC} ADD COLUMN item VARCHAR(10)")
        write(sink, [order(1)])


def test_a_required_field_without_default_is_no_new_column(database: SampleDatabase) -> None:
    with jdbc_sink(database, auto_create=True, auto_evolve=True) as sink:
        write(sink, [order(1)])
        newer = struct(("id", INT64), ("must", STRING))
        (rejected,) = sink.write([record(newer, {"id": 2, "must": "x"})])
        assert "make the field optional" in str(rejected.error)


def test_a_type_without_column_is_told(database: SampleDatabase) -> None:
    schema = struct(("id", INT64), ("more", map_of(STRING, STRING)))
    with jdbc_sink(database, auto_create=True) as sink:
        message = refused(sink, [record(schema, {"id": 1, "more": {}})])
    assert message.startswith("there can be no column for the field more: ")


def test_a_table_that_is_dropped_is_made_again(database: SampleDatabase) -> None:
    with jdbc_sink(database, auto_create=True) as sink:
        write(sink, [order(1)])
        database.execute(f"DROP TABLE {TOPIC}")
        write(sink, [order(2)])
    assert rows(database) == [(2, "x", 1.5)]
    with jdbc_sink(database) as sink:
        write(sink, [order(3)])
        database.execute(f"DROP TABLE {TOPIC}")
        assert refused(sink, [order(4)]).startswith(f"there is no table {TOPIC}")


def test_a_column_that_is_dropped_is_added_again(database: SampleDatabase) -> None:
    with jdbc_sink(database, auto_create=True, auto_evolve=True) as sink:
        write(sink, [order(1)])
        database.execute(f"ALTER TABLE {TOPIC} DROP COLUMN item")
        write(sink, [order(2)])
    assert rows(database) == [(1, None, 1.5), (2, "x", 1.5)]


def test_another_task_may_be_quicker(database: SampleDatabase) -> None:
    newer = struct(*((field.name, field.schema) for field in ORDER.fields), ("size", Schema(Type.INT32, optional=True)))
    both = {"auto.create": "true", "auto.evolve": "true"}
    with jdbc_sink(database, both) as first, jdbc_sink(database, both) as second:
        write(first, [order(1)])
        write(second, [order(2)])
        write(first, [record(newer, {"id": 3, "size": 3})])
        write(second, [record(newer, {"id": 4, "size": 4})])
    assert [row[0] for row in rows(database)] == [1, 2, 3, 4]


def test_a_view_is_written_to_only_if_wanted(maria: SampleDatabase) -> None:
    maria.execute(STRICT, f"CREATE VIEW seen AS SELECT id, item FROM {TOPIC}")
    wanted = {"table.name.format": "seen", "fields.whitelist": "id,item", "auto.evolve": "true"}
    with jdbc_sink(maria, wanted) as sink:
        assert "table.types does not allow VIEW" in refused(sink, [order(1)])
    with jdbc_sink(maria, wanted, table_types="TABLE,VIEW") as sink:
        write(sink, [order(1)])
    with jdbc_sink(maria, wanted, {"fields.whitelist": ""}, table_types="TABLE,VIEW") as sink:
        assert "columns are added to tables alone" in refused(sink, [order(2)])
    assert rows(maria) == [(1, "x", None)]


def test_an_upsert_needs_an_index_on_its_key(postgresql: SampleDatabase) -> None:
    postgresql.execute(f"CREATE TABLE {TOPIC} (id BIGINT, item TEXT, price FLOAT)")
    with jdbc_sink(postgresql, BY_VALUE, insert_mode="upsert") as sink:
        message = refused(sink, [order(1)])
    assert message.startswith("there is no unique or exclusion constraint matching the ON CONFLICT specification")
    assert f"cannot write to table {TOPIC}" in message


def test_a_key_without_fields_needs_a_name(sqlite: SampleDatabase) -> None:
    with jdbc_sink(sqlite, BY_KEY) as sink:
        (found,) = sink.write([plain({"id": 1}, "key")])
    assert "one name with pk.fields" in str(found.error)


def test_a_record_without_key_is_rejected(sqlite: SampleDatabase) -> None:
    with jdbc_sink(sqlite, BY_KEY, insert_mode="upsert") as sink:
        (found,) = sink.write([order(1), order(2)._replace(key=None), order(3)])
    assert found.place == 1
    assert "no field id, since it is null" in str(found.error)
    assert [row[0] for row in rows(sqlite)] == [1, 3]


def test_a_record_without_any_wanted_field_is_rejected(sqlite: SampleDatabase) -> None:
    with jdbc_sink(sqlite, auto_create=True, fields_whitelist="nope") as sink:
        (found,) = sink.write([order(1)])
    assert "no field that is to be written" in str(found.error)


def test_runs_of_different_records_follow_each_other(database: SampleDatabase) -> None:
    """Each run is written in bulk, within one transaction."""
    short = struct(("id", INT64), ("item", STRING.as_optional()))
    shorter = [
        order(number)._replace(value={"id": number, "item": "short"}, value_schema=short) for number in range(BIG)
    ]
    with jdbc_sink(database, BY_KEY, insert_mode="upsert") as sink:
        write(
            sink,
            [*(order(number, "long", 2.5) for number in range(BIG)), *shorter, *(order(number) for number in (1, 2))],
        )
    assert rows(database)[:4] == [(0, "short", 2.5), (1, "x", 1.5), (2, "x", 1.5), (3, "short", 2.5)]


ENVELOPE = {"schema": {"type": "struct", "fields": []}, "payload": {"id": 1}}


@pytest.mark.parametrize(
    ("part", "config"), [("value", {}), ("value", BY_VALUE), ("key", BY_KEY)], ids=["value", "value as key", "key"]
)
@pytest.mark.parametrize("ddl", [STRICT, None])
def test_json_whose_schema_was_not_read_is_told_so(
    sqlite: SampleDatabase, part: str, config: dict[str, str], ddl: str | None
) -> None:
    sqlite.execute(*([ddl] if ddl else []))
    envelope = Record(TOPIC, ENVELOPE) if part == "value" else Record(TOPIC, {"id": 1}, key=ENVELOPE)
    with jdbc_sink(sqlite, config, auto_create=ddl is None) as sink:
        (rejected,) = sink.write([envelope])
    assert f"{part}.converter.schemas.enable=true" in str(rejected.error)


def test_columns_that_are_called_schema_and_payload_are_written(sqlite: SampleDatabase) -> None:
    sqlite.execute(f"CREATE TABLE {TOPIC} (schema TEXT, payload TEXT)")
    with jdbc_sink(sqlite) as sink:
        write(sink, [Record(TOPIC, {"schema": "a", "payload": "b"}, key=ENVELOPE)])
    assert rows(sqlite, "schema, payload") == [("a", "b")]


def test_the_form_of_a_key_that_is_not_written_does_not_matter(sqlite: SampleDatabase) -> None:
    sqlite.execute(STRICT)
    with jdbc_sink(sqlite) as sink:
        write(sink, [Record(TOPIC, {"id": 1, "item": "x"}, key=ENVELOPE)])
    assert rows(sqlite) == [(1, "x", None)]
