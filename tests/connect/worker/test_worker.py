"""What runs on a worker is brought to its target, whatever fails or hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import cast

from connect.api.plugin import PluginKind
from connect.storage.status import Condition
from connect.tasks.spec import TaskId
from connect.worker.context import WorkerContext
from connect.worker.restarts import RestartPolicy
from connect.worker.worker_connector import ConnectorTarget, WorkerConnector
from connect.worker.worker_task import TaskTarget, WorkerTask

DEADLINE_S = 60
CONFIG = {"connector.class": "sink", "topics": "t", "tasks.max": "1"}


def test_a_connector_that_its_worker_failed_to_run_is_run_again() -> None:
    told: list[tuple[Condition, str]] = []
    failures = [RuntimeError("a defect")]

    async def scenario() -> None:
        published = asyncio.Event()

        def connector_plugin(config: Mapping[str, str]) -> SimpleNamespace:
            if failures:
                raise failures.pop()
            return SimpleNamespace(kind=PluginKind.SINK, class_name="sink")

        async def publish(name: str, tasks: Sequence[Mapping[str, str]]) -> None:
            published.set()

        context = SimpleNamespace(
            restart_policy=RestartPolicy(backoff_ms=1),
            connector_plugin=connector_plugin,
            statuses=SimpleNamespace(connector=lambda name, condition, trace: told.append((condition, trace))),
        )
        run = WorkerConnector("c", cast("WorkerContext", context), publish)
        run.aim(ConnectorTarget(CONFIG))
        async with asyncio.timeout(DEADLINE_S):
            await published.wait()
            await run.end()

    asyncio.run(scenario())
    assert [condition for condition, _ in told] == [Condition.FAILED, Condition.RUNNING]
    assert told[0][1].startswith(
        "The worker failed to run this connector; see its log.\nAutomatic restart 1 follows at "
    )


def test_a_task_ends_though_kafka_does_not_tell_how_far_it_was_read() -> None:
    async def scenario() -> None:
        asked, never = asyncio.Event(), asyncio.Event()

        async def task_spec(task: TaskId, config: Mapping[str, str], *, starts_paused: bool) -> None:
            asked.set()
            await never.wait()

        context = SimpleNamespace(restart_policy=RestartPolicy(), task_spec=task_spec)
        run = WorkerTask(TaskId("c", 0), cast("WorkerContext", context))
        run.aim(TaskTarget(CONFIG))
        async with asyncio.timeout(DEADLINE_S):
            await asked.wait()
            await run.end()

    asyncio.run(scenario())
