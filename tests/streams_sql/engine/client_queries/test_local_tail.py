"""Rows of a query in this process, and its end while somebody waits for them."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import Consumer

from streams_sql.analysis.push import plan_push
from streams_sql.engine.client_queries.local_tail import LocalTail
from streams_sql.engine.client_queries.results import RowBatch
from streams_sql.engine.client_queries.topic_tail import Start
from streams_sql.local import reading, spans
from streams_sql.local.spans import Bounds, bounds_of
from streams_sql.plan.records import Problem
from streams_sql.plan.spans import Span
from streams_sql.problem import SqlProblem
from tests.broker import BarnabasBroker
from tests.conftest import StartBroker
from tests.streams_sql.analysis.catalogues import query_of, sources
from tests.streams_sql.processors.plans import unexpected
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for


async def opened(broker: BarnabasBroker, written: WrittenTopic) -> LocalTail:
    written.write([("x", {"a": 1})])
    catalogue = sources(f"CREATE STREAM s (k STRING KEY, a INT) WITH (kafka_topic='{written.name}')")
    plan = plan_push(query_of("SELECT k, COUNT(*) AS n FROM s GROUP BY k EMIT CHANGES;"), catalogue)
    settings = {"bootstrap.servers": broker.address}
    problems: list[Problem] = []
    tail = LocalTail(plan, settings, None, Start(is_beginning=True), problems.append, unexpected)
    await tail.open()
    return tail


async def waiting_for_more(tail: LocalTail) -> asyncio.Task[RowBatch | None]:
    """Take what is there, then wait for what will never come."""
    assert (await anext(tail)).rows == [("x", 1)]
    waiting = asyncio.ensure_future(anext(tail, None))
    await asyncio.wait((waiting,), timeout=0)
    assert not waiting.done()
    return waiting


def test_it_can_be_closed_while_somebody_waits_for_rows(barnabas: BarnabasBroker, topic: str) -> None:
    async def scenario() -> None:
        tail = await opened(barnabas, WrittenTopic(barnabas.address, topic))
        waiting = await waiting_for_more(tail)
        await asyncio.gather(tail.close(), tail.close())
        assert await waiting is None
        assert await anext(tail, None) is None

    asyncio.run(scenario())


def test_it_can_be_closed_when_a_reader_has_just_given_up(barnabas: BarnabasBroker, topic: str) -> None:
    async def scenario() -> None:
        tail = await opened(barnabas, WrittenTopic(barnabas.address, topic))
        waiting = await waiting_for_more(tail)
        waiting.cancel()
        await tail.close()
        assert waiting.cancelled()

    asyncio.run(scenario())


def test_it_goes_on_after_the_broker_was_away_while_partitions_were_looked_for(
    start_broker: StartBroker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = start_broker()
    written = WrittenTopic(broker.address, topic)
    failures: list[SqlProblem] = []

    def observed(consumer: Consumer, topic: str, span: Span) -> dict[int, Bounds]:
        try:
            return bounds_of(consumer, topic, span)
        except SqlProblem as problem:
            failures.append(problem)
            raise

    async def scenario() -> None:
        tail = await opened(broker, written)
        monkeypatch.setattr(reading, "PARTITIONS_INTERVAL_S", 0.0)
        monkeypatch.setattr(reading, "bounds_of", observed)
        monkeypatch.setattr(spans, "ANSWER_S", 0.2)
        waiting = await waiting_for_more(tail)
        await asyncio.to_thread(broker.kill)
        await asyncio.to_thread(wait_for, lambda: failures, "a look that fails")
        monkeypatch.undo()
        await asyncio.to_thread(broker.start)
        await asyncio.to_thread(written.write, [("x", {"a": 2})])
        assert (found := await waiting) is not None
        assert found.rows == [("x", 2)]
        await tail.close()

    asyncio.run(scenario())
