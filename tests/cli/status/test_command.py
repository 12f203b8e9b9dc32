"""`barnabas status`: what it asks and how it shows it. `test_up` has it on a whole platform."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from barnabas.cli.cluster.end_offsets import end_offsets
from barnabas.cli.command_error import EXIT_UNREACHABLE
from barnabas.cli.command_parser import command_parser
from barnabas.cli.main import main
from barnabas.cli.platform.addresses import addresses_of
from barnabas.cli.service_address import SERVICES, restart_hint
from barnabas.cli.sql.entities import query_state
from barnabas.cli.status import services
from barnabas.cli.status.cluster import cluster_status
from barnabas.cli.status.command import duration
from barnabas.cli.status.services import complaint, service_status
from barnabas.client.admin.listed_offsets import Partition
from barnabas.client.admin.session import Session
from barnabas.running_platform import RUN_FILE, RunningPlatform, ServiceState
from tests.cli.connectors.small_worker import SmallWorker
from tests.registry import RegistryProcess
from tests.waiting import wait_for

NOBODY = "127.0.0.1:1"
DEADLINE_S = 60.0
NO_WAIT_S = 10.0
"""Less than the clients of programs wait for a topic."""


def test_a_broker_alone(broker_address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["status", "--data-dir", str(tmp_path), "-b", broker_address]
    for name in ("registry", "rest", "connect", "sql"):
        words += [f"--{name}", f"http://{NOBODY}"]
    assert main([*words, "-o", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {one["name"]: one["health"] for one in found["services"]} == {
        "broker": "healthy", "registry": "down", "rest": "down", "connect": "down", "sql": "down",
    }  # fmt: skip
    assert found["cluster"]["brokers"] == 1
    assert found["queries"] is None
    assert main(words) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("barnabas: not all services are healthy\n")
    assert "Connection refused" in shown


def test_when_nothing_answers_it_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for name in ("registry", "rest", "connect", "sql") for word in (f"--{name}", f"http://{NOBODY}")]
    assert main(["status", "--data-dir", str(tmp_path), "-b", NOBODY, *words]) == 1
    assert "`barnabas up` starts the platform" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("status",), ("demo",), ("apply", "--prune", "--yes", "-f", "FILE")])
def test_a_folder_on_which_nothing_runs_does_not_mean_the_platform_at_the_usual_ports(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "platform.yaml"
    file.write_text("name: shop\ntopics: {}\n")
    given = [str(file) if word == "FILE" else word for word in words]
    assert main([*given, "--data-dir", str(tmp_path)]) == EXIT_UNREACHABLE
    told = capsys.readouterr().err
    assert f"no platform runs on {tmp_path}" in told
    assert f"barnabas up --data-dir {tmp_path}" in told


def test_a_worker_that_is_starting_has_no_version_of_kafkas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = {
        f"http://{NOBODY}/health": b'{"status": "unhealthy", "message": "It is reading its topics."}',
        f"http://{NOBODY}/": b'{"error_code": 500, "message": "It is reading its topics."}',
        f"http://{NOBODY}/metrics": b'barnabas_build_info{version="1.2.3"} 1',
    }
    monkeypatch.setattr(services, "_content", lambda url, _body=None: documents[url])
    words = ["status", "--data-dir", str(tmp_path), "--connect", f"http://{NOBODY}"]
    found = service_status("connect", addresses_of(command_parser().parse_args(words)))
    assert (found.reason, found.version, found.stands_for) == ("It is reading its topics.", "1.2.3", None)


def test_a_service_that_is_not_named_beside_such_a_folder_is_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, _ in SERVICES.values():
        monkeypatch.delenv(variable, raising=False)
    arguments = command_parser().parse_args(["status", "--data-dir", str(tmp_path), "-b", NOBODY])
    assert addresses_of(arguments).addresses == {"broker": NOBODY}


@pytest.fixture
def platform_here(broker_address: str, tmp_path: Path) -> RunningPlatform:
    """One that runs on the folder, as this process: its broker."""
    running = RunningPlatform(os.getpid(), 1.0, (ServiceState("broker", os.getpid(), (broker_address,), 3),), "1.2.3")
    running.save(tmp_path)
    return running


@pytest.mark.usefixtures("platform_here")
def test_what_a_platform_knows_of_its_broker_is_told_of_that_alone(
    broker_address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broker(address: str) -> dict[str, Any]:
        main(["status", "--data-dir", str(tmp_path), "-b", address, "-o", "json"])
        found = json.loads(capsys.readouterr().out)
        told: dict[str, Any] = found["services"][0]
        return {**told, "folder": found["data_directory"]}

    own, other = broker(broker_address), broker(NOBODY)
    assert (own["restarts"], own["version"], own["folder"]) == (3, "1.2.3", str(tmp_path))
    assert own["memory_bytes"] > 0
    assert other["health"] == "down"
    assert {other[name] for name in ("restarts", "memory_bytes", "pid", "version", "folder")} == {None}


@pytest.mark.usefixtures("platform_here")
def test_a_service_of_a_running_platform_is_not_to_be_started(
    broker_address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("BARNABAS_DATA_DIR", str(tmp_path))
    told = restart_hint(f"http://{broker_address}/")
    assert told is not None
    assert f"The platform on {tmp_path} (process {os.getpid()}) runs, and starts it again by itself" in told
    assert restart_hint(f"http://{NOBODY}") is None


def test_the_lag_of_a_running_sink_is_what_its_worker_knows(
    broker_address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    worker = SmallWorker()
    request.addfinalizer(worker.stop)
    name = f"files-{secrets.token_hex(4)}"
    topic, group = f"{name}-in", f"connect-{name}"
    producer = Producer({"bootstrap.servers": broker_address})
    for number in range(5):
        producer.produce(topic, str(number))
    assert producer.flush(DEADLINE_S) == 0
    consumer = Consumer({"bootstrap.servers": broker_address, "group.id": group})
    request.addfinalizer(consumer.close)
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    words = ["status", "--data-dir", str(tmp_path), "-b", broker_address, "--connect", worker.url, "-o", "json"]

    def lags() -> tuple[int, int | None]:
        main(words)
        found = json.loads(capsys.readouterr().out)
        (of_group,) = [one["lag"] for one in found["cluster"]["groups"] if one["group"] == group]
        (of_connector,) = [one["lag"] for one in found["connectors"]]
        return of_group, of_connector

    connector = worker.add(name)
    worker.metrics = "".join(f'connect_task_sink_record_lag{{connector="{name}",task="{task}"}} 1.0\n' for task in "01")
    assert lags() == (2, 2)
    connector.traces[1] = "it has failed"
    assert lags() == (4, None), "of a task that does not run, nobody but the group knows how far it is"


def test_topics_that_are_gone_and_groups_that_take_too_long_are_not_waited_for(
    broker_address: str, topic: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    producer = Producer({"bootstrap.servers": broker_address})
    producer.produce(topic, "1")
    assert producer.flush(DEADLINE_S) == 0
    consumer = Consumer({"bootstrap.servers": broker_address, "group.id": topic})
    request.addfinalizer(consumer.close)
    consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)

    async def ends() -> dict[Partition, int]:
        async with Session.open(broker_address) as session, asyncio.timeout(NO_WAIT_S):
            return await end_offsets(session, [(topic, 0), (topic, 7), (f"{topic}-gone", 0)])

    def lag() -> int | None:
        (found,) = [one.lag for one in cluster_status(broker_address).groups if one.group == topic]
        return found

    assert asyncio.run(ends()) == {(topic, 0): 1}
    assert lag() == 1
    monkeypatch.setattr("barnabas.cli.status.cluster.LAGS_TIME_MS", 0)
    assert lag() is None


def test_our_own_version_is_told_and_what_it_stands_for(
    registry: RegistryProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["status", "--data-dir", str(tmp_path), "--registry", registry.url]
    # The registry is not healthy before its first election.
    wait_for(lambda: main(command) == 0, "the registry to be healthy", DEADLINE_S)
    assert f"{version('barnabas')} (as Schema Registry 8.0.0)" in capsys.readouterr().out


def test_the_registry_tells_itself_why_it_is_not_well() -> None:
    assert complaint("registry", {"status": "healthy"}) is None
    assert complaint("registry", {"status": "unhealthy", "message": "topic: away"}) == "topic: away"


def test_a_file_of_a_platform_that_was_killed_counts_for_nothing(tmp_path: Path) -> None:
    gone = RunningPlatform(2**22 + 1, 1.0, (ServiceState("broker", None, (NOBODY,), 3),))
    gone.save(tmp_path)
    assert (tmp_path / RUN_FILE).exists()
    assert RunningPlatform.find(tmp_path) is None


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 s"), (61, "1 min 1 s"), (3_600, "1 h 0 min"), (180_000, "2 d 2 h")]
)
def test_durations(seconds: int, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("query", "state"), [({"state": "RUNNING"}, "RUNNING"), ({"state": "RUNNING", "isStarting": True}, "STARTING")]
)
def test_a_query_that_spark_has_not_started_yet_does_not_run(query: dict[str, object], state: str) -> None:
    assert query_state(query) == state
