"""Sinks in processes of their own, on real brokers."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from connect.tasks.messages import Pause, PausedState, Resume, RetryState, RunningState, TaskFailure, UsedTopics
from tests.broker import BrokerProcess
from tests.conftest import StartBroker
from tests.connect.tasks import topics
from tests.connect.tasks.running_tasks import RunningTask, RunningTasks, worker_config
from tests.waiting import wait_for

COUNT = 500
NUMBERS = [str(number) for number in range(COUNT)]
ALL_NUMBERS = set(NUMBERS)
JSON = "org.apache.kafka.connect.json.JsonConverter"


class Target:
    """The file that a sink has written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def values(self) -> list[str]:
        return [line.split(" ", 3)[3] for line in self.lines() if line.count(" ") == 3]

    def wait_for(self, values: set[str]) -> list[str]:
        return wait_for(lambda: found if values <= set(found := self.values()) else None, f"{len(values)} values")


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path / "lines")


def config(topic: str, target: Target, **further: str) -> dict[str, str]:
    given = {name.replace("_", "."): value for name, value in further.items()}
    return {"connector.class": "tests.Lines", "topics": topic, "file": str(target.path), **given}


def committed(bootstrap: str, connector: str, topic: str, partition: int = 0) -> int:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"connect-{connector}"})
    (found,) = consumer.committed([TopicPartition(topic, partition)], timeout=90)
    consumer.close()
    return found.offset


@pytest.mark.parametrize("kind", ["barnabas", "apache_kafka"])
@pytest.mark.parametrize("sink", ["Lines", "AsyncLines"])
def test_records_are_written_in_order_then_flushed_and_committed(
    kind: str, sink: str, request: pytest.FixtureRequest, tasks: RunningTasks, topic: str, target: Target
) -> None:
    broker: BrokerProcess = request.getfixturevalue(kind)
    topics.write(broker.address, topic, NUMBERS)
    own = config(topic, target, connector_class=f"tests.{sink}")
    task = tasks.start(topic, own, worker_config(broker.address))
    assert target.wait_for(ALL_NUMBERS) == NUMBERS
    assert tasks.stop(task).exit_code == 0
    assert target.lines()[0] == f"{topic} 0 0 0"
    assert target.lines()[-2:] == ["flush", "close 1"]
    assert committed(broker.address, topic, topic) == COUNT
    assert task.said(UsedTopics) == [UsedTopics([topic])]
    assert task.figure("sink-record-send-total") == COUNT
    assert task.figure("offset-commit-success-total") == 1


def test_an_outage_of_the_target_is_waited_for(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target, tmp_path: Path
) -> None:
    away = tmp_path / "away"
    away.touch()
    topics.write(barnabas.address, topic, NUMBERS)
    task = tasks.start(topic, config(topic, target, away=str(away)), worker_config(barnabas.address))
    assert task.wait_for(RetryState, 3).reason == "the target is away"
    away.unlink()
    assert target.wait_for(ALL_NUMBERS) == NUMBERS
    task.wait_for(RunningState, 2)
    topics.write(barnabas.address, topic, ["later"])
    assert target.wait_for({"later"})[-1] == "later"
    assert task.said(TaskFailure) == []


@pytest.mark.parametrize("kind", ["barnabas", "apache_kafka"])
def test_bad_rows_go_to_the_dead_letters_one_by_one(
    kind: str, request: pytest.FixtureRequest, tasks: RunningTasks, topic: str, target: Target
) -> None:
    """One that cannot be decoded, one that a transform refuses, one that the target rejects, one that spoils a batch."""
    broker: BrokerProcess = request.getfixturevalue(kind)
    topics.write(broker.address, topic, ['"good"', "{bad", '"fussy"', '"rejected"', '"poison"', '"fine"'])
    tolerant = {
        **config(topic, target, rejects="rejected!", poison="poison!"),
        "value.converter": JSON,
        "value.converter.schemas.enable": "false",
        "transforms": "fussy",
        "transforms.fussy.type": "tests.Fussy",
        "transforms.fussy.values": "fussy",
        "errors.tolerance": "all",
        "errors.log.enable": "true",
        "errors.deadletterqueue.topic.name": f"{topic}-dead",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    task = tasks.start(topic, tolerant, worker_config(broker.address))
    assert target.wait_for({"good!", "fine!"}) == ["good!", "fine!"]
    tasks.stop(task)
    letters = topics.read(broker.address, f"{topic}-dead")
    assert [letter.value() for letter in letters] == [b"{bad", b'"fussy"', b'"rejected"', b'"poison"']
    told = [topics.headers(letter) for letter in letters]
    stages = [each["__connect.errors.stage"] for each in told]
    assert stages == ["VALUE_CONVERTER", "TRANSFORMATION", "TASK_PUT", "TASK_PUT"]
    assert [each["__connect.errors.offset"] for each in told] == ["1", "2", "3", "4"]
    last = told[3]
    assert last.pop("__connect.errors.exception.stacktrace").startswith("Traceback")
    assert last == {
        "__connect.errors.topic": topic,
        "__connect.errors.partition": "0",
        "__connect.errors.offset": "4",
        "__connect.errors.connector.name": topic,
        "__connect.errors.task.id": "0",
        "__connect.errors.stage": "TASK_PUT",
        "__connect.errors.class.name": "connect_plugin_connectors.Lines",
        "__connect.errors.exception.class.name": "connect.errors.DataError",
        "__connect.errors.exception.message": "a value spoils the batch",
    }
    assert committed(broker.address, topic, topic) == 6
    assert task.figure("deadletterqueue-produce-total") == task.figure("errors-logged-total") == 4


@pytest.mark.parametrize(
    ("further", "said"),
    [
        ({"rejects": "7"}, "TASK_PUT failed for a record of {topic}-0 at offset 7: 7 does not fit"),
        ({"poison": "7"}, "TASK_PUT failed for a record of {topic}-0"),
        ({"rejects": "7", "refusal": "a gap?"}, "offset 7: a gap? With errors.tolerance=all"),
        ({"topics": "", "topics.regex": "("}, "topics.regex=( is no regular expression: missing )"),
        ({"topics": ""}, "topics: a sink needs either topics or topics.regex"),
        (
            {"errors.deadletterqueue.topic.name": "dead", "errors.deadletterqueue.topic.replication.factor": "2"},
            "errors.deadletterqueue.topic.replication.factor is 2",
        ),
    ],
)
def test_what_ends_a_task_is_told(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target, further: dict[str, str], said: str
) -> None:
    topics.write(barnabas.address, topic, NUMBERS[:10])
    task = tasks.start(topic, {**config(topic, target), **further}, worker_config(barnabas.address))
    assert said.format(topic=topic) in task.wait_for(TaskFailure).trace.splitlines()[0]


def test_a_paused_task_stays_in_its_group(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target
) -> None:
    topics.write(barnabas.address, topic, ["before"])
    task = tasks.start(topic, config(topic, target), worker_config(barnabas.address))
    target.wait_for({"before"})
    tasks.send(task, Pause())
    task.wait_for(PausedState)
    assert committed(barnabas.address, topic, topic) == 1
    topics.write(barnabas.address, topic, ["meanwhile"])
    tasks.send(task, Resume())
    task.wait_for(RunningState, 2)
    assert target.wait_for({"meanwhile"}) == ["before", "meanwhile"]
    assert [line for line in target.lines() if line.startswith("close")] == []


def test_partitions_move_without_loss(tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target) -> None:
    topics.create(barnabas.address, topic, partitions=4)
    topics.write(barnabas.address, topic, NUMBERS)
    worker = worker_config(barnabas.address)
    own = {**config(topic, target), "consumer.override.heartbeat.interval.ms": "200"}
    tasks.start(topic, own, worker)
    target.wait_for(ALL_NUMBERS)
    second = tasks.start(topic, own, worker, number=1)
    wait_for(lambda: "close 2" in target.lines(), "partitions to be given up")
    assert target.lines()[target.lines().index("close 2") - 1] == "flush"
    more = [f"more-{number}" for number in range(COUNT)]
    topics.write(barnabas.address, topic, more)
    target.wait_for(set(more))
    assert sorted(target.values()) == sorted([*NUMBERS, *more])
    tasks.stop(second)
    topics.write(barnabas.address, topic, ["last"])
    target.wait_for({"last"})


def test_a_killed_task_loses_nothing(
    start_broker: StartBroker, tasks: RunningTasks, topic: str, target: Target
) -> None:
    broker = start_broker(group_min_session_timeout_ms=500, group_initial_rebalance_delay_ms=0)
    worker = worker_config(broker.address, offset_flush_interval_ms=10)
    quick = {"session.timeout.ms": "1000", "heartbeat.interval.ms": "200", "max.poll.records": "7"}
    own = {**config(topic, target), **{f"consumer.override.{name}": value for name, value in quick.items()}}
    topics.write(broker.address, topic, NUMBERS)
    task = tasks.start(topic, own, worker)
    wait_for(target.values, "some records")
    tasks.kill(task)
    tasks.start(topic, own, worker)
    target.wait_for(ALL_NUMBERS)


def test_lag_is_unknown_while_no_partition_is_assigned(
    start_broker: StartBroker, tasks: RunningTasks, topic: str, target: Target
) -> None:
    broker = start_broker(group_min_session_timeout_ms=500, group_initial_rebalance_delay_ms=0)
    quick = {"session.timeout.ms": "1000", "heartbeat.interval.ms": "200"}
    own = {**config(topic, target), **{f"consumer.override.{name}": value for name, value in quick.items()}}
    topics.write(broker.address, topic, NUMBERS)
    task = tasks.start(topic, own, worker_config(broker.address))
    target.wait_for(ALL_NUMBERS)
    wait_for(lambda: task.told_figures().get("sink-record-lag") == 0, "the lag")
    broker.kill()
    wait_for(lambda: "sink-record-lag" not in task.told_figures(), "the lag to become unknown")
    broker.start()
    wait_for(lambda: task.told_figures().get("sink-record-lag") == 0, "the lag to be known again")


def test_a_task_that_has_failed_tells_what_waits(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target
) -> None:
    topics.write(barnabas.address, topic, NUMBERS[:10])
    own, worker = config(topic, target), worker_config(barnabas.address)
    task = tasks.start(topic, {**own, "rejects": "7"}, worker)
    task.wait_for_end()
    assert task.told_figures().get("sink-record-lag") == 10
    target.path.unlink()
    # One that has everything behind it, and reads nothing, knows that nothing waits.
    task = tasks.start(topic, own, worker)
    target.wait_for({"9"})
    tasks.stop(task)
    task = tasks.start(topic, own, worker)
    wait_for(lambda: task.told_figures().get("sink-record-lag") == 0, "the lag of a task without records")
    assert task.figure("sink-record-read-total") == 0


def test_the_marks_of_transactions_are_no_lag(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target
) -> None:
    producer = Producer({"bootstrap.servers": barnabas.address, "transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    for number in NUMBERS[:10]:
        producer.produce(topic, number)
    producer.commit_transaction()
    task = tasks.start(topic, config(topic, target), worker_config(barnabas.address))
    target.wait_for({"9"})
    wait_for(lambda: task.told_figures().get("sink-record-lag") == 0, "the lag")
    tasks.stop(task)
    assert committed(barnabas.address, topic, topic) == len(NUMBERS[:10]) + 1


def test_the_target_says_where_to_read_on(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target
) -> None:
    topics.write(barnabas.address, topic, NUMBERS[:10])
    task = tasks.start(topic, config(topic, target, keeps_positions="true"), worker_config(barnabas.address))
    assert target.wait_for({"9"}) == ["5", "6", "7", "8", "9"]
    wait_for(lambda: task.figure("sink-record-read-total") == 5, "metrics")
    assert task.figure("sink-record-lag") == 0


def test_topics_by_pattern(tasks: RunningTasks, barnabas: BrokerProcess, topic: str, target: Target) -> None:
    for name in (f"{topic}.a", f"{topic}.b", f"{topic}.b.no"):
        topics.write(barnabas.address, name, [name])
    own = {**config("", target), "topics": "", "topics.regex": rf"{topic}\.[ab]"}
    task: RunningTask = tasks.start(topic, own, worker_config(barnabas.address))
    assert sorted(target.wait_for({f"{topic}.a", f"{topic}.b"})) == [f"{topic}.a", f"{topic}.b"]
    tasks.stop(task)
    assert len(target.values()) == 2
