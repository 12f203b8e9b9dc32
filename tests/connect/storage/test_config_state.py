"""What the records of the config topic come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
import pytest

from barnabas.kernel.kafka_log.log import LogRecord
from connect.cluster.signatures import SessionKey
from connect.storage import config_records as records
from connect.storage.config_state import Change, ConfigState, ConnectorChange, LevelChange, RestartRequest
from connect.storage.status import TargetState
from connect.tasks.spec import TaskId

CONFIG = {"name": "c", "connector.class": "X"}
TASKS = [{**CONFIG, "task.shards": "[1]"}, {**CONFIG, "task.shards": "[2]"}]


def replayed(applied: Iterable[LogRecord]) -> tuple[ConfigState, list[Change | None]]:
    state = ConfigState()
    return state, [state.apply(record) for record in applied]


def raw(key: str, value: object) -> LogRecord:
    return LogRecord(key.encode(), None if value is None else orjson.dumps(value))


CREATED = [records.connector("c", CONFIG), *records.tasks("c", TASKS)]


@pytest.mark.parametrize(
    ("applied", "connectors", "tasks", "target"),
    [
        (CREATED[:1], ["c"], 0, TargetState.STARTED),
        (CREATED[:3], ["c"], 0, TargetState.STARTED),  # not committed
        (CREATED, ["c"], 2, TargetState.STARTED),
        ([*CREATED, *records.tasks("c", TASKS[:1])], ["c"], 1, TargetState.STARTED),
        ([*CREATED, *records.tasks("c", ())], ["c"], 0, TargetState.STARTED),
        ([*CREATED, records.connector("c", {**CONFIG, "more": "1"})], ["c"], 2, TargetState.STARTED),
        ([*CREATED, records.target_state("c", TargetState.PAUSED)], ["c"], 2, TargetState.PAUSED),
        ([records.target_state("c", TargetState.STOPPED), *CREATED], ["c"], 2, TargetState.STOPPED),
        ([*CREATED, raw("target-state-c", {"state": "PAUSED"})], ["c"], 2, TargetState.PAUSED),
        ([*CREATED, *records.connector_gone("c", 2)], [], 0, TargetState.STARTED),
        ([*CREATED, *records.connector_gone("c", 2), records.connector("c", CONFIG)], ["c"], 0, TargetState.STARTED),
        # Compaction has left the tasks of a connector that was deleted, or changed, later.
        ([*CREATED[1:], records.connector("c", CONFIG)], ["c"], 0, TargetState.STARTED),
        # Compaction has eaten one of the task configs.
        ([CREATED[0], *CREATED[2:]], ["c"], 0, TargetState.STARTED),
        # Records that make no sense change nothing.
        ([*CREATED, raw("connector-c", {"properties": {"a": 1}})], ["c"], 2, TargetState.STARTED),
        ([*CREATED, raw("connector-c", [])], ["c"], 2, TargetState.STARTED),
        ([*CREATED, LogRecord(b"connector-c", b"{")], ["c"], 2, TargetState.STARTED),
        ([*CREATED, raw("target-state-c", {"state.v2": "DANCING"})], ["c"], 2, TargetState.STARTED),
        ([*CREATED, raw("task-c-x", {"properties": {}}), raw("commit-c", {"tasks": -1})], ["c"], 2, TargetState.STARTED),
        ([*CREATED, raw("something-else", {})], ["c"], 2, TargetState.STARTED),
    ],
)  # fmt: skip
def test_replay(applied: Sequence[LogRecord], connectors: list[str], tasks: int, target: TargetState) -> None:
    state, _ = replayed(applied)
    assert (state.connectors, len(state.tasks("c")), state.target("c")) == (connectors, tasks, target)
    assert list(state.tasks("c")) == TASKS[:tasks]
    assert state.task_ids() == [TaskId("c", number) for number in range(tasks)]
    assert state.task(TaskId("c", tasks)) is None


def test_names_with_hyphens_and_digits_stay_apart() -> None:
    names = ["a", "a-1", "a-1-2"]
    state, _ = replayed(
        record for name in names for record in (records.connector(name, CONFIG), *records.tasks(name, TASKS))
    )
    assert [len(state.tasks(name)) for name in names] == [2, 2, 2]


def test_new_tasks_are_fenced_until_the_leader_says_so() -> None:
    state, _ = replayed(CREATED)
    assert (state.is_fencing_pending("c"), state.fenced_count("c")) == (True, 0)
    state.apply(records.fencing("c", 2))
    assert (state.is_fencing_pending("c"), state.fenced_count("c")) == (False, 2)
    for record in (*records.connector_gone("c", 2), *CREATED):
        state.apply(record)
    assert (state.is_fencing_pending("c"), state.fenced_count("c")) == (True, 2)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (records.connector("c", CONFIG), ConnectorChange("c")),
        (records.target_state("c", TargetState.PAUSED), ConnectorChange("c")),
        (records.restart("c", include_tasks=True, only_failed=False), RestartRequest("c", True, False)),
        (raw("restart-connector-c", {}), RestartRequest("c", False, False)),
        (raw("restart-connector-c", None), None),
        (records.logger_level("a.b", "DEBUG"), LevelChange("a.b", "DEBUG")),
        (raw("logger-cluster-a.b", {"level": 3}), None),
        (raw("task-c-0", {"properties": {}}), None),
    ],
)
def test_what_a_record_asks_for(record: LogRecord, expected: Change | None) -> None:
    assert replayed([record])[1] == [expected]


def test_the_session_key() -> None:
    state, _ = replayed([records.session_key(SessionKey(b"\x00\xff", 12))])
    assert state.session_key == SessionKey(b"\x00\xff", 12)
    state.apply(raw("session-key", {"key": "no base64!", "creation-timestamp": 13}))
    assert state.session_key == SessionKey(b"\x00\xff", 12)


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (CREATED[0], "connector-c", {"properties": CONFIG}),
        (CREATED[1], "task-c-0", {"properties": TASKS[0]}),
        (CREATED[3], "commit-c", {"tasks": 2}),
        (
            records.target_state("c", TargetState.STOPPED),
            "target-state-c",
            {"state": "PAUSED", "state.v2": "STOPPED"},
        ),
        (
            records.restart("c", include_tasks=True, only_failed=True),
            "restart-connector-c",
            {"include-tasks": True, "only-failed": True},
        ),
        (records.fencing("c", 3), "tasks-fencing-c", {"task-count": 3}),
        (
            records.session_key(SessionKey(b"key", 5)),
            "session-key",
            {"key": "a2V5", "algorithm": "HmacSHA256", "creation-timestamp": 5},
        ),
        (records.logger_level("org", "WARN"), "logger-cluster-org", {"level": "WARN"}),
    ],
)
def test_records_are_those_of_kafka_connect(record: LogRecord, key: str, value: dict[str, Any]) -> None:
    assert record.key.decode() == key
    assert record.value is not None
    assert orjson.loads(record.value) == value
