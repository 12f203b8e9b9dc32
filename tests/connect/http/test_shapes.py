"""Every answer, member by member: tools are generated from these shapes, and some break when one of them is another."""

from __future__ import annotations

from typing import Any

import pytest

from tests.connect.http.conftest import LINES
from tests.connect_service import ConnectProcess
from tests.waiting import wait_for

CLASSES = "org.apache.kafka.connect"
COMMON_NAMES = {
    "name", "connector.class", "connector.plugin.version", "tasks.max", "tasks.max.enforce",
    "key.converter", "key.converter.plugin.version", "value.converter", "value.converter.plugin.version",
    "header.converter", "header.converter.plugin.version", "transforms", "predicates", "config.action.reload",
    "errors.retry.timeout", "errors.retry.delay.max.ms", "errors.tolerance", "errors.log.enable",
    "errors.log.include.messages",
}  # fmt: skip
DEAD_LETTER_NAMES = {
    "errors.deadletterqueue.topic.name", "errors.deadletterqueue.topic.replication.factor",
    "errors.deadletterqueue.context.headers.enable",
}  # fmt: skip
KAFKA_NAMES = {
    "FileStreamSource": COMMON_NAMES | {
        "topic.creation.groups", "exactly.once.support", "transaction.boundary", "transaction.boundary.interval.ms",
        "offsets.storage.topic", "topic", "file", "batch.size",
    },
    "FileStreamSink": COMMON_NAMES | DEAD_LETTER_NAMES | {"topics", "topics.regex", "file"},
}  # fmt: skip
KINDS = {"BOOLEAN", "CLASS", "DOUBLE", "INT", "LIST", "LONG", "PASSWORD", "SHORT", "STRING"}
DEFINITION = {
    "name": str, "type": str, "required": bool, "default_value": (str, type(None)), "importance": str,
    "documentation": str, "group": (str, type(None)), "order_in_group": int, "width": str, "display_name": str,
    "dependents": list,
}  # fmt: skip
VALUE = {"name": str, "value": (str, type(None)), "recommended_values": list, "errors": list, "visible": bool}


def told(worker: ConnectProcess, path: str) -> Any:
    answer = worker.call("GET", path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def require_shape(value: dict[str, Any], shape: dict[str, Any]) -> None:
    assert list(value) == list(shape)
    for member, kind in shape.items():
        assert isinstance(value[member], kind), (member, value[member])


def require_definition(definition: dict[str, Any]) -> None:
    require_shape(definition, DEFINITION)
    assert definition["type"] in KINDS
    assert definition["importance"] in {"HIGH", "MEDIUM", "LOW"}
    assert definition["width"] in {"NONE", "SHORT", "MEDIUM", "LONG"}


def test_the_root_tells_a_version_that_clients_can_take_apart(worker: ConnectProcess) -> None:
    about = told(worker, "/")
    assert list(about) == ["version", "commit", "kafka_cluster_id"]
    assert about["version"].split(".")[0] == "4"
    assert all(isinstance(value, str) and value for value in about.values())


def test_health(worker: ConnectProcess) -> None:
    message = "Worker has completed startup and is ready to handle requests."
    # On a busy machine it may have lost its group for a moment.
    wait_for(lambda: worker.call("GET", "/health").is_success, "the worker to be in its group")
    assert told(worker, "/health") == {"status": "healthy", "message": message}


def test_info_has_the_config_exactly_as_it_was_given(worker: ConnectProcess, name: str) -> None:
    config = {
        "connector.class": "datagen",
        "tasks.max": 1,
        "rate": 1.10,
        "quickstart": "users",
        "kafka.topic": "http-tests-shapes",
        "odd": True,
        "void": "",
    }
    written = {key: text if isinstance(text, str) else str(text).lower() for key, text in config.items()}
    answer = worker.call("POST", "/connectors", {"name": name, "config": config})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"{worker.url}/connectors/{name}"
    worker.wait_for_tasks(name, ["RUNNING"])
    info = told(worker, f"/connectors/{name}")
    assert list(info) == ["name", "config", "tasks", "type"]
    assert info == {
        "name": name,
        "config": {**written, "name": name},
        "tasks": [{"connector": name, "task": 0}],
        "type": "source",
    }
    assert told(worker, f"/connectors/{name}/config") == info["config"]


def test_a_number_stays_as_it_was_written(worker: ConnectProcess, name: str) -> None:
    body = b'{"connector.class":"datagen","quickstart":"users","kafka.topic":"x","rate":1,"odd":1.10,"large":123456789012345678901234567890}'
    answer = worker.call("PUT", f"/connectors/{name}/config", body)
    assert answer.json()["config"]["odd"] == "1.10"
    assert answer.json()["config"]["large"] == "123456789012345678901234567890"


def test_status_of_what_runs(worker: ConnectProcess, source: str) -> None:
    status = told(worker, f"/connectors/{source}/status")
    place = worker.url.removeprefix("http://")
    part = {"state": "RUNNING", "worker_id": place, "version": "4.3.0"}
    assert status == {"name": source, "connector": part, "tasks": [{"id": 0, **part}], "type": "source"}
    assert list(status) == ["name", "connector", "tasks", "type"]
    assert list(status["tasks"][0]) == ["id", "state", "worker_id", "version"]
    assert told(worker, f"/connectors/{source}/tasks/0/status") == status["tasks"][0]


def test_status_of_what_has_failed_is_paused_or_stopped(worker: ConnectProcess, name: str) -> None:
    config = {"connector.class": "chatty", "password": "abcdef", "talks.in": "read"}
    worker.create(name, config)
    (task,) = worker.wait_for_tasks(name, ["FAILED"])["tasks"]
    assert list(task) == ["id", "state", "worker_id", "version", "trace"]
    worker.create(name, {**config, "talks.in": ""})
    assert worker.call("PUT", f"/connectors/{name}/pause").status_code == 202
    wait_for(lambda: states(worker, name) == ("PAUSED", ["PAUSED"]), "the pause")
    assert worker.call("PUT", f"/connectors/{name}/stop").status_code == 204
    wait_for(lambda: states(worker, name) == ("STOPPED", []), "the stop")
    assert told(worker, f"/connectors/{name}")["tasks"] == []
    assert told(worker, f"/connectors/{name}/tasks") == []


def states(worker: ConnectProcess, name: str) -> tuple[str, list[str]]:
    status = told(worker, f"/connectors/{name}/status")
    assert "trace" not in status["connector"]
    return status["connector"]["state"], [task["state"] for task in status["tasks"]]


def test_tasks_have_their_class_in_their_config(worker: ConnectProcess, source: str) -> None:
    (task,) = told(worker, f"/connectors/{source}/tasks")
    assert list(task) == ["id", "config"]
    assert task["id"] == {"connector": source, "task": 0}
    assert task["config"].items() >= told(worker, f"/connectors/{source}/config").items()
    assert task["config"]["task.class"] == f"{CLASSES}.file.FileStreamSourceTask"


def test_topics_and_offsets(worker: ConnectProcess, source: str) -> None:
    wait_for(lambda: told(worker, f"/connectors/{source}/topics")[source]["topics"], "the topic to be noted")
    assert told(worker, f"/connectors/{source}/topics") == {source: {"topics": ["http-tests-lines"]}}
    wait_for(lambda: told(worker, f"/connectors/{source}/offsets")["offsets"], "the offset to be committed")
    offsets = told(worker, f"/connectors/{source}/offsets")
    assert list(offsets) == ["offsets"]
    (offset,) = offsets["offsets"]
    assert list(offset) == ["partition", "offset"]
    assert list(offset["partition"]) == ["filename"]
    assert offset["offset"]["position"] == LINES * len("line\n")


def test_offsets_of_a_sink(worker: ConnectProcess, source: str, name: str) -> None:
    topic = "http-tests-lines"
    worker.create(name, {"connector.class": "null-sink", "topics": topic})
    partition = {"kafka_topic": topic, "kafka_partition": 0}
    expected = {"offsets": [{"partition": partition, "offset": {"kafka_offset": LINES}}]}
    path = f"/connectors/{name}/offsets"
    wait_for(lambda: told(worker, path) == expected, "the sink to have committed")
    worker.call("PUT", f"/connectors/{name}/stop")
    wait_for(lambda: states(worker, name) == ("STOPPED", []), "the stop")
    wanted = {"offsets": [{"partition": partition, "offset": {"kafka_offset": "1"}}]}

    def altered() -> Any:
        answer = worker.call("PATCH", path, wanted)
        return answer.json() if answer.status_code == 200 else None

    done = "The offsets for this connector have been {} successfully"
    assert wait_for(altered, "the members to have left") == {"message": done.format("altered")}
    assert told(worker, path)["offsets"] == [{"partition": partition, "offset": {"kafka_offset": 1}}]
    assert worker.call("DELETE", path).json() == {"message": done.format("reset")}
    assert told(worker, path) == {"offsets": []}


def test_one_call_tells_everything_of_all_connectors(worker: ConnectProcess, source: str) -> None:
    assert source in told(worker, "/connectors")
    everything = told(worker, "/connectors?expand=status&expand=info&expand=unknown")[source]
    assert list(everything) == ["status", "info"]
    assert everything["status"] == told(worker, f"/connectors/{source}/status")
    assert everything["info"] == told(worker, f"/connectors/{source}")
    assert list(told(worker, "/connectors?expand=info")[source]) == ["info"]


def test_a_restart_answers_with_the_status_that_follows(worker: ConnectProcess, name: str) -> None:
    worker.create(name, {"connector.class": "chatty", "password": "abcdef"})
    worker.wait_for_tasks(name, ["RUNNING"])
    path = f"/connectors/{name}/restart"
    assert worker.call("POST", path).status_code == 204
    answer = worker.call("POST", f"{path}?includeTasks=true&onlyFailed=true")
    assert (answer.status_code, answer.json()["tasks"][0]["state"]) == (202, "RUNNING")
    answer = worker.call("POST", f"{path}?includeTasks=true&onlyFailed=false")
    assert (answer.status_code, list(answer.json())) == (202, ["name", "connector", "tasks", "type"])
    assert [answer.json()["connector"]["state"], answer.json()["tasks"][0]["state"]] == ["RESTARTING"] * 2
    worker.wait_for_tasks(name, ["RUNNING"])
    assert worker.call("POST", f"/connectors/{name}/tasks/0/restart").status_code == 204
    worker.wait_for_tasks(name, ["RUNNING"])


def test_plugins(worker: ConnectProcess) -> None:
    found = told(worker, "/connector-plugins")
    assert {"class": f"{CLASSES}.file.FileStreamSourceConnector", "type": "source", "version": "4.3.0"} in found
    assert {"class": "tests.ChattyConnector", "type": "source", "version": "1.2.3"} in found
    assert {each["type"] for each in found} == {"source", "sink"}
    everything = told(worker, "/connector-plugins?connectorsOnly=false")
    kinds = {"source", "sink", "transformation", "predicate", "converter", "header_converter"}
    assert {each["type"] for each in everything} == kinds
    assert all(list(each) == ["class", "type", "version"] for each in everything)


@pytest.mark.parametrize("plugin", ["FileStreamSource", "FileStreamSink"])
def test_the_definition_of_a_connector(worker: ConnectProcess, plugin: str) -> None:
    found = told(worker, f"/connector-plugins/{plugin}/config")
    for definition in found:
        require_definition(definition)
    assert {definition["name"] for definition in found} >= KAFKA_NAMES[plugin]


def test_a_definition_says_what_was_declared(worker: ConnectProcess) -> None:
    password, _, talks_in = told(worker, "/connector-plugins/tests.ChattyConnector/config")[:3]
    assert password == {
        "name": "password", "type": "PASSWORD", "required": True, "default_value": None, "importance": "HIGH",
        "documentation": "What must not be told.", "group": "Login", "order_in_group": 1, "width": "SHORT",
        "display_name": "Password", "dependents": ["talks.in"],
    }  # fmt: skip
    assert talks_in["required"] is False
    assert talks_in["default_value"] == ""


def test_a_validation_has_each_key_with_its_definition_and_value(worker: ConnectProcess) -> None:
    config = {"connector.class": "FileStreamSource", "topic": "t", "tasks.max": "0", "errors.tolerance": None}
    answer = worker.call("PUT", "/connector-plugins/FileStreamSource/config/validate", config)
    assert answer.status_code == 200
    validation = answer.json()
    assert list(validation) == ["name", "error_count", "groups", "configs"]
    assert (validation["name"], validation["error_count"]) == ("FileStreamSource", 3)
    assert validation["groups"][:4] == ["Common", "Transforms", "Predicates", "Error Handling"]
    values = {}
    for entry in validation["configs"]:
        assert list(entry) == ["definition", "value"]
        require_definition(entry["definition"])
        require_shape(entry["value"], VALUE)
        assert entry["value"]["name"] == entry["definition"]["name"]
        values[entry["value"]["name"]] = entry["value"]
    assert values.keys() >= KAFKA_NAMES["FileStreamSource"]
    assert values["topic"]["value"] == "t"
    assert values["connector.plugin.version"]["recommended_values"] == ["4.3.0"]
    assert f"{CLASSES}.json.JsonConverter" in values["key.converter"]["recommended_values"]
    wrong = {name: value["errors"] for name, value in values.items() if value["errors"]}
    assert wrong == {
        "name": ['Missing required configuration "name" which has no default value.'],
        "tasks.max": ["Invalid value '0' for configuration tasks.max: expected at least 1"],
        "errors.tolerance": ["Null value can not be supplied as the configuration value."],
    }


def test_loggers(worker: ConnectProcess) -> None:
    assert told(worker, "/admin/loggers")["root"] == {"level": "INFO", "last_modified": None}
    name = "connect.http.test"
    assert worker.call("PUT", f"/admin/loggers/{name}", {"level": "debug"}).json() == [name]
    assert worker.call("PUT", f"/admin/loggers/{name}?scope=worker", {"level": "DEBUG"}).json() == []
    level = told(worker, f"/admin/loggers/{name}")
    assert level["level"] == "DEBUG"
    assert isinstance(level["last_modified"], int)
    answer = worker.call("PUT", f"/admin/loggers/{name}?scope=cluster", {"level": "WARN"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert told(worker, f"/admin/loggers/{name}")["level"] == "WARN"
