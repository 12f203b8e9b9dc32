"""What clients may send, well and badly, and which code each of it gets."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.connect_service import ConnectProcess
from tests.registry import ask

DATAGEN = {"connector.class": "datagen", "kafka.topic": "http-tests-requests", "quickstart": "users"}
OFFSETS = {"offsets": [{"partition": {"a": 1}, "offset": {"b": 2}}]}
VALIDATE = "/connector-plugins/FileStreamSource/config/validate"

NOT_THERE = [
    ("GET", "/connectors/none", None, "Connector none not found"),
    ("GET", "/connectors/none/config", None, "Connector none not found"),
    ("GET", "/connectors/none/tasks", None, "Connector none not found"),
    ("GET", "/connectors/none/offsets", None, "Connector none not found"),
    ("GET", "/connectors/none/status", None, "No status found for connector none"),
    ("GET", "/connectors/none/tasks/0/status", None, "No status found for task none-0"),
    ("DELETE", "/connectors/none", None, "Connector none not found"),
    ("PATCH", "/connectors/none/config", {"a": "b"}, "Connector none not found"),
    ("PATCH", "/connectors/none/offsets", OFFSETS, "Connector none not found"),
    ("DELETE", "/connectors/none/offsets", None, "Connector none not found"),
    ("PUT", "/connectors/none/pause", None, "Unknown connector none"),
    ("PUT", "/connectors/none/resume", None, "Unknown connector none"),
    ("PUT", "/connectors/none/stop", None, "Unknown connector none"),
    ("POST", "/connectors/none/restart", None, "Unknown connector: none"),
    ("POST", "/connectors/none/restart?includeTasks=true", None, "Unknown connector: none"),
    ("POST", "/connectors/none/tasks/0/restart", None, "Unknown connector: none"),
    ("POST", "/connectors/looked-at/tasks/7/restart", None, "Unknown task: looked-at-7"),
    ("GET", "/connectors/looked-at/tasks/x/status", None, "HTTP 404 Not Found"),
    ("GET", "/connector-plugins/none/config", None, "Unknown plugin none."),
    ("GET", "/admin/loggers/none", None, "Logger none not found."),
    ("PUT", "/admin/loggers/none", {"level": "LOUD"}, "invalid log level 'LOUD'"),
    ("PUT", "/admin/loggers/none?scope=cluster", {"level": 5}, "invalid log level '5'"),
    ("GET", "/nowhere", None, "HTTP 404 Not Found"),
]
BAD = [
    ("POST", "/connectors", [], "must be a JSON object"),
    ("POST", "/connectors", {"name": "x"}, "config must be an object"),
    ("POST", "/connectors", {"name": "x", "config": []}, "config must be an object"),
    ("POST", "/connectors", {"config": DATAGEN}, "name must be given"),
    ("POST", "/connectors", {"name": "  ", "config": DATAGEN}, "name must be given"),
    ("POST", "/connectors", {"name": "x", "config": DATAGEN, "more": 1}, "Unrecognized field 'more'"),
    ("POST", "/connectors", {"name": "x", "config": DATAGEN, "initial_state": "GONE"}, "RUNNING, PAUSED, STOPPED"),
    ("POST", "/connectors", {"name": "x", "config": {**DATAGEN, "name": "y"}}, "(y) doesn't match"),
    ("POST", "/connectors", {"name": "x", "config": {}}, "contains no connector type"),
    ("POST", "/connectors", {"name": "x", "config": {"connector.class": "FileSteamSource"}}, "did you mean FileStream"),
    ("POST", "/connectors", {"name": "x", "config": {**DATAGEN, "a": None}}, "a: Null value"),
    ("POST", "/connectors", {"name": "x", "config": {**DATAGEN, "a": {}}}, "a must be text"),
    ("POST", "/connectors", {"name": "x\x07", "config": DATAGEN}, "control sequences"),
    ("POST", "/connectors", {"name": "x", "config": {**DATAGEN, "tasks.max": "0"}}, "1 error(s):\nInvalid value '0'"),
    ("PUT", "/connectors/x/config", {**DATAGEN, "name": "y"}, "(y) doesn't match connector name in the URL (x)"),
    ("PUT", "/connectors/x/config", None, "there is none"),
    ("PATCH", "/connectors/looked-at/config", {"name": "y"}, "(y) doesn't match"),
    ("PATCH", "/connectors/looked-at/config", {"name": None}, "(None) doesn't match"),
    ("PATCH", "/connectors/looked-at/config", {"topic": None}, 'Missing required configuration "topic"'),
    ("PATCH", "/connectors/looked-at/offsets", OFFSETS, "/connectors/looked-at/stop"),
    ("PATCH", "/connectors/looked-at/offsets", {}, "need to be provided"),
    ("PATCH", "/connectors/looked-at/offsets", {**OFFSETS, "x": 1}, "Unrecognized field 'x'"),
    ("PATCH", "/connectors/looked-at/offsets", {"offsets": [{"partition": 1}]}, "an object with a partition"),
    ("DELETE", "/connectors/looked-at/offsets", None, "/connectors/looked-at/stop"),
    ("PUT", VALIDATE, {}, "contains no connector type"),
    ("PUT", VALIDATE, {"connector.class": "FileStreamSink"}, "does not match request type FileStreamSource"),
    ("PUT", "/admin/loggers/root", {}, "Desired 'level' parameter was not specified"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "method", "path", "body", "message"),
    [(404, *each) for each in NOT_THERE] + [(400, *each) for each in BAD],
)
def test_a_request_that_cannot_be_met(
    worker: ConnectProcess, source: str, status: int, method: str, path: str, body: object, message: str
) -> None:
    answer = worker.call(method, path, body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), answer.text
    problem = answer.json()
    assert list(problem) == ["error_code", "message"]
    assert problem["error_code"] == status
    assert message in problem["message"]


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"name": NaN}', b'{"a":' * 2000, b'{"name":"\\ud800","config":{}}'])
def test_a_body_that_is_no_json(worker: ConnectProcess, body: bytes) -> None:
    answer = worker.call("POST", "/connectors", body)
    assert answer.status_code == 400
    assert "no valid JSON" in answer.json()["message"]


def test_a_connector_is_there_already(worker: ConnectProcess, source: str) -> None:
    answer = worker.call("POST", "/connectors", {"name": source, "config": DATAGEN})
    assert (answer.status_code, answer.json()["message"]) == (409, f"Connector {source} already exists")


def test_a_method_that_there_is_not(worker: ConnectProcess) -> None:
    answer = worker.call("DELETE", "/connectors")
    assert (answer.status_code, answer.json()["error_code"]) == (405, 405)


@pytest.mark.parametrize(
    "path",
    ["/connectors", "/connector-plugins", "/admin/loggers", "/connectors/looked-at", "/connectors/looked-at/status"],
)
def test_a_slash_at_the_end_changes_nothing(worker: ConnectProcess, source: str, path: str) -> None:
    assert worker.call("GET", f"{path}/").json() == worker.call("GET", path).json()


@pytest.mark.parametrize("suffix", [" with spaces", "/with/slashes", "-mit-Ümlauten-%-?"])
def test_names_that_must_be_encoded(worker: ConnectProcess, topic: str, suffix: str) -> None:
    name = topic + suffix
    path = f"/connectors/{quote(name, safe='')}"
    created = worker.call("POST", "/connectors", {"name": f" {name} ", "config": DATAGEN, "initial_state": "STOPPED"})
    assert created.status_code == 201
    assert created.headers["location"] == worker.url + path
    assert worker.call("GET", path).json()["name"] == name
    assert worker.call("PUT", f"{path}/config", {**DATAGEN, "quickstart": "orders"}).status_code == 200
    assert name in worker.call("GET", "/connectors").json()
    assert worker.call("DELETE", path).status_code == 204
    assert name not in worker.call("GET", "/connectors").json()


def test_a_connector_is_created_changed_merged_and_deleted(worker: ConnectProcess, name: str) -> None:
    path = f"/connectors/{name}"
    created = worker.call("PUT", f"{path}/config", {**DATAGEN, "tasks.max": 1})
    assert (created.status_code, created.headers["location"]) == (201, worker.url + path)
    changed = worker.call("PUT", f"{path}/config", {**DATAGEN, "extra": "a"})
    assert (changed.status_code, "location" in changed.headers) == (200, False)
    merged = worker.call("PATCH", f"{path}/config", {"extra": None, "more": 5, "flag": False})
    assert merged.status_code == 200
    assert merged.json()["config"] == {**DATAGEN, "name": name, "more": "5", "flag": "false"}
    assert worker.call("DELETE", path).status_code == 204
    assert worker.call("GET", path).status_code == 404


@pytest.mark.parametrize(("wanted", "state"), [("PAUSED", "PAUSED"), ("stopped", "STOPPED")])
def test_a_connector_begins_as_it_is_wished(worker: ConnectProcess, name: str, wanted: str, state: str) -> None:
    answer = worker.call("POST", "/connectors", {"name": name, "config": DATAGEN, "initial_state": wanted})
    assert answer.status_code == 201
    worker.wait_for_state(name, state)


def test_a_stopped_connector_that_is_restarted_is_stopped_again(worker: ConnectProcess, name: str) -> None:
    worker.call("POST", "/connectors", {"name": name, "config": DATAGEN, "initial_state": "STOPPED"})
    worker.wait_for_state(name, "STOPPED")
    for flags in ("", "?includeTasks=true"):
        assert worker.call("POST", f"/connectors/{name}/restart{flags}").status_code in (202, 204)
    worker.wait_for_state(name, "STOPPED")


def test_topics_of_a_connector_that_there_is_not(worker: ConnectProcess) -> None:
    assert worker.call("GET", "/connectors/none/topics").json() == {"none": {"topics": []}}
    assert worker.call("PUT", "/connectors/none/topics/reset").status_code == 202


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {"Accept": "text/html"}, 406),
        ("GET", "/connectors", {"Accept": "nonsense"}, 406),
        ("GET", "/connectors", {"Accept": "text/html, */*;q=0.1"}, 200),
        ("GET", "/connectors/none", {"Accept": "text/plain"}, 406),
        ("DELETE", "/connectors/none", {"Accept": "text/html"}, 406),
        ("GET", "/connector-plugins", {"Accept": "text/html"}, 406),
        ("POST", "/connectors", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ("PUT", "/connectors/none/config", {"Content-Type": "text/plain"}, 415),
        ("PUT", "/connectors/none/pause", {"Content-Type": "text/plain"}, 415),
        ("PUT", VALIDATE, {"Content-Type": "text/plain"}, 415),
        ("PUT", "/admin/loggers/none", {"Content-Type": "text/plain"}, 415),
        ("PUT", "/admin/loggers/none", {"Content-Type": "application/json; charset=utf-8"}, 400),
        ("PUT", "/admin/loggers/none", {"Content-Type": ""}, 400),
        ("GET", "/health/live", {"Accept": "text/html"}, 200),
    ],
)
def test_only_json_is_spoken(
    worker: ConnectProcess, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    """As Kafka Connect 4.3.0, except that a body without a type is taken for JSON."""
    assert ask(worker.url, method, path, b"{}" if method in ("POST", "PUT") else None, headers).status == status
