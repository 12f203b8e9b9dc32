"""Each record once, whatever is delivered again."""

from __future__ import annotations

from contextlib import suppress

import pytest

from connect.api.sink import TopicPartition
from connect.errors import DataError, Retry
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.connectors.jdbc.writing import BIG, TOPIC, jdbc_sink, order, rows, write

ONCE = {"exactly.once": "true", "auto.create": "true"}
PLACE = TopicPartition(TOPIC, 0)
OTHER = TopicPartition(TOPIC, 1)


def test_records_that_come_again_are_passed_over(any_database: SampleDatabase) -> None:
    with jdbc_sink(any_database, ONCE) as sink:
        assert sink.positions([PLACE, OTHER]) == {}
        write(sink, [order(number) for number in range(BIG)])
        write(sink, [order(1000, at=7)._replace(partition=1)])
        assert sink.positions([PLACE, OTHER]) == {PLACE: BIG, OTHER: 8}
        # The offsets were not committed to Kafka, and some records come again.
        write(sink, [order(number) for number in range(BIG + 10)])
    with jdbc_sink(any_database, ONCE) as sink:
        write(sink, [order(number) for number in range(5, BIG + 20)])
        assert sink.positions([PLACE]) == {PLACE: BIG + 20}
    assert [row[0] for row in rows(any_database)] == [*range(BIG + 20), 1000]


def test_a_rejected_record_is_behind_us(any_database: SampleDatabase) -> None:
    any_database.execute(f"CREATE TABLE {TOPIC} (id BIGINT, item VARCHAR(10) NOT NULL, price DOUBLE PRECISION)")
    with jdbc_sink(any_database, ONCE) as sink:
        assert [each.place for each in sink.write([order(0), order(1, None), order(2), order(3, None)])] == [1, 3]
        assert sink.positions([PLACE]) == {PLACE: 4}
        write(sink, [order(number, None) for number in range(4)])
    assert [row[0] for row in rows(any_database)] == [0, 2]


def test_a_rejected_record_that_is_not_tolerated_is_read_again(any_database: SampleDatabase) -> None:
    any_database.execute(f"CREATE TABLE {TOPIC} (id BIGINT, item VARCHAR(10) NOT NULL, price DOUBLE PRECISION)")
    with jdbc_sink(any_database, ONCE) as sink:
        sink.tolerates_rejected = False
        write(sink, [order(0)])
        with suppress(DataError):
            assert [each.place for each in sink.write([order(1), order(2, None), order(3)])] == [1]
        assert sink.positions([PLACE]) == {PLACE: 1}
    assert [row[0] for row in rows(any_database)] == [0]


def test_a_connection_that_dies_in_a_transaction_leaves_nothing(postgresql: SampleDatabase) -> None:
    postgresql.execute(
        f"CREATE TABLE {TOPIC} (id BIGINT, item TEXT, price FLOAT)",
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$",
        f"CREATE TRIGGER die AFTER INSERT ON {TOPIC} FOR EACH ROW WHEN (NEW.item = 'die') EXECUTE FUNCTION die()",
    )
    with jdbc_sink(postgresql, ONCE) as sink:
        write(sink, [order(0)])
        with pytest.raises(Retry) as raised:
            sink.write([*(order(number) for number in range(1, BIG)), order(BIG, "die")])
        assert raised.value.after_s == 0.01
        assert "terminat" in str(raised.value)
        assert sink.positions([PLACE]) == {PLACE: 1}
        postgresql.execute(f"DROP TRIGGER die ON {TOPIC}")
        write(sink, [order(number) for number in range(1, BIG + 1)])
    assert [row[0] for row in rows(postgresql)] == list(range(BIG + 1))


def test_a_task_that_was_replaced_writes_nothing_twice(postgresql: SampleDatabase) -> None:
    with jdbc_sink(postgresql, ONCE) as old, jdbc_sink(postgresql, ONCE) as new:
        write(old, [order(0)])
        write(new, [order(0), order(1)])
        write(old, [order(1), order(2)])
        write(new, [order(2)])
    assert [row[0] for row in rows(postgresql)] == [0, 1, 2]
