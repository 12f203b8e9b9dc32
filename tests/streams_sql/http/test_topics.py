"""Topics that nobody has declared, as clients of a real server see them: figures, Arrow, EXPLAIN, and what declares them."""

from __future__ import annotations

import httpx
import orjson
import pyarrow.ipc  # type: ignore[import-untyped]
import pytest

from barnabas.sql import Client, Refused
from tests.broker import BarnabasBroker
from tests.sql_service import CALL_TIMEOUT_S, SqlProcess
from tests.streams_sql.views.written_topic import WrittenTopic


@pytest.fixture
def orders(barnabas: BarnabasBroker, topic: str) -> str:
    written = WrittenTopic(barnabas.address, topic, 2)
    written.write([("a", {"id": number, "tags": ["x"]}) for number in range(3)])
    written.write([("b", b"no JSON")], 1)
    return topic


def test_rows_and_what_they_cost(sql_service: SqlProcess, orders: str) -> None:
    with Client(sql_service.url) as client, client.query(f"SELECT id FROM `{orders}`;") as rows:
        assert [row.id for row in rows] == [0, 1, 2]
        assert rows.figures is not None
        assert {name: rows.figures[name] for name in ("rows", "records", "problems")} == {
            "rows": 3, "records": 4, "problems": 1
        }  # fmt: skip
        assert rows.notes[0].startswith(f"columns of {orders} from a sample of 4 JSON records")


def test_clients_that_do_not_ask_for_figures_get_rows_alone(sql_service: SqlProcess, orders: str) -> None:
    assert sql_service.rows(f"SELECT id FROM `{orders}` LIMIT 1;") == [[0]]
    answer = sql_service.post("/query", {"ksql": f"SELECT id FROM `{orders}`;"}).json()
    assert [list(each) for each in answer] == [["header"], ["row"], ["row"], ["row"], ["finalMessage", "figures"]]


def test_rows_as_arrow(sql_service: SqlProcess, orders: str) -> None:
    answer = httpx.post(
        f"{sql_service.url}/query-stream",
        json={"sql": f"SELECT id, tags, CAST(id AS DECIMAL(5, 2)) AS d, MAP('k' := id) AS m FROM `{orders}`;"},
        headers={"accept": "application/vnd.apache.arrow.stream"},
        trust_env=False,
        timeout=CALL_TIMEOUT_S,
    )
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    reader = pyarrow.ipc.open_stream(answer.content)
    assert [str(field.type) for field in reader.schema] == [
        "int64", "list<item: string>", "decimal128(5, 2)", "map<string, int64>",
    ]  # fmt: skip
    assert orjson.loads(reader.schema.metadata[b"barnabas.notes"])[0].startswith(f"columns of {orders}")
    batches = list(reader.iter_batches_with_custom_metadata())
    assert sum(found.batch.num_rows for found in batches) == 3
    assert orjson.loads(batches[-1].custom_metadata[b"barnabas.figures"])["records"] == 4
    with Client(sql_service.url) as client:
        table = pyarrow.ipc.open_stream(b"".join(client.arrow_stream(f"SELECT id FROM `{orders}`;"))).read_all()
        assert table.to_pydict() == {"ID": [0, 1, 2]}
        with pytest.raises(Refused, match="does not exist"):
            list(client.arrow_stream(f"SELECT id FROM `{orders}x`;"))


def test_a_live_query_begins_where_it_says(sql_service: SqlProcess, barnabas: BarnabasBroker, orders: str) -> None:
    text = f"SELECT id FROM `{orders}` PARTITION 0 TAIL 2 EMIT CHANGES LIMIT 3;"
    with Client(sql_service.url, properties={"auto.offset.reset": "latest"}) as client, client.stream(text) as rows:
        found = iter(rows)
        assert [next(found).id, next(found).id] == [1, 2]
        written = WrittenTopic(barnabas.address, f"{orders}.other")
        written.name = orders
        written.write([("a", {"id": 9})], 1)
        written.write([("a", {"id": 3})])
        assert next(found).id == 3
    with Client(sql_service.url) as client, pytest.raises(Refused, match="A query with EMIT has no end"):
        client.stream(f"SELECT id FROM `{orders}` UNTIL OFFSET 1 EMIT CHANGES;")


def test_groups_of_a_topic_are_told_as_they_change(sql_service: SqlProcess, orders: str) -> None:
    """In the server: Spark is not asked."""
    text = f"SELECT ROWKEY, COUNT(*) AS n FROM `{orders}` SINCE BEGINNING GROUP BY ROWKEY EMIT CHANGES LIMIT 3;"
    assert sql_service.rows(text) == [["a", 1], ["a", 2], ["a", 3]]


def test_explain_tells_what_is_read(sql_service: SqlProcess, orders: str) -> None:
    text = f"EXPLAIN SELECT id FROM `{orders}` PARTITION 0 WHERE ROWOFFSET > 1 ORDER BY id LIMIT 1;"
    plan = sql_service.execute(text)[0]["queryDescription"]["executionPlan"]
    assert plan.startswith("Runs in the server, without Spark")
    assert f"reads of topic {orders}: partitions 0, from offset 2 (by the condition: from offset 2)" in plan
    assert f"columns of {orders} from a sample of 4 JSON records" in plan
    (described,) = sql_service.execute(f"EXPLAIN SELECT id FROM `{orders}` LIMIT 2;")
    plan = described["queryDescription"]["executionPlan"]
    assert f"reads of topic {orders}: all, until the rows of LIMIT 2 are known" in plan


def test_a_query_that_runs_on_is_told_how_to_declare_its_topic(sql_service: SqlProcess, orders: str) -> None:
    name = orders.upper().replace("-", "_")
    message = sql_service.refusal(f"CREATE STREAM {name}_COPY AS SELECT * FROM `{orders}`;")
    declaration = next(line for line in message.splitlines() if line.startswith("CREATE STREAM"))
    assert declaration == (
        f"CREATE STREAM {name} (ROWKEY STRING KEY, ID BIGINT, TAGS ARRAY<STRING>) "
        f"WITH (KAFKA_TOPIC='{orders}', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON');"
    )
    sql_service.execute(declaration)
    assert sql_service.rows(f"SELECT * FROM {name} LIMIT 1;") == [["a", 0, ["x"]]]
    ranged = sql_service.refusal(f"CREATE STREAM {name}_COPY AS SELECT * FROM {name} TAIL 1;")
    assert "Ranges of topics are for looking" in ranged
