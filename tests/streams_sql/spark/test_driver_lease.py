"""How long the driver process may run without a word from its server, and how soon it ends."""

from __future__ import annotations

import asyncio
import os
import time

from streams_sql.spark.driver.messages import Open
from streams_sql.spark.driver.process import Driver
from streams_sql.spark.sources.broker_access import KafkaAccess
from tests.process_tree import children, is_alive
from tests.waiting import wait_for_async

LEASE_S = 1.0
QUICK_S = 9.0
"""Less than the time for which a stop waits for the process to end by itself."""


def driver_processes() -> set[int]:
    return {pid for pid in children(os.getpid()) if is_alive(pid)}


async def started_process(before: set[int]) -> int:
    async def found() -> int | None:
        return min(driver_processes() - before, default=None)

    return await wait_for_async(found, "the driver process")


def test_the_process_ends_with_its_lease_whatever_it_does() -> None:
    async def scenario() -> None:
        before = driver_processes()
        driver = Driver(Open("local[1]", {}, KafkaAccess("127.0.0.1:1")), lambda event: None)
        driver.start()
        try:
            process = await started_process(before)
            driver.lease(time.monotonic() + LEASE_S)
            driver.lease(None)
            driver.lease(time.monotonic() + LEASE_S)
            ends_s = time.monotonic() + LEASE_S

            async def is_over() -> bool:
                return not is_alive(process)

            await wait_for_async(is_over, "the process to end")
            assert time.monotonic() >= ends_s
            # Another one warms up, for when this server runs queries again.
            driver.lease(None)
            assert await started_process(before) != process
        finally:
            await driver.stop()

    asyncio.run(scenario())


def test_it_is_stopped_at_once_while_spark_starts() -> None:
    async def scenario() -> None:
        before = driver_processes()
        driver = Driver(Open("local[1]", {}, KafkaAccess("127.0.0.1:1")), lambda event: None)
        driver.start()
        process = await started_process(before)
        begun_s = time.monotonic()
        await driver.stop()
        assert time.monotonic() - begun_s < QUICK_S
        assert not is_alive(process)

    asyncio.run(scenario())
