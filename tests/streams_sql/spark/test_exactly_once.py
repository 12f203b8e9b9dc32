"""Exactly once: nothing is lost and nothing is written twice, whenever Java is killed."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import IsolationLevel, TopicPartition

from streams_sql.spark.driver.messages import Event, Explained, Guarantee, Open, QueryFailed, Ready, StartQuery, Stopped
from streams_sql.spark.driver.process import Driver
from streams_sql.spark.sources.broker_access import KafkaAccess
from tests.broker import BarnabasBroker
from tests.clients.confluent_client import AdminClient, OffsetSpec, assigned
from tests.sql_service import QUICK_SPARK
from tests.streams_sql.spark.query_plans import counted, doubled, order
from tests.streams_sql.spark.query_runs import TRIGGER, QueryRun, Topics, exactly_once
from tests.streams_sql.spark.test_driver_process import Told, drivers_of, java_of
from tests.waiting import wait_for, wait_for_async

TEST_DEADLINE_S = 600
DEADLINE_S = 240.0
KILLS = 1
SLOTS = 4
LOOKS = 200
"""At the transactions, before more is written."""
PARTITIONS = 3
RECORDS = 10_000
"""Written at a time, again and again until a transaction is seen while it is open."""
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
USERS = ("anna", "bob", "carl")


def orders(begin: int) -> list[tuple[str, dict[str, object], int]]:
    return [order(number, USERS[number % 3], 20.0, number) for number in range(begin, begin + RECORDS)]


class Sink:
    """A topic of results, by what is committed in it and what is not yet."""

    def __init__(self, address: str, topic: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": address})
        self._address = address
        self._topic = topic
        self._read: list[tuple[bytes | None, bytes]] = []
        self._next = 0

    def is_open(self) -> bool:
        """Whether a transaction has written something and is not at its end."""
        return self._end(IsolationLevel.READ_UNCOMMITTED) > self._end(IsolationLevel.READ_COMMITTED)

    def records(self) -> list[tuple[bytes | None, bytes]]:
        """Everything that is committed."""
        place = TopicPartition(self._topic, 0, self._next)
        with assigned(self._address, [place], isolation_level="read_committed") as consumer:
            while messages := consumer.consume(10_000, 1.0):
                for message in messages:
                    assert message.error() is None, message.error()
                    self._read.append((message.key(), message.value() or b""))
                    self._next = (message.offset() or 0) + 1
        return self._read

    def _end(self, isolation: IsolationLevel) -> int:
        place = TopicPartition(self._topic, 0)
        (asked,) = self._admin.list_offsets({place: _LATEST}, isolation_level=isolation).values()
        return int(asked.result().offset)


@pytest.mark.timeout(TEST_DEADLINE_S)
def test_java_may_be_killed_in_the_middle_of_transactions(
    spark_jars: Path, barnabas: BarnabasBroker, tmp_path: Path
) -> None:
    asyncio.run(survive_kills(Topics(barnabas.address, f"e{secrets.token_hex(4)}"), tmp_path))


class Runner:
    """A driver with two queries, one without state and one with; those that fail are started again, as the server does it."""

    def __init__(self, topics: Topics, folder: Path) -> None:
        self.topic = topics.create("in", PARTITIONS)
        rows, counts = topics.create("rows"), topics.create("counts")
        self.rows, self.counts = Sink(topics.address, rows), Sink(topics.address, counts)
        self._queries = {
            name: StartQuery(name, plan, str(folder / name), "earliest", TRIGGER, guarantee=Guarantee.EXACTLY_ONCE)
            for name, plan in (("rows", doubled(self.topic, rows)), ("counts", counted(self.topic, counts)))
        }
        opening = Open(f"local[{SLOTS}]", QUICK_SPARK, KafkaAccess(topics.address), prefix=f"{topics.prefix}_")
        self.told = Told()
        self.driver = Driver(opening, self._hear)
        for query in self._queries.values():
            self.driver.start_query(query)

    def _hear(self, event: Event) -> None:
        self.told.events.append(event)
        if isinstance(event, QueryFailed):
            self.driver.start_query(self._queries[event.query_id])

    def ids(self) -> Counter[int]:
        return Counter(json.loads(value)["ID"] for _, value in self.rows.records())

    def numbers(self, user: str) -> list[int]:
        return [json.loads(value)["N"] for key, value in self.counts.records() if key == user.encode()]

    def is_whole(self, written: int) -> bool:
        return len(self.ids()) == written == sum(max(self.numbers(user), default=0) for user in USERS)


async def survive_kills(topics: Topics, folder: Path) -> None:
    runner = Runner(topics, folder)
    written = await write_more(topics, runner, 0)
    runner.driver.start()
    try:
        assert (await runner.told.next(Ready)).slots == SLOTS
        # What is written from now on is read at once.
        await until(lambda: bool(runner.rows.records()), "the first results")
        for _ in range(KILLS):
            written = await write_until_open(topics, runner, written)
            os.kill(java_of(os.getpid()), signal.SIGKILL)
            await runner.told.next(Ready)
        await until(lambda: runner.is_whole(written), "all results")
        runner.driver.explain_query("rows")
        assert "MicroBatchScan" in ((await runner.told.next(Explained)).text or "")
        runner.driver.stop_query("rows")
        await runner.told.next(Stopped)
    finally:
        await runner.driver.stop()
    assert not drivers_of(os.getpid())
    assert runner.ids() == Counter(range(written))
    for user in USERS:
        numbers = runner.numbers(user)
        # A batch that is written twice would tell the same number twice.
        assert numbers == sorted(set(numbers))


async def write_more(topics: Topics, runner: Runner, written: int) -> int:
    await asyncio.to_thread(topics.write, runner.topic, orders(written))
    return written + RECORDS


async def write_until_open(topics: Topics, runner: Runner, written: int) -> int:
    """Write until a transaction is open, and return how many records there are now."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            written = await write_more(topics, runner, written)
            for _ in range(LOOKS):
                if await asyncio.to_thread(runner.rows.is_open):
                    return written


async def until(condition: Callable[[], bool], what: str) -> None:
    async def asked() -> bool:
        return await asyncio.to_thread(condition)

    await wait_for_async(asked, what, DEADLINE_S)


def test_a_batch_that_is_done_again_is_written_once_whatever_task_reads_which_partition(run: QueryRun) -> None:
    topic, sink = run.topic("in", partitions=PARTITIONS), run.topic("out")
    run.write(topic, [order(number, "anna", 50.0, number) for number in range(30)])
    query_id = run.start(doubled(topic, sink), **exactly_once())
    run.settled(30)
    run.stop(query_id)
    # As if the driver had died after the transactions and before Spark's own note of them.
    for note in run.checkpoint("commits"):
        note.unlink()
    run.write(topic, [order(30, "anna", 60.0, 30)])
    run.start(doubled(topic, sink), **exactly_once())
    assert sorted(found.value["ID"] for found in run.read(sink, 31)) == [*range(31)]


def test_a_checkpoint_that_was_lost_does_not_make_rows_twice_nor_hide_new_ones(run: QueryRun) -> None:
    topic, sink, counts = run.topic("in"), run.topic("out"), run.topic("counts")
    run.write(topic, [order(1, "anna", 50.0, 1)])
    for plan, target in ((doubled(topic, sink), sink), (counted(topic, counts), counts)):
        query_id = run.start(plan, **exactly_once())
        run.read(target, 1)
        run.stop(query_id)
        shutil.rmtree(run.folder / "checkpoint")
    run.write(topic, [order(2, "anna", 60.0, 2)])
    query_id = run.start(doubled(topic, sink), **exactly_once())
    assert [found.value["ID"] for found in run.read(sink, 2)] == [1, 2]
    run.stop(query_id)
    shutil.rmtree(run.folder / "checkpoint")
    # What was counted is gone with the checkpoint: it is counted and told anew.
    run.start(counted(topic, counts), **exactly_once())
    assert [found.value["N"] for found in run.read(counts, 2)] == [1, 2]


def test_groups_of_a_query_that_is_gone_are_deleted(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 50.0, 1)])
    query_id = run.start(counted(topic, sink), **exactly_once())
    run.settled(1)
    assert groups(run)
    run.host.forget(query_id, str(run.folder / "checkpoint"))
    assert not (run.folder / "checkpoint").exists()
    wait_for(lambda: not groups(run), "the groups to be gone")


def groups(run: QueryRun) -> list[str]:
    admin = AdminClient({"bootstrap.servers": run.topics.address})
    listed = admin.list_consumer_groups().result()
    return [group.group_id for group in listed.valid if run.query_id in group.group_id]
