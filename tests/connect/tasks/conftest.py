"""Tasks that end with their test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connect.tasks.running_tasks import RunningTasks


@pytest.fixture
def tasks() -> Iterator[RunningTasks]:
    running = RunningTasks()
    yield running
    running.close()
