"""Workers that belong to one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.connect_service import ConnectProcess
from tests.ports import free_port

StartWorker = Callable[..., ConnectProcess]

QUICK_GROUP = {
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "300",
    "scheduled.rebalance.max.delay.ms": "0",
    "task.restart.backoff.ms": "300",
}


@pytest.fixture
def start_worker(tmp_path: Path, topic: str) -> Iterator[StartWorker]:
    """Start workers of a group of their own, which keep their ports over restarts: `start_worker(broker.address)`."""
    started: list[ConnectProcess] = []

    def start(bootstrap: str, **settings: object) -> ConnectProcess:
        named = {name.replace("_", "."): str(value) for name, value in settings.items()}
        port = free_port()
        worker = ConnectProcess(tmp_path / f"worker-{port}", bootstrap, topic, port, {**QUICK_GROUP, **named})
        started.append(worker)
        worker.start()
        return worker

    yield start
    for worker in started:
        if worker.is_running():
            worker.stop()
