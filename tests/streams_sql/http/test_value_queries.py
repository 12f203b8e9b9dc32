"""Queries in expressions, as clients of a real server ask them: what they give stands in their places."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.sql import Client, Refused
from streams_sql.engine.client_queries import value_queries
from tests.broker import BarnabasBroker
from tests.sql_service import SqlProcess
from tests.streams_sql.views.written_topic import WrittenTopic

ORDERS = [
    ("1", {"who": "ada", "price": 5, "day": 10}),
    ("2", {"who": "bob", "price": 7, "day": 11}),
    ("3", {"who": "eve", "price": 2, "day": 12}),
]


class Asked:
    """A stream of orders, and a table of people that is kept for being asked. `{s}`, `{t}` and `{topic}` are their names."""

    def __init__(self, sql: SqlProcess, address: str, topic: str) -> None:
        self.sql = sql
        self.names = {"s": f"S_{topic}".upper().replace("-", "_"), "t": f"T_{topic}".upper().replace("-", "_")}
        self.orders = WrittenTopic(address, topic)
        self.orders.write(ORDERS)
        people = WrittenTopic(address, f"{topic}-people")
        people.write([("ada", {"LEVEL": 1}), ("bob", {"LEVEL": 2})])
        sql.execute(
            f"CREATE STREAM {self.names['s']} (ID STRING KEY, WHO STRING, PRICE INT, DAY DATE) "
            f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON'); "
            f"CREATE SOURCE TABLE {self.names['t']} (NAME STRING PRIMARY KEY, LEVEL INT) "
            f"WITH (KAFKA_TOPIC='{topic}-people', VALUE_FORMAT='JSON');"
        )
        sql.wait_for_rows(f"SELECT NAME FROM {self.names['t']};", [["ada"], ["bob"]])

    def rows(self, text: str) -> list[Any]:
        found = self.sql.rows(f"{text.format(**self.names)};")
        return [row[0] if len(row) == 1 else row for row in found]

    def refusal(self, text: str) -> Refused:
        with Client(self.sql.url) as client, pytest.raises(Refused) as caught:
            client.query(f"{text.format(**self.names)};")
        return caught.value


@pytest.fixture
def asked(sql_service: SqlProcess, barnabas: BarnabasBroker, topic: str) -> Asked:
    return Asked(sql_service, barnabas.address, topic)


def test_values_stand_in_the_places_of_queries(asked: Asked) -> None:
    rows = asked.rows
    # From records into a table, the other way round, and within one kind.
    assert rows("SELECT LEVEL FROM {t} WHERE NAME IN (SELECT WHO FROM {s} WHERE PRICE > 5)") == [2]
    assert rows("SELECT ID FROM {s} WHERE WHO NOT IN (SELECT NAME FROM {t})") == ["3"]
    assert rows("SELECT ID FROM {s} WHERE PRICE = (SELECT MAX(PRICE) FROM {s})") == ["2"]
    assert rows("SELECT NAME FROM {t} WHERE LEVEL > (SELECT MIN(LEVEL) FROM {t}) ORDER BY NAME") == ["bob"]
    assert rows("SELECT ID, (SELECT COUNT(*) FROM {t}) AS PEOPLE FROM {s} WHERE ID = '1'") == [["1", 2]]
    assert rows("SELECT ID FROM {s} WHERE DAY >= (SELECT MAX(DAY) FROM {s})") == ["3"]
    # Nothing among nothing, and the one value of no row.
    assert rows("SELECT COUNT(*) FROM {s} WHERE WHO IN (SELECT NAME FROM {t} WHERE LEVEL > 9)") == [0]
    assert rows("SELECT COUNT(*) FROM {s} WHERE WHO NOT IN (SELECT NAME FROM {t} WHERE LEVEL > 9)") == [3]
    assert rows("SELECT (SELECT LEVEL FROM {t} WHERE NAME = 'zoe') AS L FROM {s} LIMIT 1") == [None]
    assert rows("SELECT COUNT(*) FROM {s} WHERE EXISTS (SELECT * FROM {t} WHERE LEVEL = 2)") == [3]
    assert rows("SELECT COUNT(*) FROM {s} WHERE NOT EXISTS (SELECT * FROM {t} WHERE LEVEL = 2)") == [0]
    # In queries in queries, with the names of WITH, and in a query for a value itself.
    assert rows("SELECT COUNT(*) FROM (SELECT ID FROM {s} WHERE WHO IN (SELECT NAME FROM {t})) X") == [2]
    assert rows(
        "WITH P AS (SELECT NAME FROM {t} WHERE LEVEL = 1) SELECT ID FROM {s} WHERE WHO IN (SELECT NAME FROM P)"
    ) == ["1"]
    assert rows(
        "SELECT ID FROM {s} WHERE WHO IN (SELECT NAME FROM {t} WHERE LEVEL = (SELECT MAX(LEVEL) FROM {t}))"
    ) == ["2"]


def test_the_same_text_is_asked_anew(asked: Asked) -> None:
    text = "SELECT LEVEL FROM {t} WHERE NAME = (SELECT WHO FROM {s} ORDER BY PRICE DESC LIMIT 1)"
    assert asked.rows(text) == [2]
    asked.orders.write([("4", {"who": "ada", "price": 99})])
    assert asked.rows(text) == [1]


def test_what_gives_no_value_is_refused(asked: Asked) -> None:
    several = asked.refusal("SELECT ID FROM {s} WHERE PRICE = (SELECT LEVEL FROM {t})")
    assert "stands for one value, and gives several rows" in several.reason
    assert (several.line, several.column is not None) == (1, True)
    wide = asked.refusal("SELECT ID FROM {s} WHERE WHO IN (SELECT NAME, LEVEL FROM {t})")
    assert "gives one column, and this one has 2: NAME, LEVEL" in wide.reason
    odd = asked.refusal("SELECT ID FROM {s} WHERE WHO = (SELECT ARRAY[NAME] AS A FROM {t})")
    assert "this one gives ARRAY<STRING>" in odd.reason
    types = asked.refusal("SELECT ID FROM {s} WHERE PRICE IN (SELECT NAME FROM {t})")
    assert "INTEGER" in types.reason
    live = asked.refusal("SELECT ID FROM {s} WHERE WHO IN (SELECT NAME FROM {t}) EMIT CHANGES")
    assert "only in a SELECT without EMIT" in live.reason
    outer = asked.refusal("SELECT ID FROM {s} X WHERE EXISTS (SELECT * FROM {t} WHERE NAME = X.WHO)")
    assert "X.WHO is a column of the query around this one" in outer.reason
    mixed = asked.refusal("SELECT WHO FROM {s} UNION SELECT NAME FROM {t}")
    assert "query 1 gives a stream and query 2 a table: a stream and a table cannot be put together" in mixed.reason
    explained = asked.sql.refusal(
        f"EXPLAIN SELECT ID FROM {asked.names['s']} WHERE EXISTS (SELECT * FROM {asked.names['t']});"
    )
    assert "Explain each by itself" in explained


def test_lists_are_bounded(asked: Asked) -> None:
    many = ", ".join(str(number) for number in range(value_queries.VALUES_MAX + 1))
    text = f"SELECT ID FROM {{s}} WHERE PRICE IN (SELECT EXPLODE(ARRAY[{many}]) AS N FROM {{s}} LIMIT {value_queries.VALUES_MAX + 1})"
    assert f"more than the {value_queries.VALUES_MAX} values that IN may have" in asked.refusal(text).reason
