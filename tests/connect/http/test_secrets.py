"""A secret goes in, and nothing that a worker says or writes down for people has it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from barnabas.kernel.settings import MASK
from tests.broker import BarnabasBroker
from tests.connect.http.conftest import VARIABLE
from tests.connect_service import ConnectProcess
from tests.waiting import wait_for

SECRET = "sesame-open-thyself"
CHATTY = {
    "connector.class": "chatty",
    "password": SECRET,
    "producer.override.sasl.jaas.config": SECRET,
    "url": f"db://me:{SECRET}@nowhere",
}
VALIDATE = "/connector-plugins/tests.ChattyConnector/config/validate"


def stored(broker: BarnabasBroker, name: str) -> dict[str, str]:
    """The config that the worker will use: the last one in its topic."""
    settings = {"bootstrap.servers": broker.address, "group.id": "secrets", "fetch.wait.max.ms": 10}
    consumer = Consumer({**settings, "enable.partition.eof": True})
    consumer.assign([TopicPartition("http-tests-configs", 0, OFFSET_BEGINNING)])
    found: dict[str, str] = {}
    while (message := consumer.poll(90.0)) is not None and message.error() is None:
        if message.key() == f"connector-{name}".encode() and (value := message.value()) is not None:
            found = orjson.loads(value)["properties"]
    consumer.close()
    return found


def test_no_answer_tells_a_secret(worker: ConnectProcess, name: str) -> None:
    answers = [worker.call("POST", "/connectors", {"name": name, "config": CHATTY})]
    worker.wait_for_tasks(name, ["RUNNING"])
    paths = ["", "/config", "/tasks", "/status", "/tasks/0/status"]
    answers += [worker.call("GET", f"/connectors/{name}{path}") for path in paths]
    answers += [worker.call("GET", "/connectors?expand=info&expand=status")]
    answers += [worker.call("PUT", f"/connectors/{name}/config", CHATTY)]
    answers += [worker.call("PATCH", f"/connectors/{name}/config", {"password": SECRET})]
    answers += [worker.call("PUT", VALIDATE, {**CHATTY, "talks.in": talks}) for talks in ("", "check", "nowhere")]
    for answer in answers:
        assert answer.is_success, answer.text
        assert SECRET not in answer.text
    masked = {key: text.replace(SECRET, MASK) for key, text in CHATTY.items()} | {"name": name}
    assert answers[2].json() == masked
    assert answers[3].json()[0]["config"].items() >= masked.items()


@pytest.mark.parametrize("place", ["read", "shards"])
def test_no_trace_and_no_log_tells_a_secret(worker: ConnectProcess, name: str, place: str) -> None:
    worker.create(name, {**CHATTY, "talks.in": place})

    def trace() -> Any:
        status = worker.status(name)
        parts = [] if status is None else [status["connector"], *status["tasks"]]
        return next((part["trace"] for part in parts if "trace" in part), None)

    assert f"nobody may come in with {MASK}" in wait_for(trace, "the failure")
    assert SECRET not in worker.log.read_text()


def test_a_refusal_does_not_tell_the_secret(worker: ConnectProcess) -> None:
    config = {**CHATTY, "talks.in": "check"}
    answer = worker.call("POST", "/connectors", {"name": "refused", "config": config})
    assert answer.status_code == 400
    assert f"nobody may come in with {MASK}" in answer.json()["message"]
    assert SECRET not in answer.text


def test_a_reference_is_told_as_it_is_and_what_it_refers_to_is_not(worker: ConnectProcess, name: str) -> None:
    reference = f"${{env:{VARIABLE}}}"
    config = {"connector.class": "chatty", "password": reference, "talks.in": "read"}
    worker.create(name, config)
    (task,) = worker.wait_for_tasks(name, ["FAILED"])["tasks"]
    assert f"nobody may come in with {MASK}" in task["trace"]
    assert worker.call("GET", f"/connectors/{name}/config").json()["password"] == reference
    assert worker.call("GET", f"/connectors/{name}/tasks").json()[0]["config"]["password"] == reference
    validated = worker.call("PUT", VALIDATE, {**config, "talks.in": "check"})
    assert "from-the-environment" not in validated.text
    assert "from-the-environment" not in worker.log.read_text()


def test_a_mask_that_comes_back_leaves_the_secret_as_it_is(
    worker: ConnectProcess, barnabas: BarnabasBroker, name: str
) -> None:
    worker.create(name, CHATTY)
    shown = worker.call("GET", f"/connectors/{name}/config").json()
    assert worker.call("PUT", f"/connectors/{name}/config", {**shown, "tasks.max": "2"}).status_code == 200
    assert stored(barnabas, name) == {**CHATTY, "name": name, "tasks.max": "2"}
    assert worker.call("PATCH", f"/connectors/{name}/config", {"password": MASK, "tasks.max": None}).status_code == 200
    assert stored(barnabas, name) == {**CHATTY, "name": name}
    assert worker.call("PATCH", f"/connectors/{name}/config", {"password": "another"}).status_code == 200
    assert stored(barnabas, name)["password"] == "another"
