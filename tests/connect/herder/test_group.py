"""Workers as processes on real brokers: nothing is lost when they die, and others take over."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from tests.broker import BarnabasBroker
from tests.connect.conftest import StartWorker
from tests.connect_service import ConnectProcess
from tests.oracle import ApacheKafka
from tests.waiting import wait_for

LINES = 300
STRINGS = "org.apache.kafka.connect.storage.StringConverter"


def file_source(file: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "value.converter": STRINGS,
    }


def null_sink(topic: str, tasks: int) -> dict[str, str]:
    return {
        "connector.class": "null-sink",
        "topics": topic,
        "tasks.max": str(tasks),
        "value.converter": STRINGS,
        "consumer.override.auto.offset.reset": "earliest",
    }


class Values:
    """The values of a topic with one partition, as far as they are there by now."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.found: list[str] = []
        settings = {"bootstrap.servers": bootstrap, "group.id": "unused", "isolation.level": "read_committed"}
        self._consumer = Consumer(settings)
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])

    def reach(self, count: int) -> list[str]:
        def enough() -> bool:
            for message in self._consumer.consume(1000, 0.1):
                if message.error() is None:
                    value = message.value()
                    assert isinstance(value, bytes)
                    self.found.append(value.decode())
            return len(set(self.found)) >= count

        wait_for(enough, f"{count} values")
        return self.found

    def close(self) -> None:
        self._consumer.close()


def test_a_killed_worker_goes_on_where_it_was_and_writes_nothing_twice(
    apache_kafka: ApacheKafka, start_worker: StartWorker, topic: str, tmp_path: Path
) -> None:
    broker_address = apache_kafka.address
    file = tmp_path / "lines.txt"
    file.write_text("".join(f"a{number}\n" for number in range(LINES)))
    worker = start_worker(broker_address, exactly_once_source_support="enabled")
    worker.create("lines", file_source(file, topic))
    worker.wait_for_tasks("lines", ["RUNNING"])
    values = Values(broker_address, topic)
    values.reach(LINES)
    worker.kill()
    with file.open("a") as more:
        more.writelines(f"b{number}\n" for number in range(LINES))
    worker.start()
    worker.wait_for_tasks("lines", ["RUNNING"])
    expected = [f"{letter}{number}" for letter in "ab" for number in range(LINES)]
    assert values.reach(2 * LINES) == expected
    values.close()
    # It leads again, too.
    assert worker.call("PUT", "/connectors/lines/pause").status_code == 202


def test_workers_share_tasks_and_take_over_from_a_dead_one(
    barnabas: BarnabasBroker, start_worker: StartWorker, topic: str
) -> None:
    with ThreadPoolExecutor() as starting:
        first, second = starting.map(start_worker, [barnabas.address] * 2)
    first.create("sink", null_sink(topic, 4))
    wait_for(lambda: _run_on("sink", 4, first, second), "both workers to have tasks")
    # The follower hands on what only the leader may do, and both hand on what only the owner of a task may.
    for worker in (first, second):
        answer = worker.call("PUT", "/connectors/other/config", null_sink(topic, 1))
        assert answer.status_code in (200, 201), answer.text
        assert worker.call("GET", "/connectors").json() == ["other", "sink"]
        restarts = [worker.call("POST", f"/connectors/sink/tasks/{task}/restart") for task in range(4)]
        assert [answer.status_code for answer in restarts] == [204] * 4
    # What has been forwarded twice already is forwarded no more.
    hops = [worker.call("PUT", "/connectors/sink/resume?forward=false").status_code for worker in (first, second)]
    assert sorted(hops) == [202, 409]
    assert second.call("DELETE", "/connectors/other").status_code == 204
    second.kill()
    wait_for(lambda: _run_on("sink", 4, first), "the dead worker's tasks to move")
    assert first.call("PUT", "/connectors/sink/pause").status_code == 202


def _run_on(name: str, count: int, *workers: ConnectProcess) -> bool:
    """Whether so many tasks run, on just these workers."""
    status = workers[0].status(name)
    if status is None or [task["state"] for task in status["tasks"]] != ["RUNNING"] * count:
        return False
    return {task["worker_id"] for task in status["tasks"]} == {worker.address for worker in workers}
