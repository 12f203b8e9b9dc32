"""Sources in processes of their own, on real brokers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connect.api.source import SourceOffset
from connect.tasks.messages import (
    MetricsReport,
    OffsetReport,
    Pause,
    PausedState,
    Resume,
    RetryState,
    RunningState,
    TaskEnd,
    TaskFailure,
    UsedTopics,
)
from tests.broker import BrokerProcess
from tests.connect.tasks import topics
from tests.connect.tasks.connectors import PARTITION
from tests.connect.tasks.running_tasks import RunningTasks, worker_config
from tests.waiting import wait_for

COUNT = 1000
NUMBERS = [str(number) for number in range(COUNT)]


def config(topic: str, **further: str) -> dict[str, str]:
    given = {name.replace("_", "."): value for name, value in further.items()}
    return {"connector.class": "tests.Numbers", "topic": topic, "count": str(COUNT), **given}


def stored_offsets(bootstrap: str, topic: str, connector: str) -> list[SourceOffset]:
    """What the offsets topic says, as a worker would read it."""
    found = {}
    for message in topics.read(bootstrap, topic):
        name, partition = json.loads(message.key() or b"")
        if name == connector:
            found[message.key()] = SourceOffset(partition, json.loads(message.value() or b""))
    return list(found.values())


@pytest.mark.parametrize("kind", ["barnabas", "apache_kafka"])
def test_records_and_offsets_reach_kafka(
    kind: str, request: pytest.FixtureRequest, tasks: RunningTasks, topic: str
) -> None:
    broker: BrokerProcess = request.getfixturevalue(kind)
    task = tasks.start("numbers", config(topic), worker_config(broker.address, f"{topic}-offsets"))
    topics.wait_for_values(broker.address, topic, COUNT)
    assert tasks.stop(task).exit_code == 0

    messages = topics.read(broker.address, topic)
    assert [(message.value() or b"").decode() for message in messages] == NUMBERS
    assert [message.key() for message in messages] == [message.value() for message in messages]
    assert topics.headers(messages[70]) == {"tenth": "7"}
    (record,) = topics.read(broker.address, f"{topic}-offsets")
    assert (record.key(), record.value()) == (b'["numbers",{"numbers":"all"}]', b'{"next":1000}')
    assert task.said(UsedTopics) == [UsedTopics((topic,))]
    assert [type(message) for message in task.messages if not isinstance(message, (UsedTopics, MetricsReport))] == [
        RunningState,
        TaskEnd,
    ]


def test_a_killed_task_goes_on_without_a_gap(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    worker = worker_config(barnabas.address, f"{topic}-offsets", offset_flush_interval_ms=20)
    slow = config(topic, pause="0.02", batch="10")
    task = tasks.start("killed", slow, worker)
    topics.wait_for_values(barnabas.address, topic, COUNT // 10)
    assert tasks.kill(task).exit_code == -9

    offsets = stored_offsets(barnabas.address, f"{topic}-offsets", "killed")
    assert 0 < dict(offsets[0].offset or {})["next"] < COUNT
    task = tasks.start("killed", config(topic), worker, offsets=offsets)
    wait_for(lambda: set(topics.values(barnabas.address, topic)) == set(NUMBERS), "every number")


@pytest.mark.parametrize("boundary", ["poll", "interval"])
@pytest.mark.parametrize("kind", ["barnabas", "apache_kafka"])
def test_exactly_once_no_record_comes_twice(
    kind: str, boundary: str, request: pytest.FixtureRequest, tasks: RunningTasks, topic: str
) -> None:
    broker: BrokerProcess = request.getfixturevalue(kind)
    worker = worker_config(broker.address, f"{topic}-offsets", exactly_once_source=True)
    slow = config(topic, pause="0.01", batch="10", transaction_boundary=boundary, transaction_boundary_interval_ms="50")
    task = tasks.start(topic, slow, worker)
    topics.wait_for_values(broker.address, topic, COUNT // 10)
    tasks.kill(task)

    task = tasks.start(
        topic, config(topic, transaction_boundary=boundary, transaction_boundary_interval_ms="50"), worker
    )
    assert topics.wait_for_values(broker.address, topic, COUNT) == NUMBERS
    tasks.stop(task)
    assert dict(stored_offsets(broker.address, f"{topic}-offsets", topic)[0].offset or {}) == {"next": COUNT}


def test_a_task_that_is_taken_over_is_shut_out(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    worker = worker_config(barnabas.address, f"{topic}-offsets", exactly_once_source=True)
    zombie = tasks.start(topic, config(topic, pause="0.05", batch="1"), worker)
    zombie.wait_for(UsedTopics)
    tasks.start(topic, config(topic), worker)
    assert "another process runs this task now" in zombie.wait_for(TaskFailure).trace
    assert topics.wait_for_values(barnabas.address, topic, COUNT) == NUMBERS


def test_a_worker_that_keeps_offsets_is_told_them(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    task = tasks.start("told", config(topic), worker_config(barnabas.address))
    topics.wait_for_values(barnabas.address, topic, COUNT)
    tasks.stop(task)
    assert task.said(OffsetReport)[-1].offsets == (SourceOffset(PARTITION, {"next": COUNT}),)


def test_a_paused_task_rests_with_its_offsets_committed(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str
) -> None:
    task = tasks.start("paused", config(topic, pause="0.05", batch="100"), worker_config(barnabas.address))
    task.wait_for(UsedTopics)
    tasks.send(task, Pause())
    task.wait_for(PausedState)
    (reached,) = task.wait_for(OffsetReport).offsets
    assert len(topics.values(barnabas.address, topic)) == dict(reached.offset or {})["next"] < COUNT
    tasks.send(task, Resume())
    assert topics.wait_for_values(barnabas.address, topic, COUNT) == NUMBERS


def test_a_task_may_start_paused(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    task = tasks.start("late", config(topic), worker_config(barnabas.address), starts_paused=True)
    task.wait_for(PausedState)
    assert task.said(RunningState) == []
    tasks.send(task, Resume())
    topics.wait_for_values(barnabas.address, topic, COUNT)


def test_an_outage_of_the_source_is_waited_for(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    away = tmp_path / "away"
    task = tasks.start("away", config(topic, away=str(away), pause="0.01", batch="50"), worker_config(barnabas.address))
    task.wait_for(UsedTopics)
    away.touch()
    assert task.wait_for(RetryState).reason == "the numbers are away"
    away.unlink()
    assert topics.wait_for_values(barnabas.address, topic, COUNT) == NUMBERS
    task.wait_for(RunningState, 2)


def test_an_outage_may_have_a_limit(tasks: RunningTasks, barnabas: BrokerProcess, topic: str, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.touch()
    limited = config(topic, away=str(away), errors_retry_timeout="0")
    task = tasks.start("limited", limited, worker_config(barnabas.address))
    assert task.wait_for(TaskFailure).trace.startswith("connect.errors.Retry: the numbers are away\n")
    assert task.wait_for_end().trace is None


def test_topics_are_created_by_their_groups(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    groups = {
        "topic.creation.groups": "wide",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.partitions": "1",
        "topic.creation.wide.include": f"other,{topic[:8]}.*",
        "topic.creation.wide.partitions": "3",
        "topic.creation.wide.cleanup.policy": "compact",
    }
    tasks.start("creating", {**config(topic), **groups}, worker_config(barnabas.address))
    topics.wait_for_values(barnabas.address, topic, COUNT)
    messages = topics.read(barnabas.address, topic)
    assert {message.partition() for message in messages} == {0, 1, 2}
    assert len(messages) == COUNT


def test_bad_records_of_a_source_go_to_its_dead_letters(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str
) -> None:
    tolerant = {
        **config(topic, rejected="yes"),
        "transforms": "drop,fussy",
        "transforms.drop.type": "tests.Drop",
        "transforms.drop.predicate": "some",
        "transforms.drop.negate": "true",
        "transforms.fussy.type": "tests.Fussy",
        "transforms.fussy.values": "7",
        "predicates": "some",
        "predicates.some.type": "tests.IsOneOf",
        "predicates.some.values": "7,8,9",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{topic}-dead",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    task = tasks.start("tolerant", tolerant, worker_config(barnabas.address))
    topics.wait_for_values(barnabas.address, f"{topic}-dead", 2)
    tasks.stop(task)
    assert topics.values(barnabas.address, topic) == ["8!", "9!"]
    rejected, unchanged = topics.read(barnabas.address, f"{topic}-dead")
    assert (rejected.value(), unchanged.key(), unchanged.value()) == (b"?", b"7", b"7")
    told = topics.headers(unchanged)
    assert told.pop("__connect.errors.exception.stacktrace").startswith("Traceback")
    assert told == {
        "__connect.errors.topic": topic,
        "__connect.errors.connector.name": "tolerant",
        "__connect.errors.task.id": "0",
        "__connect.errors.stage": "TRANSFORMATION",
        "__connect.errors.class.name": "connect_plugin_connectors.Fussy",
        "__connect.errors.exception.class.name": "ValueError",
        "__connect.errors.exception.message": "7 cannot be changed",
    }
    assert topics.headers(rejected)["__connect.errors.stage"] == "TASK_POLL"
    assert task.figure("deadletterqueue-produce-total") == task.figure("records-skipped-total") == 2


def test_a_bad_record_ends_a_task_that_tolerates_none(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    fussy = {"transforms": "fussy", "transforms.fussy.type": "tests.Fussy", "transforms.fussy.values": "7"}
    task = tasks.start("strict", {**config(topic), **fussy}, worker_config(barnabas.address))
    first, second = task.wait_for(TaskFailure).trace.splitlines()[:2]
    assert first.startswith(f"connect.errors.ConnectError: TRANSFORMATION failed for a record of the topic {topic}: 7")
    assert second == "Caused by: ValueError: 7 cannot be changed"


@pytest.mark.parametrize("exactly_once", [False, True], ids=["at least once", "exactly once"])
def test_what_was_delivered_before_a_failure_counts(
    exactly_once: bool, tasks: RunningTasks, barnabas: BrokerProcess, topic: str
) -> None:
    fussy = {"transforms": "fussy", "transforms.fussy.type": "tests.Fussy", "transforms.fussy.values": "37"}
    worker = worker_config(barnabas.address, f"{topic}-offsets", exactly_once_source=exactly_once)
    task = tasks.start("strict", {**config(topic, batch="10"), **fussy}, worker)
    task.wait_for(TaskFailure)
    assert topics.values(barnabas.address, topic) == [f"{number}!" for number in range(30)]
    (stored,) = stored_offsets(barnabas.address, f"{topic}-offsets", "strict")
    assert stored.offset == {"next": 30}


def test_a_record_that_is_too_large_is_a_bad_record(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    limited = config(topic, errors_tolerance="all")
    limited["producer.override.max.request.size"] = "1000"
    limited["transforms"] = "long"
    limited["transforms.long.type"] = "tests.Lengthen"
    limited["transforms.long.values"] = "13"
    task = tasks.start("large", limited, worker_config(barnabas.address))
    topics.wait_for_values(barnabas.address, topic, COUNT - 1)
    tasks.stop(task)
    assert set(NUMBERS) - set(topics.values(barnabas.address, topic)) == {"13"}
    assert task.figure("records-skipped-total") == 1


def test_a_coroutine_is_a_source_too(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    tasks.start("async", {**config(topic), "connector.class": "tests.AsyncNumbers"}, worker_config(barnabas.address))
    assert topics.wait_for_values(barnabas.address, topic, COUNT) == NUMBERS
