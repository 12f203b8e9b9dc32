"""What a worker does with connectors, on our broker, with tasks in processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.broker import BarnabasBroker
from tests.connect.conftest import QUICK_GROUP
from tests.connect.herder import connectors
from tests.connect_service import ConnectProcess
from tests.waiting import wait_for

PLUGINS = Path(connectors.__file__)


@pytest.fixture(scope="module")
def worker(barnabas: BarnabasBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectProcess]:
    settings = {**QUICK_GROUP, "plugin.path": str(PLUGINS), "config.providers": "env"}
    settings["config.providers.env.class"] = "EnvVarConfigProvider"
    service = ConnectProcess(tmp_path_factory.mktemp("worker"), barnabas.address, "one-worker", settings=settings)
    service.start()
    yield service
    service.stop()


class Diary:
    """A connector of the test, and what its tasks have written down."""

    def __init__(self, worker: ConnectProcess, home: Path, name: str) -> None:
        self.name = name
        self._worker = worker
        self._file = home / f"{name}.diary"
        self._config = {"connector.class": "diary", "diary": str(self._file)}

    def put(self, **further: str) -> None:
        self._worker.create(self.name, self._config | {name.replace("_", "."): text for name, text in further.items()})

    @property
    def starts(self) -> list[str]:
        return self._file.read_text().splitlines() if self._file.exists() else []

    def wait_for_starts(self, count: int) -> list[str]:
        wait_for(lambda: len(self.starts) >= count, f"{count} starts of {self.name}")
        return self.starts


@pytest.fixture
def diary(worker: ConnectProcess, tmp_path: Path, topic: str) -> Iterator[Diary]:
    found = Diary(worker, tmp_path, topic)
    yield found
    worker.call("DELETE", f"/connectors/{topic}")


def test_a_failed_task_starts_again_by_itself_and_its_status_says_when(
    worker: ConnectProcess, diary: Diary, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    diary.put(broken=str(flag))
    status = worker.wait_for_tasks(diary.name, ["FAILED"])
    trace = status["tasks"][0]["trace"]
    assert "the flag is up" in trace.splitlines()[0]
    assert "Automatic restart" in trace.splitlines()[-1]
    restarting = worker.wait_for_tasks(diary.name, ["RESTARTING"])
    assert "the flag is up" in restarting["tasks"][0]["trace"]
    flag.unlink()
    status = worker.wait_for_tasks(diary.name, ["RUNNING"])
    assert "trace" not in status["tasks"][0]


def test_a_change_to_one_connector_touches_no_other(
    worker: ConnectProcess, diary: Diary, tmp_path: Path, topic: str
) -> None:
    other = Diary(worker, tmp_path, f"{topic}-other")
    diary.put()
    other.put()
    before = diary.wait_for_starts(1)
    other.wait_for_starts(1)
    diary.put()
    other.put(password="another")
    other.wait_for_starts(2)
    assert diary.starts == before
    assert worker.call("GET", f"/connectors/{other.name}/config").json()["password"] == "[hidden]"
    # A client that sends the masked config back leaves the secret as it is, so that nothing changes.
    other.put(password="[hidden]")
    assert worker.call("DELETE", f"/connectors/{other.name}").status_code == 204
    wait_for(lambda: worker.status(other.name) is None, "the status to be forgotten")
    assert len(other.starts) == 2


def test_shards_are_shared_out_and_new_ones_are_found(worker: ConnectProcess, diary: Diary, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.write_text("a b c")
    diary.put(parts=str(parts), tasks_max="2")
    assert sorted(start.split()[1] for start in diary.wait_for_starts(2)) == ["a", "b,c"]
    parts.write_text("a b c d e")
    assert sorted(start.split()[1] for start in diary.wait_for_starts(4)[2:]) == ["a,b", "c,d,e"]
    assert worker.call("POST", f"/connectors/{diary.name}/tasks/1/restart").status_code == 204
    assert diary.wait_for_starts(5)[4].split()[1] == "c,d,e"


def test_pausing_stopping_and_what_becomes_of_offsets(worker: ConnectProcess, diary: Diary) -> None:
    path = f"/connectors/{diary.name}"
    wanted = {"offsets": [{"partition": {"book": "one"}, "offset": {"page": 7}}]}
    diary.put()
    diary.wait_for_starts(1)
    assert worker.call("PATCH", f"{path}/offsets", wanted).status_code == 400
    assert worker.call("PUT", f"{path}/pause").status_code == 202
    wait_for(lambda: _states(worker, diary) == ["PAUSED", "PAUSED"], "the pause")
    assert worker.call("PUT", f"{path}/stop").status_code == 204
    wait_for(lambda: _states(worker, diary) == ["STOPPED"], "the stop")
    refused = {"offsets": [{"partition": {"book": "one"}, "offset": {"chapter": 1}}]}
    assert worker.call("PATCH", f"{path}/offsets", refused).status_code == 400
    answer = worker.call("PATCH", f"{path}/offsets", wanted)
    assert answer.json() == {"message": "The offsets for this connector have been altered successfully"}
    assert worker.call("GET", f"{path}/offsets").json() == wanted
    assert worker.call("DELETE", f"{path}/offsets").status_code == 200
    assert worker.call("GET", f"{path}/offsets").json() == {"offsets": []}
    assert worker.call("PUT", f"{path}/resume").status_code == 202
    worker.wait_for_tasks(diary.name, ["RUNNING"])


def test_a_restart_of_what_failed_leaves_the_rest_alone(worker: ConnectProcess, diary: Diary) -> None:
    diary.put()
    worker.wait_for_tasks(diary.name, ["RUNNING"])
    path = f"/connectors/{diary.name}/restart?includeTasks=true"
    nothing = worker.call("POST", f"{path}&onlyFailed=true")
    assert (nothing.status_code, nothing.json()["tasks"][0]["state"]) == (202, "RUNNING")
    everything = worker.call("POST", path)
    assert (everything.status_code, everything.json()["tasks"][0]["state"]) == (202, "RESTARTING")
    diary.wait_for_starts(2)


def test_offsets_of_a_sink_are_those_of_its_group(worker: ConnectProcess, barnabas: BarnabasBroker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": barnabas.address})
    for _ in range(3):
        producer.produce(topic, b"1", partition=0)
    producer.flush()
    worker.create(
        topic, {"connector.class": "null-sink", "topics": topic, "consumer.override.auto.offset.reset": "earliest"}
    )
    path = f"/connectors/{topic}"

    def offset() -> object:
        found = worker.call("GET", f"{path}/offsets").json()["offsets"]
        return found and (found[0]["partition"], found[0]["offset"]["kafka_offset"])

    place = {"kafka_topic": topic, "kafka_partition": 0}
    wait_for(lambda: offset() == (place, 3), "the sink to commit")
    assert worker.call("PUT", f"{path}/stop").status_code == 204
    wanted = {"offsets": [{"partition": {**place, "kafka_partition": "0"}, "offset": {"kafka_offset": "1"}}]}
    # The sink's consumer may still be leaving its group.
    wait_for(lambda: worker.call("PATCH", f"{path}/offsets", wanted).status_code == 200, "the group to be empty")
    assert offset() == (place, 1)
    assert (
        worker.call("PATCH", f"{path}/offsets", {"offsets": [{"partition": place, "offset": None}]}).status_code == 200
    )
    assert offset() == []
    assert worker.call("DELETE", f"{path}/offsets").status_code == 200
    refused = worker.call(
        "PATCH", f"{path}/offsets", {"offsets": [{"partition": place, "offset": {"kafka_offset": "x"}}]}
    )
    assert (refused.status_code, "need to be integers" in refused.json()["message"]) == (400, True)
    assert worker.call("DELETE", path).status_code == 204


@pytest.mark.parametrize(
    ("config", "is_elsewhere"),
    [
        ({"connector.class": "null-sink"}, False),
        ({"connector.class": "file-sink", "file": "{data}"}, False),
        ({"connector.class": "file-sink", "file": "{data}", "exactly.once": "true"}, True),
        ({"connector.class": "jdbc-sink", "connection.url": "jdbc:sqlite:{data}"}, False),
        ({"connector.class": "jdbc-sink", "connection.url": "jdbc:sqlite:{data}", "exactly.once": "true"}, True),
    ],
)
def test_who_resets_a_sink_is_told_of_offsets_in_its_target(
    worker: ConnectProcess, tmp_path: Path, topic: str, config: dict[str, str], is_elsewhere: bool
) -> None:
    own = {name: value.format(data=tmp_path / "data") for name, value in config.items()}
    stopped = {"name": topic, "config": {**own, "topics": topic}, "initial_state": "STOPPED"}
    assert worker.call("POST", "/connectors", stopped).status_code == 201
    answer = worker.call("DELETE", f"/connectors/{topic}/offsets").json()["message"]
    assert ("externally" in answer) is is_elsewhere
    assert is_elsewhere or answer == "The offsets for this connector have been reset successfully"
    assert worker.call("DELETE", f"/connectors/{topic}").status_code == 204


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"connector.class": "no-such"},
            "Failed to find any class that implements Connector and which name matches no-such, available connectors are: ",
        ),
        ({"connector.class": "diary"}, 'Missing required configuration "diary"'),
        ({"connector.class": "diary", "diary": "${env:NO_SUCH}"}, "there is no environment variable NO_SUCH"),
        ({"connector.class": "diary", "diary": "x", "exactly.once.support": "required"}, "exactly.once.source.support"),
    ],
)
def test_a_config_that_cannot_work_is_refused(worker: ConnectProcess, config: dict[str, str], expected: str) -> None:
    answer = worker.call("PUT", "/connectors/refused/config", config)
    assert answer.status_code == 400
    assert expected in answer.json()["message"]
    assert worker.call("GET", "/connectors/refused").status_code == 404


def test_task_configs_are_taken_from_workers_alone(worker: ConnectProcess, diary: Diary) -> None:
    diary.put()
    answer = worker.call("POST", f"/connectors/{diary.name}/tasks", [])
    assert (answer.status_code, answer.json()["message"]) == (400, "Internal request missing required signature")


def _states(worker: ConnectProcess, diary: Diary) -> list[str]:
    status = worker.status(diary.name)
    if status is None:
        return []
    return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
