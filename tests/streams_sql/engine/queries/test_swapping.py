"""Swaps, and those that fail: the former query stays the source's, and it is told why."""

from __future__ import annotations

import asyncio

import pytest

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_log.log import MemoryLog
from streams_sql.analysis.defaults import Defaults
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import Changes
from streams_sql.engine.catalogue.command import LOWERING, Command
from streams_sql.engine.catalogue.command_log import CommandLog, CommandReplay
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.engine.queries.swapping import QuerySwap
from streams_sql.engine.statements.source_topics import SourceTopics
from streams_sql.spark.driver.messages import Settled
from tests.broker import BarnabasBroker
from tests.clients.confluent_client import create_topic
from tests.clients.records import KEEP_FOREVER
from tests.streams_sql.engine.queries.recording_driver import RecordingDriver

COUNT = (
    "CREATE OR REPLACE TABLE N WITH (KAFKA_TOPIC='{0}-n') AS SELECT B, COUNT(*) AS C FROM S WHERE B > '{1}' GROUP BY B;"
)


JOIN = "CREATE OR REPLACE STREAM N WITH (KAFKA_TOPIC='{0}-n') AS SELECT S.B AS B, R.B AS C FROM S JOIN R WITHIN {1} HOURS ON S.B = R.B;"


async def swapped(
    address: str, topic: str, *, has_shadow: bool, statement: str = COUNT, told: tuple[str | None, ...] = ()
) -> tuple[bool, Catalogue, PersistentQueries, RecordingDriver, set[str]]:
    """`told` is what Spark tells of a query that follows another one when it is settled, if anything."""
    catalogue, driver, settings = Catalogue(), RecordingDriver(), {"bootstrap.servers": address}
    replay = CommandReplay(catalogue, Changes(Defaults(key_format="KAFKA"), f"{topic}_"), lambda _: None)
    commands = CommandLog(MemoryLog(replay.apply), replay)
    await commands.append(Command(f"CREATE STREAM S (B STRING) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"))
    await commands.append(Command(f"CREATE STREAM R (B STRING) WITH (KAFKA_TOPIC='{topic}-r', VALUE_FORMAT='JSON');"))
    await commands.append(Command(statement.format(topic, 1), query_id="OLD", lowering=LOWERING))
    await commands.append(Command(statement.format(topic, 2), query_id="NEW", rebuilds="OLD", lowering=LOWERING))
    names = [f"{topic}-n", f"{topic}_rebuild-GONE", *([f"{topic}_rebuild-NEW"] if has_shadow else [])]
    for name in names:
        create_topic(address, name, 1, KEEP_FOREVER)
    queries = PersistentQueries(driver, QuerySettings("/checkpoints"), ErrorLog(lambda _: None))
    queries.reconcile(catalogue.queries.values())
    topics = SourceTopics(Admin(settings), 1)

    async def at_once(deadline_s: float) -> None:
        for query_id in driver.settled:
            assert driver.stopped == ["OLD"]
            for problem in told:
                queries.on_event(Settled(query_id, problem))

    def run() -> None:
        queries.reconcile(catalogue.queries.values())

    swapping = QuerySwap(catalogue, commands, queries, topics, settings, f"{topic}_", at_once, run)
    await swapping.sweep()
    is_done = await swapping.swap("NEW")
    left = {name for name in await topics.names() if name.startswith(f"{topic}_rebuild")}
    return is_done, catalogue, queries, driver, left


def test_a_swap_that_fails_leaves_the_former_query_running_and_says_why(barnabas: BarnabasBroker, topic: str) -> None:
    is_done, catalogue, queries, driver, left = asyncio.run(swapped(barnabas.address, topic, has_shadow=False))
    assert not is_done
    assert list(catalogue.queries) == ["OLD", "NEW"]
    assert [command.query_id for command in driver.started] == ["OLD", "NEW", "OLD", "NEW"]
    (note,) = queries.status(catalogue.queries["NEW"]).notes
    assert "It could not take the place of OLD" in note.text
    assert left == set()


def test_a_swap_leaves_one_query_and_no_topic_of_its_own(barnabas: BarnabasBroker, topic: str) -> None:
    is_done, catalogue, _, driver, left = asyncio.run(swapped(barnabas.address, topic, has_shadow=True))
    assert is_done
    assert list(catalogue.queries) == ["NEW"]
    assert driver.started[-1].plan.target == f"{topic}-n"
    assert left == set()


@pytest.mark.parametrize(
    ("told", "reason"), [((), "the Spark process has ended"), (("It is 3 records behind.",), "3 records behind")]
)
def test_a_stream_stays_with_its_query_where_the_other_one_is_not_as_far(
    barnabas: BarnabasBroker, topic: str, told: tuple[str | None, ...], reason: str
) -> None:
    is_done, catalogue, queries, driver, _ = asyncio.run(
        swapped(barnabas.address, topic, has_shadow=False, statement=JOIN, told=told)
    )
    assert not is_done
    assert list(catalogue.queries) == ["OLD", "NEW"]
    assert [command.query_id for command in driver.started] == ["OLD", "NEW", "OLD", "NEW"]
    assert [command.follows is None for command in driver.started] == [True, False, True, False]
    (note,) = queries.status(catalogue.queries["NEW"]).notes
    assert "It could not take the place of OLD" in note.text
    assert reason in note.text


def test_the_query_of_a_stream_writes_from_the_swap_on(barnabas: BarnabasBroker, topic: str) -> None:
    is_done, catalogue, _, driver, _ = asyncio.run(
        swapped(barnabas.address, topic, has_shadow=False, statement=JOIN, told=(None,))
    )
    assert is_done
    assert list(catalogue.queries) == ["NEW"]
    assert [command.query_id for command in driver.started] == ["OLD", "NEW", "NEW"]
    assert driver.started[-1].follows is None
