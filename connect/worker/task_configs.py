"""The configurations of a connector's tasks: its own, and the shards that each task takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import orjson

from connect.api.source import Shard
from connect.tasks.settings import tasks_max

TASK_CLASS: Final = "task.class"
TASK_SHARDS: Final = "task.shards"

_OWN: Final = (TASK_CLASS, TASK_SHARDS)


def sink_tasks(config: Mapping[str, str], class_name: str) -> list[dict[str, str]]:
    """All tasks of a sink are alike: Kafka's group shares the partitions out among them."""
    return [_task(config, class_name) for _ in range(tasks_max(config))]


def source_tasks(config: Mapping[str, str], class_name: str, shards: Sequence[Shard]) -> list[dict[str, str]]:
    """Neighbouring shards stay together, in groups of near-equal size."""
    count = min(tasks_max(config), len(shards))
    return [
        {**_task(config, class_name), TASK_SHARDS: orjson.dumps(list(group)).decode()}
        for group in _groups(shards, count)
    ]


def without_own_members(task: Mapping[str, str]) -> dict[str, str]:
    """The connector's configuration that a task's was made from."""
    return {name: text for name, text in task.items() if name not in _OWN}


def _task(config: Mapping[str, str], class_name: str) -> dict[str, str]:
    return {**config, TASK_CLASS: f"{class_name.removesuffix('Connector')}Task"}


def _groups(shards: Sequence[Shard], count: int) -> list[Sequence[Shard]]:
    ends = [len(shards) * number // count for number in range(count + 1)] if count else []
    return [shards[start:end] for start, end in pairwise(ends)]
