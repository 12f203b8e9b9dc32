"""Push queries with state: jobs of a driver that does what a test wants, and the topics that go with them, on a real broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from streams_sql.analysis.push import plan_push
from streams_sql.engine.client_queries import push_jobs
from streams_sql.engine.client_queries.push_jobs import PushJobs, PushSettings
from streams_sql.engine.client_queries.push_queries import PushQueries
from streams_sql.engine.failures import TooManyPushQueries, Unavailable
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query
from streams_sql.plan.nodes import Aggregate, Project, PushPlan, reads_of
from streams_sql.spark.driver import messages
from streams_sql.spark.driver.messages import QueryFailed, Ready, Stopped
from tests.broker import BarnabasBroker
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.engine.queries.recording_driver import RecordingDriver
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for_async

HOST = "sql-1.example:8088"
COUNT = "SELECT K, COUNT(*) AS N FROM S GROUP BY K EMIT CHANGES;"


def planned() -> PushPlan:
    query = parse_statement(COUNT)
    assert isinstance(query, Query)
    return plan_push(query, Statements().catalogue)


class Scene:
    """Push queries of a server at `HOST`, of which at most two may run."""

    def __init__(self, address: str, topic: str) -> None:
        client = {"bootstrap.servers": address}
        self.prefix = f"_{topic[-40:]}"
        self.admin = Admin(client)
        self.driver = RecordingDriver()
        queries = QuerySettings("/checkpoints")
        settings = PushSettings(client, None, self.prefix, queries_max=2, replicas=1)
        self.jobs = PushJobs(settings, self.admin, self.driver, queries, HOST)
        self.pushes = PushQueries(settings, self.jobs, queries, ErrorLog(lambda error: None))

    async def topics(self) -> list[str]:
        return sorted(name for name in await self.admin.topics() if name.startswith(self.prefix))


@pytest.fixture
def play(
    barnabas: BarnabasBroker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Scene], Awaitable[None]]], None]:
    """Runs a test in an event loop, and ends the queries that it leaves behind: else they would go on reading."""

    def played(work: Callable[[Scene], Awaitable[None]]) -> None:
        async def run() -> None:
            scene = Scene(barnabas.address, topic)
            try:
                await work(scene)
            finally:
                # Nobody tells of the end of these jobs any more.
                monkeypatch.setattr(push_jobs, "STOP_TIMEOUT_S", 0.05)
                await scene.pushes.stop()

        asyncio.run(run())

    return played


Play = Callable[[Callable[[Scene], Awaitable[None]]], None]


def test_the_topic_of_a_job_goes_when_the_job_has_stopped(play: Play) -> None:
    async def work(scene: Scene) -> None:
        result = await scene.pushes.start(planned(), {"spark.x": "1"}, COUNT)
        (command,) = scene.driver.started
        (made,) = await scene.topics()
        number = result.query_id.rpartition("_")[2]
        assert made == command.plan.sink.topic == f"{scene.prefix}transient_sql-1.example-8088_{number}"
        assert command.checkpoint == f"/checkpoints/transient/sql-1.example-8088/{number}"
        assert command.options == {"spark.x": "1"}
        await result.close()
        assert await scene.topics() == [made]
        assert (scene.driver.stopped, scene.driver.forgotten) == ([result.query_id], [])
        scene.pushes.on_event(Stopped(result.query_id))
        await scene.pushes.stop()
        assert await scene.topics() == []
        assert scene.driver.forgotten == [(result.query_id, command.checkpoint)]

    play(work)


def test_what_is_written_once_the_query_is_open_is_told_however_long_spark_takes(
    play: Play, barnabas: BarnabasBroker, topic: str
) -> None:
    written = WrittenTopic(barnabas.address, topic, partitions=2)
    written.write([("a", {"A": 1})], partition=1)

    async def work(scene: Scene) -> None:
        layout = await scene.admin.layout(topic)
        assert layout is not None
        for properties in ({}, {"auto.offset.reset": "earliest"}):
            await scene.pushes.start(reading(planned(), topic), properties, COUNT)
        from_now_on, from_the_beginning = [command.starting_offsets for command in scene.driver.started]
        assert json.loads(from_now_on) == {topic: {"id": layout.id, "offsets": {"0": 0, "1": 1}}}
        assert from_the_beginning == "earliest"

    play(work)


def reading(plan: PushPlan, topic: str) -> PushPlan:
    """The same plan over another topic."""
    (read,) = reads_of(plan.node)
    other = replace(read, source=replace(read.source, topic=topic))
    assert isinstance(plan.node, Project)
    assert isinstance(plan.node.input, Aggregate)
    return replace(plan, node=replace(plan.node, input=replace(plan.node.input, input=other)))


def test_a_job_that_does_not_tell_of_its_end_is_not_waited_for_for_ever(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push_jobs, "STOP_TIMEOUT_S", 0.05)

    async def work(scene: Scene) -> None:
        result = await scene.pushes.start(planned(), {}, COUNT)
        await result.close()
        await scene.pushes.stop()
        assert await scene.topics() == []

    play(work)


def test_what_a_killed_server_has_left_is_removed(play: Play) -> None:
    async def work(scene: Scene) -> None:
        own = f"{scene.prefix}transient_sql-1.example-8088_17"
        others = f"{scene.prefix}transient_sql-2.example-8088_17"
        for topic in (own, others):
            await scene.admin.create_topic(TopicShape(topic, 1, 1))
        await scene.jobs.sweep()
        assert await scene.topics() == [others]
        assert scene.driver.forgotten == [("transient", "/checkpoints/transient/sql-1.example-8088")]

    play(work)


def test_a_job_that_fails_ends_its_query_and_leaves_nothing(play: Play) -> None:
    async def work(scene: Scene) -> None:
        result = await scene.pushes.start(planned(), {}, COUNT)
        assert result.query_id.startswith("transient_S_")
        assert len(await scene.topics()) == 1
        scene.pushes.on_event(QueryFailed(result.query_id, "no such topic", ""))
        with pytest.raises(Exception, match="no such topic"):
            await anext(aiter(result.batches))
        await scene.pushes.stop()
        assert await scene.topics() == []

    play(work)


def test_without_spark_a_query_is_refused_and_those_that_wait_are_told(play: Play) -> None:
    async def work(scene: Scene) -> None:
        result = await scene.pushes.start(planned(), {}, COUNT)
        scene.pushes.on_event(messages.Unavailable("Java is missing"))
        with pytest.raises(Unavailable, match="Java is missing"):
            await anext(aiter(result.batches))
        scene.pushes.on_event(Stopped(result.query_id))
        with pytest.raises(Unavailable, match="Java is missing"):
            await scene.pushes.start(planned(), {}, COUNT)
        await scene.pushes.stop()
        assert await scene.topics() == []
        scene.pushes.on_event(Ready(4, "4.2"))
        again = await scene.pushes.start(planned(), {}, COUNT)
        await again.close()
        scene.pushes.on_event(Stopped(again.query_id))
        await scene.pushes.stop()

    play(work)


def test_queries_that_wait_for_their_end_do_not_count(play: Play) -> None:
    async def work(scene: Scene) -> None:
        first, second = [await scene.pushes.start(planned(), {}, COUNT) for _ in range(2)]
        with pytest.raises(TooManyPushQueries, match=r"Current push query count: 2. Configured limit: 2\."):
            await scene.pushes.start(planned(), {}, COUNT)
        assert scene.pushes.find(first.query_id.lower()) == first.query_id
        assert [each.statement for each in scene.pushes.statuses()] == [COUNT, COUNT]
        await first.close()
        third = await scene.pushes.start(planned(), {}, COUNT)
        for result in (second, third):
            assert await scene.pushes.close(result.query_id)
        for result in (first, second, third):
            scene.pushes.on_event(Stopped(result.query_id))

        async def all_gone() -> bool:
            return not await scene.topics()

        await wait_for_async(all_gone, "the topics to be gone")

    play(work)
