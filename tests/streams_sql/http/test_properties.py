"""Properties that requests bring along."""

from __future__ import annotations

import pytest

from tests.broker import BarnabasBroker
from tests.clients.confluent_client import create_topic
from tests.sql_service import SqlProcess


@pytest.mark.parametrize("path", ["/ksql", "/query", "/query-stream"])
def test_one_that_nobody_knows_is_refused_as_by_set(
    sql_service: SqlProcess, barnabas: BarnabasBroker, topic: str, path: str
) -> None:
    create_topic(barnabas.address, topic)
    columns = "ID INT PRIMARY KEY, V STRING"
    sql_service.execute(f"CREATE SOURCE TABLE `{topic}` ({columns}) WITH (KAFKA_TOPIC='{topic}', FORMAT='JSON');")
    text = "SHOW STREAMS;" if path == "/ksql" else f"SELECT * FROM `{topic}`;"
    names = ("sql", "properties") if path == "/query-stream" else ("ksql", "streamsProperties")
    # The second time the query is known by its text.
    for _ in range(2):
        answer = sql_service.post(path, {names[0]: text, names[1]: {"auto.offset.rst": "x"}})
        assert answer.status_code == 400
        assert "Did you mean auto.offset.reset?" in answer.json()["message"]
        known = {"ksql.streams.auto.offset.reset": "earliest", "num.stream.threads": 2}
        answer = sql_service.post(path, {names[0]: text, names[1]: known})
        assert answer.status_code == 200, answer.text
