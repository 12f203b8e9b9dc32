"""CREATE OR REPLACE of a table whose state is of no use any more: built beside it from the topics, then swapped."""

from __future__ import annotations

from typing import Any

import pytest

from tests.broker import BarnabasBroker
from tests.sql_service import QUERY_DEADLINE_S, SqlProcess
from tests.streams_sql.e2e.deadlines import TEST_S
from tests.streams_sql.spark.query_runs import Topics
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_S)

COUNTED = "CREATE OR REPLACE TABLE {0} WITH (KAFKA_TOPIC='{1}-out') AS SELECT B, COUNT(*) AS N FROM {0}_S WHERE A > {2} GROUP BY B;"


def test_a_table_is_built_anew_and_its_readers_see_one_or_the_other(
    sql_service: SqlProcess, barnabas: BarnabasBroker, topic: str
) -> None:
    name, topics = "REBUILT", Topics(barnabas.address, topic)
    source = topics.create("in")
    topics.write(source, [(None, {"A": a, "B": b}, 1) for a, b in ((1, "x"), (2, "x"), (3, "y"), (0, "z"))])
    sql_service.execute(f"CREATE STREAM {name}_S (A INT, B STRING) WITH (KAFKA_TOPIC='{source}', VALUE_FORMAT='JSON');")
    old = sql_service.start_query(COUNTED.format(name, topic, -1))
    reader = sql_service.start_query(
        f"CREATE TABLE {name}_READ WITH (KAFKA_TOPIC='{topic}-read') AS SELECT B, N * 10 AS TEN FROM {name};"
    )
    sql_service.wait_for_rows(f"SELECT B, N FROM {name};", [["x", 2], ["y", 1], ["z", 1]])
    sql_service.wait_for_rows(f"SELECT B, TEN FROM {name}_READ;", [["x", 20], ["y", 10], ["z", 10]])

    new = sql_service.start_query(COUNTED.format(name, topic, 1))
    assert new != old
    sql_service.wait_for_rows(f"SELECT B, N FROM {name};", [["x", 1], ["y", 1]])
    sql_service.wait_for_rows(f"SELECT B, TEN FROM {name}_READ;", [["x", 10], ["y", 10]])

    def is_swapped() -> bool:
        return {query["id"]: query["sinkKafkaTopics"] for query in shown(sql_service)} == {
            new: [f"{topic}-out"],
            reader: [f"{topic}-read"],
        }

    wait_for(is_swapped, "the former query to be gone", QUERY_DEADLINE_S)
    topics.write(source, [(None, {"A": 5, "B": "y"}, 1), (None, {"A": 1, "B": "x"}, 1)])
    sql_service.wait_for_rows(f"SELECT B, N FROM {name};", [["x", 1], ["y", 2]])
    sql_service.wait_for_rows(f"SELECT B, TEN FROM {name}_READ;", [["x", 10], ["y", 20]])
    left = [each["name"] for each in sql_service.execute("SHOW ALL TOPICS;")[0]["topics"]]
    assert not [each for each in left if "rebuild-" in each]


def shown(sql: SqlProcess) -> list[dict[str, Any]]:
    """The queries about the table of this test."""
    found: list[dict[str, Any]] = sql.execute("SHOW QUERIES;")[0]["queries"]
    return [query for query in found if "REBUILT" in query["queryString"]]
