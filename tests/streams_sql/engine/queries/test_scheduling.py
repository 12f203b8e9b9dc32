"""How a new query is run: what is found out of its topics, and whether real-time mode is possible."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import replace

import pytest

from barnabas.kernel.kafka_clients.admin import Admin
from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.engine.queries.scheduling import Scheduler
from streams_sql.problem import SqlProblem
from streams_sql.spark.driver.slots import SlotCount
from tests.broker import BarnabasBroker
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.spark.query_runs import Topics

REAL_TIME = {"sql.trigger.real.time": "true"}
PLAIN = "CREATE STREAM X AS SELECT K, A + 1 AS B FROM S WHERE A > 1;"
LOOKUP = "CREATE STREAM X AS SELECT S.K AS K, A, D FROM S JOIN T ON S.K = T.K;"
COUNT = "CREATE TABLE X AS SELECT B, COUNT(*) AS N FROM S GROUP BY B;"


class Server:
    """What a server of some properties and slots finds out."""

    def __init__(self, broker: BarnabasBroker, properties: Mapping[str, str] | None = None, slots: int = 4) -> None:
        self.topics = Topics(broker.address, f"p{secrets.token_hex(4)}")
        self._broker = broker
        self._settings = QuerySettings("/c", properties=properties or {})
        self.slots = SlotCount(f"local[{slots}]")
        self.statements = Statements(prefix=f"{self.topics.prefix}-")

    def query(self, text: str, **properties: str) -> PersistentQuery:
        dotted = {name.replace("_", "."): value for name, value in properties.items()}
        started = self.statements.apply(text, properties=dotted).started
        assert started is not None
        return started

    def check(self, query: PersistentQuery) -> None:
        asyncio.run(self._check(query))

    async def _check(self, query: PersistentQuery) -> None:
        await self._scheduling().check(query)

    def scheduled(self, query: PersistentQuery, former: PersistentQuery | None = None) -> Command:
        return asyncio.run(self._scheduled(query, former))

    async def _scheduled(self, query: PersistentQuery, former: PersistentQuery | None) -> Command:
        return await self._scheduling().scheduled(Command(query.statement), query, former)

    def rebuilding(self, former: PersistentQuery) -> Command:
        """The command of a query in the place of another one."""
        return asyncio.run(self._rebuilding(former))

    async def _rebuilding(self, former: PersistentQuery) -> Command:
        return self._scheduling().rebuilding(Command(former.statement), former)

    def _scheduling(self) -> Scheduler:
        admin = Admin({"bootstrap.servers": self._broker.address})
        return Scheduler(admin, None, self._settings, self.slots.check)


def test_a_query_that_begins_now_knows_where_that_is(barnabas: BarnabasBroker) -> None:
    server = Server(barnabas)
    stream, table = server.topics.create("s", 2), server.topics.create("t", 1)
    server.topics.write(stream, [("a", {"a": 1}, 1), ("a", {"a": 2}, 2)])
    server.topics.write(table, [("a", {"d": "x"}, 1)])
    query = server.query(LOOKUP)
    positions = json.loads(server.scheduled(query).positions or "")
    # Tables are read from their beginnings: what is in them is what a stream is joined with.
    assert list(positions) == [stream]
    assert sorted(positions[stream]["offsets"].values()) == [0, 2]
    asked = replace(query, properties={"auto.offset.reset": "latest"})
    assert json.loads(server.scheduled(asked).positions or "")[table]["offsets"] == {"0": 1}
    from_beginning = replace(query, properties={"ksql.streams.auto.offset.reset": "earliest"})
    assert server.scheduled(from_beginning).positions is None


def test_a_topic_that_is_still_to_be_made_is_read_from_its_beginning(barnabas: BarnabasBroker) -> None:
    server = Server(barnabas)
    assert server.scheduled(server.query(PLAIN)).positions == "{}"


def test_a_query_in_place_of_another_begins_where_that_did(barnabas: BarnabasBroker) -> None:
    server = Server(barnabas)
    former = replace(server.query(PLAIN), positions="there")
    assert server.scheduled(former, former).positions == "there"


def test_slots_are_counted_for_real_time_mode(barnabas: BarnabasBroker) -> None:
    server = Server(barnabas, slots=4)
    server.topics.create("s", 3)
    assert server.scheduled(server.query(PLAIN)).slots is None
    assert server.scheduled(server.query(PLAIN.replace("X", "Y"), **_named(REAL_TIME))).slots == 3


def test_a_query_that_asks_for_more_slots_than_there_are_is_refused(barnabas: BarnabasBroker) -> None:
    server = Server(barnabas, slots=3)
    server.topics.create("s", 3)
    query = server.query(PLAIN, **_named(REAL_TIME))
    with pytest.raises(SqlProblem, match="holds 3 of Spark's 3 task slots all the time, and other queries hold 0"):
        server.scheduled(query)


def test_a_server_that_prefers_real_time_mode_runs_the_rest_in_batches(barnabas: BarnabasBroker) -> None:
    server = Server(barnabas, REAL_TIME, slots=3)
    server.topics.create("s", 2)
    assert server.scheduled(server.query(PLAIN)).slots == 2
    counted = server.query(COUNT.replace("X", "Y"))
    server.check(counted)
    command = server.scheduled(counted)
    assert (command.slots, command.why_batches) == (None, "it has an aggregate or a join, and those keep state")
    server.slots.take("another", 1)
    full = server.scheduled(server.query(PLAIN.replace("X", "Z")))
    assert full.slots is None
    assert "one must stay free" in (full.why_batches or "")


@pytest.mark.parametrize(
    ("text", "properties", "reason"),
    [
        (COUNT, {}, "it has an aggregate or a join, and those keep state"),
        (LOOKUP, {}, "it has an aggregate or a join"),
        ("CREATE STREAM X AS SELECT K, CHR(B) AS C FROM S;", {}, r"CHR\(.*\) is worked out in Python"),
        (
            "CREATE STREAM X WITH (VALUE_FORMAT='DELIMITED') AS SELECT K, A FROM S;",
            {},
            r"its value \(DELIMITED: .*\) is written in Python",
        ),
        (PLAIN, {"sql_names_keep_case": "true"}, "the names of its fields keep their case"),
        (PLAIN, {"processing_guarantee": "exactly_once_v2"}, "it is to write exactly once"),
        ("CREATE STREAM X AS SELECT K, A FROM H;", {}, "its source H has columns of headers"),
        ("CREATE STREAM X AS SELECT K, A FROM U;", {}, "its source U takes ROWTIME from a column"),
        (
            "CREATE STREAM X AS SELECT K, A FROM N;",
            {},
            r"the value of its source \(JSON: `A` BIGINT, `B` ARRAY<INTEGER>\) is read in Python",
        ),
        ("CREATE TABLE X AS SELECT K, D FROM T;", {}, "it reads or makes a table"),
    ],
)
def test_why_real_time_mode_is_not_possible_is_told(
    barnabas: BarnabasBroker, text: str, properties: dict[str, str], reason: str
) -> None:
    server = Server(barnabas)
    for name, column, more in (
        ("H", "X BYTES HEADER('x')", ""),
        ("U", "TS BIGINT", ", TIMESTAMP='TS'"),
        ("N", "B ARRAY<INT>", ""),
    ):
        columns = f"K STRING KEY, A BIGINT, {column}"
        server.statements.apply(f"CREATE STREAM {name} ({columns}) WITH (KAFKA_TOPIC='n', VALUE_FORMAT='JSON'{more});")
    query = server.query(text, **_named(REAL_TIME), **properties)
    with pytest.raises(SqlProblem, match=f"cannot run in real-time mode: {reason}") as problem:
        server.check(query)
    assert "Set 'sql.trigger.real.time' to 'false'" in problem.value.message


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"spark_executor_memory": "1g"}, "spark.executor.memory holds for all of Spark"),
        ({"auto_offset_reset": "now"}, "auto.offset.reset=now is neither earliest nor latest"),
        ({"sql_trigger_interval_ms": "soon"}, "sql.trigger.interval.ms=soon is no number"),
    ],
)
def test_properties_that_no_query_can_have_are_refused(
    barnabas: BarnabasBroker, properties: dict[str, str], reason: str
) -> None:
    server = Server(barnabas)
    with pytest.raises(SqlProblem, match=reason):
        server.check(server.query(PLAIN, **properties))


def _named(properties: Mapping[str, str]) -> dict[str, str]:
    return {name.replace(".", "_"): value for name, value in properties.items()}


def test_what_is_built_in_the_place_of_another_query_begins_where_that_has_and_runs_in_batches(
    barnabas: BarnabasBroker,
) -> None:
    server = Server(barnabas, REAL_TIME)
    former = server.query(PLAIN)
    command = server.rebuilding(replace(former, positions='{"s": {}}', slots=1))
    assert (command.positions, command.slots) == ('{"s": {}}', None)
    assert command.why_batches == "it was built in the place of another query"
    assert server.rebuilding(former).positions == "{}"
    assert Server(barnabas).rebuilding(former).why_batches is None
