"""The driver process as the server sees it."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from streams_sql.spark.driver_process import Driver
from streams_sql.spark.messages import (
    Event,
    Explained,
    KafkaAccess,
    Open,
    Progress,
    Ready,
    StartQuery,
    Stopped,
    Unavailable,
)
from tests.broker import BarnabasBroker
from tests.process_tree import children
from tests.sql_service import QUICK_SPARK
from tests.streams_sql.spark.query_plans import doubled, order
from tests.streams_sql.spark.query_runs import TRIGGER, Topics
from tests.waiting import wait_for_async

DEADLINE_S = 90.0
# Two sessions of Spark start in it, one after the other.
TEST_DEADLINE_S = 300

EventT = TypeVar("EventT", bound=Event)


class Told:
    """Events of a driver, in the order in which they came."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def next(self, kind: type[EventT], fits: Callable[[EventT], bool] = lambda event: True) -> EventT:
        """The next event of a kind; those before it are forgotten."""

        async def found() -> EventT | None:
            while self.events:
                event = self.events.pop(0)
                if isinstance(event, kind) and fits(event):
                    return event
            return None

        return await wait_for_async(found, kind.__name__, DEADLINE_S)


def java_of(parent: int) -> int:
    """The Java process below a driver process that this one has started."""
    (driver,) = [pid for pid in children(parent) if b"streams_sql.spark.driver" in command_line(pid)]
    (java,) = [pid for pid in children(driver) if b"java" in command_line(pid).partition(b"\0")[0]]
    return java


def command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.timeout(TEST_DEADLINE_S)
def test_queries_go_on_when_java_is_killed(spark_jars: Path, barnabas: BarnabasBroker, tmp_path: Path) -> None:
    asyncio.run(survive_the_death_of_java(Topics(barnabas.address, f"d{secrets.token_hex(4)}"), tmp_path))


async def survive_the_death_of_java(topics: Topics, folder: Path) -> None:
    topic, sink = topics.create("in"), topics.create("out")
    told = Told()
    driver = Driver(Open("local[2]", QUICK_SPARK, KafkaAccess(topics.address)), told.events.append)
    query = StartQuery("q", doubled(topic, sink), str(folder / "checkpoint"), "earliest", TRIGGER)
    driver.start_query(query)
    driver.start()
    try:
        assert (await told.next(Ready)).slots == 2
        topics.write(topic, [order(1, "anna", 50.0, 1)])
        await told.next(Progress, lambda progress: progress.written_rows == 1)
        java = java_of(os.getpid())
        os.kill(java, signal.SIGKILL)
        topics.write(topic, [order(2, "anna", 60.0, 2)])
        await told.next(Ready)
        await told.next(Progress, lambda progress: progress.written_rows == 1)
        driver.explain_query("q")
        assert "MicroBatchScan" in ((await told.next(Explained)).text or "")
        driver.stop_query("q")
        await told.next(Stopped)
    finally:
        await driver.stop()
    assert [found.value["ID"] for found in topics.read(sink, 2)] == [1, 2]
    assert not [pid for pid in children(os.getpid()) if b"streams_sql.spark.driver" in command_line(pid)]


def test_what_keeps_spark_from_starting_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"JAVA_HOME": "", "PATH": "", "XDG_CACHE_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    asyncio.run(be_told_that_there_is_no_java())


async def be_told_that_there_is_no_java() -> None:
    told = Told()
    driver = Driver(Open("local[2]", {}, KafkaAccess("127.0.0.1:1")), told.events.append)
    driver.start()
    try:
        assert "Spark needs Java 17" in (await told.next(Unavailable)).reason
        assert driver.unavailable is not None
    finally:
        await driver.stop()
