"""Three workers share a pipeline, and lose nothing when they are restarted, stand still, or die."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.broker import BarnabasBroker
from tests.connect.conftest import StartWorker
from tests.connect.e2e.conftest import HEALING_DEADLINE_S, QUICK_SESSIONS, TEST_DEADLINE_S
from tests.connect.e2e.pipelines import (
    QUICK_CONSUMER,
    compare,
    file_sink,
    file_source,
    growing_file,
    lines,
    task_processes,
)
from tests.connect.tasks.topics import create
from tests.connect_service import ConnectProcess
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_DEADLINE_S)

WORKERS = 3
PARTITIONS = 3
TASKS = {"source": 1, "sink": PARTITIONS}


def test_a_pipeline_on_three_workers(
    quick_broker: BarnabasBroker, start_worker: StartWorker, topic: str, tmp_path: Path
) -> None:
    create(quick_broker.address, topic, PARTITIONS)
    file, copies = tmp_path / "lines.txt", tmp_path / "copies"
    file.touch()
    copies.mkdir()

    def start(_: int) -> ConnectProcess:
        return start_worker(quick_broker.address, **QUICK_SESSIONS, exactly_once_source_support="enabled")

    with ThreadPoolExecutor() as starting:
        first, second, third = workers = list(starting.map(start, range(WORKERS)))
    # Whoever does not lead hands on what it is told.
    second.create("source", file_source(file, topic))
    sink = file_sink(copies / "${partition}", topic, exactly_once=True, **QUICK_CONSUMER)
    third.create("sink", {**sink, "tasks.max": str(PARTITIONS)})
    wait_for(lambda: _is_shared(workers), "each worker to have a task")
    before = [task_processes(worker) for worker in workers]
    first.create("other", {"connector.class": "null-sink", "topics": topic})
    first.wait_for_tasks("other", ["RUNNING"])
    assert first.call("DELETE", "/connectors/other").status_code == 204
    wait_for(lambda: [task_processes(worker) for worker in workers] == before, "the other connector to be gone")

    with growing_file(file) as taken:
        first.restart()
        wait_for(lambda: _is_shared(workers), "the restarted worker to have its share again", HEALING_DEADLINE_S)
        os.kill(second.pid, signal.SIGSTOP)
        wait_for(lambda: _is_shared([first, third]), "the tasks of the still worker to move", HEALING_DEADLINE_S)
        os.kill(second.pid, signal.SIGCONT)
        wait_for(lambda: _is_shared(workers), "the still worker to have its share again", HEALING_DEADLINE_S)
        third.kill()
        wait_for(lambda: _is_shared([first, second]), "the tasks of the dead worker to move", HEALING_DEADLINE_S)

    def copied() -> list[str]:
        return [line for copy in copies.glob("[0-9]") for line in copy.read_text().splitlines()]

    wait_for(lambda: len(copied()) >= taken(), "all lines to arrive", HEALING_DEADLINE_S)
    compare(lines(taken()), copied(), exactly_once=True)
    # To let them stop properly would take longer.
    for worker in (first, second):
        worker.kill()


def _is_shared(workers: list[ConnectProcess]) -> bool:
    """Whether all tasks run, on just these workers, as each of these says."""
    for worker in workers:
        places = []
        for name, count in TASKS.items():
            tasks = (worker.status(name) or {"tasks": []})["tasks"]
            if [task["state"] for task in tasks] != ["RUNNING"] * count:
                return False
            places += [task["worker_id"] for task in tasks]
        if set(places) != {each.address for each in workers}:
            return False
    return True
