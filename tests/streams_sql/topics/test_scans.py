"""SELECT without EMIT over topics that nobody has declared, and over streams: on a broker, without a JVM."""

from __future__ import annotations

import re
from typing import Any

import pytest

from streams_sql.bounded.pages import Budget
from streams_sql.engine.failures import Busy, StatementFailed
from streams_sql.problem import SqlProblem
from tests.broker import BarnabasBroker, BrokerProcess
from tests.streams_sql.topics.looks import NOW_MS, Looks
from tests.streams_sql.views.written_topic import WrittenTopic

FIRST_MS = NOW_MS - 30_000


@pytest.fixture(scope="module")
def orders(barnabas: BarnabasBroker) -> str:
    """Thirty orders, a second apart, over three partitions, and a record that is no JSON."""
    return written_orders(barnabas.address, "scanned.orders")


def written_orders(address: str, name: str) -> str:
    written = WrittenTopic(address, name, 3)
    for number in range(30):
        value = {"id": number, "amount": number / 2, "who": {"name": f"n{number % 3}"}}
        written.write([(f"k{number % 4}", value)], number % 3, FIRST_MS + 1_000 * number)
    written.write([("bad", b"{no")], 0, NOW_MS)
    return name


@pytest.fixture(scope="module")
def looks(barnabas: BarnabasBroker, orders: str) -> Looks:
    return Looks(
        barnabas.address,
        statements=[
            f"CREATE STREAM s (k STRING KEY, id INT) WITH (kafka_topic='{orders}')",
            f"CREATE TABLE t (k STRING PRIMARY KEY, id INT) WITH (kafka_topic='{orders}')",
        ],
    )


def test_columns_come_from_a_sample(kafka: BrokerProcess, topic: str) -> None:
    written_orders(kafka.address, topic)
    look = Looks(kafka.address).look(f"SELECT * FROM `{topic}` LIMIT 2;")
    assert look.columns == ["`ROWKEY` STRING", "`ID` BIGINT", "`AMOUNT` DOUBLE", "`WHO` STRUCT<`NAME` STRING>"]
    assert look.rows == [("k0", 0, 0.0, {"NAME": "n0"}), ("k1", 1, 0.5, {"NAME": "n1"})]
    assert look.result.notes == (
        f"columns of {topic} from a sample of 31 JSON records, its keys from a sample of 31 texts",
    )
    assert look.result.limit_reached()


def ids(*numbers: int) -> list[tuple[int]]:
    return [(number,) for number in numbers]


@pytest.mark.parametrize(
    ("range_", "expected", "records"),
    [
        ("PARTITION 1 BETWEEN OFFSET 2 AND 4", ids(7, 10, 13), 3),
        ("PARTITION 0, 2 UNTIL OFFSET 1", ids(0, 2), 2),
        ("SINCE 2 SECONDS", ids(28, 29), 3),
        ("SINCE 5 SECONDS UNTIL 3 SECONDS", ids(25, 26), 2),
        (f"BETWEEN TIMESTAMP {FIRST_MS} AND {FIRST_MS + 1_000}", ids(0, 1), 2),
        ("AS OF TIMESTAMP '1970-01-01T00:32:51'", ids(0, 1), 2),
        ("TAIL 3", ids(28, 29), 3),
        ("PARTITION 1 TAIL 2", ids(25, 28), 2),
        ("UNTIL OFFSET 2 TAIL 3", ids(3, 4, 5), 3),
        ("SINCE OFFSET 10", [], 1),
        ("TAIL 0", [], 0),
    ],
)
@pytest.mark.parametrize("source", ["`scanned.orders`", "topic('scanned.orders') AS x", "s"])
def test_a_range_is_what_is_read(
    looks: Looks, source: str, range_: str, expected: list[tuple[int]], records: int
) -> None:
    look = looks.look(f"SELECT id FROM {source} {range_};")
    assert (look.rows, look.metrics.records) == (expected, records)


@pytest.mark.parametrize(
    ("condition", "expected", "records"),
    [
        (f"ROWTIME >= {FIRST_MS + 28_000}", ids(28, 29), 3),
        ("ROWTIME > '1970-01-01T00:33:18'", ids(29), 2),
        (f"{FIRST_MS + 27_000} < ROWTIME AND id > 28", ids(29), 3),
        (f"ROWTIME < {FIRST_MS + 1_000}", ids(0), 31),
        ("ROWOFFSET BETWEEN 1 AND 2 AND ROWPARTITION = 2", ids(5, 8), 2),
        ("ROWPARTITION IN (1, 2) AND ROWOFFSET = 9", ids(28, 29), 2),
        ("ROWOFFSET < 1 OR id = 29", ids(0, 1, 2, 29), 31),
        ("k = 'k3' AND ROWOFFSET > 8", ids(27), 4),
    ],
)
def test_a_condition_on_places_is_pushed_down(
    looks: Looks, condition: str, expected: list[tuple[int]], records: int
) -> None:
    look = looks.look(f"SELECT id FROM s WHERE {condition};")
    assert (look.rows, look.metrics.records) == (expected, records)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT COUNT(*) FROM o", [(30,)]),
        ("SELECT COUNT(*), MAX(id), MIN(id) FROM o WHERE id > 99", [(0, None, None)]),
        ("SELECT COUNT(*) FROM o WHERE id > 99 HAVING COUNT(*) > 0", []),
        ("SELECT COUNT(*) FROM o HAVING COUNT(*) = 0", []),
        (
            "SELECT ROWKEY, COUNT(*) AS n FROM o GROUP BY ROWKEY HAVING COUNT(*) > 7 ORDER BY n, ROWKEY DESC",
            [("k1", 8), ("k0", 8)],
        ),
        ("SELECT who->name, SUM(amount) FROM o GROUP BY who->name ORDER BY who->name LIMIT 1", [("n0", 67.5)]),
        ("SELECT DISTINCT ROWKEY FROM o ORDER BY 1 LIMIT 2 OFFSET 1", [("k1",), ("k2",)]),
        ("SELECT DISTINCT who FROM o LIMIT 2", [({"NAME": "n0"},), ({"NAME": "n1"},)]),
        ("SELECT id FROM o ORDER BY amount DESC LIMIT 2", ids(29, 28)),
        ("SELECT id FROM o LIMIT 2 OFFSET 3", ids(3, 4)),
        ("SELECT id FROM o LIMIT 0", []),
        (
            "SELECT ROWKEY, WINDOWSTART, COUNT(*) FROM o WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY ROWKEY ORDER BY 2, ROWKEY LIMIT 2",
            [("k0", FIRST_MS, 3), ("k1", FIRST_MS, 3)],
        ),
        ("SELECT EXPLODE(ARRAY[id, -id]) FROM o PARTITION 1 TAIL 1", ids(28, -28)),
    ],
)
def test_whatever_a_query_can_do(looks: Looks, query: str, rows: list[Any]) -> None:
    assert looks.rows(query.replace("FROM o", "FROM `scanned.orders`")) == rows


def test_joins_end_with_what_there_is(barnabas: BarnabasBroker, topic: str) -> None:
    left, right = WrittenTopic(barnabas.address, f"{topic}.l"), WrittenTopic(barnabas.address, f"{topic}.r", 2)
    left.write([("a", {"x": 1}), ("b", {"x": 2})])
    right.write([("b", {"y": 3})], 1, 1_500)
    rows = Looks(barnabas.address).rows(
        f"SELECT l.x, r.y FROM `{topic}.l` l LEFT JOIN `{topic}.r` r WITHIN 1 SECOND ON l.ROWKEY = r.ROWKEY ORDER BY l.x;"
    )
    assert rows == [(1, None), (2, 3)]
    looks = Looks(
        barnabas.address,
        statements=[f"CREATE TABLE t (k STRING PRIMARY KEY, y INT) WITH (kafka_topic='{topic}.r')"],
    )
    assert looks.rows(f"SELECT l.x, t.y FROM `{topic}.l` l LEFT JOIN t ON l.ROWKEY = t.k;") == [(1, None), (2, None)]


def test_null_is_a_group_in_joins_too(barnabas: BarnabasBroker, topic: str) -> None:
    left, right = WrittenTopic(barnabas.address, f"{topic}.l"), WrittenTopic(barnabas.address, f"{topic}.r")
    left.write([("a", {"x": 1}), ("b", {"x": 2}), ("c", {"x": 3})])
    right.write([("a", {"y": 7})])
    joined = f"FROM `{topic}.l` l LEFT JOIN `{topic}.r` r WITHIN 1 SECOND ON l.ROWKEY = r.ROWKEY"
    found = Looks(barnabas.address).rows(f"SELECT r.y, COUNT(*) AS n {joined} GROUP BY r.y ORDER BY n;")
    assert found == [(7, 1), (None, 2)]


def test_a_table_as_it_was(looks: Looks) -> None:
    text = f"SELECT k, id FROM t AS OF TIMESTAMP {FIRST_MS + 5_000} ORDER BY k;"
    assert looks.rows(text) == [("k0", 4), ("k1", 5), ("k2", 2), ("k3", 3)]


# --- records ---


def test_what_cannot_be_decoded_is_counted_and_shown_on_request(looks: Looks) -> None:
    look = looks.look("SELECT id FROM `scanned.orders` WHERE ROWPARTITION = 0;")
    assert (len(look.rows), look.metrics.problems) == (10, 1)
    rows = looks.rows(
        "SELECT ROWERROR, ROWKEY, id, ROWVALUE_BYTES, ROWKEY_BYTES, ROWSCHEMA FROM `scanned.orders` WHERE ROWERROR IS NOT NULL;"
    )
    ((error, *others),) = rows
    assert error.startswith("The value cannot be decoded: The record is not JSON")
    assert others == ["bad", None, b"{no", b"bad", None]
    assert looks.rows("SELECT s.ROWERROR IS NULL, id FROM s PARTITION 1 TAIL 1;") == [(True, 28)]


def test_headers(barnabas: BarnabasBroker, topic: str) -> None:
    from confluent_kafka import Producer

    WrittenTopic(barnabas.address, topic)
    producer = Producer({"bootstrap.servers": barnabas.address})
    producer.produce(topic, b'{"a": 1}', headers=[("trace-id", b"x1"), ("trace-id", b"x2"), ("n", None)])
    producer.flush()
    looks = Looks(barnabas.address)
    look = looks.look(
        f"SELECT HEADERS, HEADER('trace-id'), FROM_BYTES(HEADER('trace-id'), 'utf8') AS t, ROWKEY, a FROM `{topic}`;"
    )
    all_headers = [
        {"KEY": "trace-id", "VALUE": b"x1"},
        {"KEY": "trace-id", "VALUE": b"x2"},
        {"KEY": "n", "VALUE": None},
    ]
    assert look.rows == [(all_headers, b"x2", "x2", None, 1)]
    assert look.columns[1] == "`HEADER_TRACE_ID` BYTES"
    assert looks.look(f"SELECT * FROM `{topic}`;").columns == ["`A` BIGINT"]


def test_tombstones_are_no_rows_unless_errors_are_asked_for(barnabas: BarnabasBroker, topic: str) -> None:
    WrittenTopic(barnabas.address, topic).write([("a", {"x": 1}), ("a", None)])
    looks = Looks(barnabas.address)
    assert looks.rows(f"SELECT * FROM `{topic}` LIMIT 2;") == [("a", 1)]
    assert looks.rows(f"SELECT x, ROWERROR FROM `{topic}`;") == [(1, None), (None, None)]


# --- what is refused, and bounds ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * FROM `scanned.orders` TAIL 200000;", "TAIL 200000 is more than 100000"),
        ("SELECT * FROM `scanned.orders` BETWEEN OFFSET 5 AND 3;", "The range ends before it begins"),
        ("SELECT * FROM `scanned.orders` AS OF TIMESTAMP 'noon';", "Failed to parse timestamp 'noon'"),
        ("SELECT * FROM `scanned.orders` ORDER BY who;", "values of type STRUCT have no order"),
        ("SELECT * FROM `scanned.orders` ORDER BY 9;", "no such place in the select list, which has 4 columns"),
        ("SELECT DISTINCT id FROM s ORDER BY k;", "What SELECT DISTINCT is ordered by must be in its select list"),
        ("SELECT * FROM `scanned.orders` PARTITION BY id;", "Pull queries don't support PARTITION BY clauses"),
        ("SELECT * FROM `scanned.ordersX`;", "Did you mean topic `scanned.orders`"),
        ("SELECT * FROM topic('scanned.orderz');", "Topic scanned.orderz does not exist. Did you mean topic `scanned.orders`?"),
        ("SELECT ROWERRORS FROM `scanned.orders`;", "SELECT column 'ROWERRORS' cannot be resolved"),
    ],
)  # fmt: skip
def test_what_cannot_be(looks: Looks, text: str, message: str) -> None:
    with pytest.raises(SqlProblem, match=re.escape(message)):
        looks.look(text)


def test_a_partition_that_is_not_there(looks: Looks) -> None:
    with pytest.raises(StatementFailed, match="has no partition 7: it has 0 to 2"):
        looks.look("SELECT * FROM `scanned.orders` PARTITION 7;")


def test_a_look_ends_when_its_budget_is_spent(barnabas: BarnabasBroker, orders: str) -> None:
    looks = Looks(barnabas.address, budget=Budget(rows=20))
    with pytest.raises(StatementFailed, match="looks at more than 20 rows"):
        looks.look(f"SELECT * FROM `{orders}`;")
    looks.look(f"SELECT * FROM `{orders}` PARTITION 1;")


def test_as_many_as_may_run(barnabas: BarnabasBroker, orders: str) -> None:
    looks = Looks(barnabas.address)
    looks.scanning._running = looks.scanning._queries_max
    with pytest.raises(Busy, match="10 queries look at topics already"):
        looks.look(f"SELECT * FROM `{orders}`;")
