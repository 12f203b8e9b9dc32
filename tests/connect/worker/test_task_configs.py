"""Task configs: who gets which shards."""

from __future__ import annotations

import json

import pytest

from connect.errors import ConnectError
from connect.worker.task_configs import sink_tasks, source_tasks, without_own_members

CLASS = "org.example.TableSourceConnector"


@pytest.mark.parametrize(
    ("shards", "tasks_max", "expected"),
    [
        (0, "3", []),
        (1, "3", [[0]]),
        (5, "1", [[0, 1, 2, 3, 4]]),
        (5, "2", [[0, 1], [2, 3, 4]]),
        (7, "3", [[0, 1], [2, 3], [4, 5, 6]]),
        (3, "3", [[0], [1], [2]]),
        (2, None, [[0, 1]]),
    ],
)
def test_neighbours_stay_together(shards: int, tasks_max: str | None, expected: list[list[int]]) -> None:
    config = {"name": "c"} if tasks_max is None else {"name": "c", "tasks.max": tasks_max}
    tasks = source_tasks(config, CLASS, [{"n": number} for number in range(shards)])
    assert [[shard["n"] for shard in json.loads(task["task.shards"])] for task in tasks] == expected
    assert all(task["task.class"] == "org.example.TableSourceTask" for task in tasks)
    assert all(without_own_members(task) == config for task in tasks)


def test_a_sink_has_as_many_tasks_as_it_may() -> None:
    assert len(sink_tasks({"tasks.max": "4"}, CLASS)) == 4


@pytest.mark.parametrize("text", ["0", "-1", "many", ""])
def test_a_number_of_tasks_that_is_none(text: str) -> None:
    with pytest.raises(ConnectError, match=r"tasks\.max="):
        sink_tasks({"tasks.max": text}, CLASS)
