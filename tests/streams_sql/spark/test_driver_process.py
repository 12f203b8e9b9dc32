"""The driver process as the server sees it."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TypeVar

import pytest

from streams_sql.spark.driver.messages import Event, Open, Ready, Unavailable
from streams_sql.spark.driver.process import Driver
from streams_sql.spark.sources.broker_access import KafkaAccess
from tests.process_tree import children
from tests.streams_sql import no_java
from tests.waiting import wait_for_async

DEADLINE_S = 240.0

EventT = TypeVar("EventT", bound=Event)


class Told:
    """Events of a driver, in the order in which they came."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def next(self, kind: type[EventT]) -> EventT:
        """The next event of a kind; those before it are forgotten."""

        async def found() -> EventT | None:
            while self.events:
                event = self.events.pop(0)
                if isinstance(event, kind):
                    return event
            return None

        return await wait_for_async(found, kind.__name__, DEADLINE_S)


def drivers_of(parent: int) -> list[int]:
    """The driver processes that this one has started and that are still there."""
    return [pid for pid in children(parent) if b"streams_sql.spark.driver.main" in command_line(pid)]


def java_of(parent: int) -> int:
    """The Java process below the driver process that this one has started."""
    (driver,) = drivers_of(parent)
    (java,) = [pid for pid in children(driver) if b"java" in command_line(pid).partition(b"\0")[0]]
    return java


def command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_what_keeps_spark_from_starting_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in no_java.environment(tmp_path).items():
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


def test_a_process_that_was_lost_is_a_problem_until_another_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing else is started while the test looks.
    monkeypatch.setattr("streams_sql.spark.driver.process.BACK_OFF_FIRST_S", DEADLINE_S)
    asyncio.run(lose_the_process())


async def lose_the_process() -> None:
    driver = Driver(Open("local[2]", {}, KafkaAccess("127.0.0.1:1")), lambda _event: None)
    driver.start()
    try:

        async def started() -> list[int]:
            return drivers_of(os.getpid())

        (pid,) = await wait_for_async(started, "the process", DEADLINE_S)
        driver.handle(Ready(2, "4.0"))
        assert driver.problem is None
        os.kill(pid, signal.SIGKILL)

        async def found() -> str | None:
            return driver.problem

        assert "has ended; another one is starting" in await wait_for_async(found, "the problem", DEADLINE_S)
        driver.handle(Ready(2, "4.0"))
        assert driver.problem is None
    finally:
        await driver.stop()
