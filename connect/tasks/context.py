"""What all parts of a running task share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from connect.tasks.control import Control
from connect.tasks.retries import Retries
from connect.tasks.task_metrics import TaskMetrics
from connect.tasks.tolerance import Tolerance


@dataclass(frozen=True, slots=True)
class TaskContext:
    """`tell` sends a message to the worker. Offsets are committed at the interval; Kafka has the timeout to acknowledge records before."""

    control: Control
    metrics: TaskMetrics
    tolerance: Tolerance
    retries: Retries
    tell: Callable[[object], None]
    commit_interval_s: float
    flush_timeout_s: float
