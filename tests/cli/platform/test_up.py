"""`barnabas up` as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from barnabas.cli.main import main
from barnabas.cli.platform import joined_broker
from barnabas.running_platform import RunFile, RunningPlatform, ServiceState, running_platforms
from barnabas.services import SERVICES, SQL, Resolved, Service
from tests.cli.conftest import COMMAND_DEADLINE_S, Run, Start
from tests.ports import free_port, free_ports_in_a_row
from tests.process_tree import is_alive
from tests.registry import ask
from tests.waiting import wait_for

OTHERS = ("registry", "rest", "connect", "sql")
OTHERS_ANY_PORT = tuple(word for name in OTHERS for word in ("--set", f"{name}.listeners=http://127.0.0.1:0"))
ANY_PORT = ("--set", "listeners=PLAINTEXT://127.0.0.1:0", *OTHERS_ANY_PORT)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def up(process: subprocess.Popen[str]) -> dict[str, str]:
    """The addresses of all services, once they are up."""
    found: dict[str, str] = {}
    while not (line := line_of(process)).startswith("barnabas is up"):
        match = re.fullmatch(r"(\w+) listening on (?:http://)?(\S+), ready after \d+\.\d s", line)
        assert match is not None, line
        found[match[1]] = match[2]
    assert list(found)[:2] == ["broker", "registry"]
    return found


def resolved_without_broker(given: dict[str, str]) -> dict[str, Resolved]:
    return {name: SERVICES[name].resolve(given, {}, None, platform=True) for name in ("registry", "rest")}


def place_told(process: subprocess.Popen[str], service: str) -> str:
    match = re.fullmatch(rf"{service} listening on (\S+), ready after \d+\.\d s", line_of(process))
    assert match is not None
    return match[1]


def place(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def accepts(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=COMMAND_DEADLINE_S).close()
    except ConnectionRefusedError:
        return False
    return True


def assert_all_well(status: subprocess.CompletedProcess[str], services: set[str]) -> None:
    """The command has found the platform by its folder."""
    assert status.returncode == 0, status.stdout + status.stderr
    found = json.loads(status.stdout)
    assert {one["name"] for one in found["services"]} == services
    assert all(one["memory_bytes"] > 0 and one["restarts"] == 0 for one in found["services"])
    assert found["cluster"]["topics"] >= 1
    assert (found["queries"], found["connectors"]) == ([], [])
    assert found["disk"]["broker"] > 0


def test_everything_comes_up_and_stops_with_control_c(start: Start, run: Run, tmp_path: Path) -> None:
    process = start("up", *ANY_PORT)
    addresses = up(process)
    registry, rest, connect, sql = [addresses[name] for name in OTHERS]
    address = place(addresses["broker"])
    assert accepts(address)
    registered = ask(f"http://{registry}", "POST", "/subjects/a/versions", {"schema": '"string"'}, modern=False)
    assert registered.body == {"id": 1}
    produced = ask(
        f"http://{rest}",
        "POST",
        "/topics/t",
        {"records": [{"value": 1}]},
        {"Content-Type": "application/vnd.kafka.json.v2+json"},
    )
    assert [place["offset"] for place in produced.body["offsets"]] == [0]
    assert ask(f"http://{connect}", "GET", "/").body["version"] == "4.3.0"
    assert ask(f"http://{sql}", "GET", "/info").body["KsqlServerInfo"]["serverStatus"] == "RUNNING"
    assert_all_well(run("status", "--output", "json"), set(addresses))
    process.send_signal(signal.SIGINT)
    assert process.wait(COMMAND_DEADLINE_S) == 0
    assert line_of(process) == "barnabas has stopped"
    assert not accepts(address)
    assert (tmp_path / "barnabas-data" / "broker" / "meta.properties").exists()


def test_a_killed_service_comes_back(start: Start, tmp_path: Path) -> None:
    process = start("up", *ANY_PORT)
    address = up(process)["broker"]
    match = re.search(r"broker is process (\d+)", (tmp_path / "log").read_text())
    assert match is not None
    os.kill(int(match[1]), signal.SIGKILL)
    # At the same port, which those know that speak to it.
    assert line_of(process) == f"broker listening on {address}, again"
    assert accepts(place(address))
    assert "broker was ended by SIGKILL; starting it again" in (tmp_path / "log").read_text()
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0


def test_services_do_not_outlive_a_killed_supervisor_and_the_next_one_waits_for_them(
    start: Start, tmp_path: Path
) -> None:
    words = ("up", "--ports-from", str(free_ports_in_a_row(5)))
    process = start(*words)
    addresses = up(process)
    former = RunningPlatform.find(tmp_path / "barnabas-data")
    assert former is not None
    process.kill()
    process.wait(COMMAND_DEADLINE_S)
    # At the same ports, and on the same folders.
    again = start(*words)
    assert up(again) == addresses
    assert [state.name for state in former.services if is_alive(state.pid or 0)] == []
    again.terminate()
    assert again.wait(COMMAND_DEADLINE_S) == 0


def test_services_that_a_killed_platform_has_left_are_named(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = start("serve", "broker", "--supervised")
    data = tmp_path / "barnabas-data"
    data.mkdir()
    killed = 2**22 + 1
    RunningPlatform(killed, 1.0, (ServiceState("broker", left.pid, (), 0), ServiceState("sql", None, (), 0))).save(data)
    monkeypatch.setattr("barnabas.cli.platform.up.END_WAIT_S", 0.0)
    assert main(["up", "--only", "broker", "--data-dir", str(data), *ANY_PORT]) == 1
    told = capsys.readouterr().err
    assert f"have not ended within 0 s: broker (process {left.pid})" in told
    assert f"kill {left.pid}" in told


def test_it_goes_on_when_the_reader_of_its_output_leaves(start: Start, tmp_path: Path) -> None:
    # One service: it is stopped as soon as its word is out, when others would still be loading.
    process = start("up", "--only", "broker", *ANY_PORT)
    assert process.stdout is not None
    process.stdout.close()
    wait_for(lambda: "the platform goes on" in (tmp_path / "log").read_text(), "a word about the output")
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_service_that_cannot_start_ends_the_command(start: Start, tmp_path: Path) -> None:
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "meta.properties").write_text("version=0\n")
    process = start("up", "--only", "broker", "--set", "log.dirs=torn", *ANY_PORT)
    assert process.wait(COMMAND_DEADLINE_S) == 1
    last = (tmp_path / "log").read_text().splitlines()[-1]
    assert last.startswith("barnabas: broker ended with exit status 1 before it was ready; its log ends with: ")
    assert "meta.properties" in last, "whoever reads the last line alone is told why"


def test_ports_are_looked_at_before_anything_starts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with socket.create_server(("127.0.0.1", 0)) as ours, socket.create_server(("127.0.0.1", 0)) as others:
        port, taken = ours.getsockname()[1], others.getsockname()[1]
        (tmp_path / "first").mkdir()
        RunFile(tmp_path / "first", 0.0).update([ServiceState("broker", None, (f"127.0.0.1:{port}",), 0)])
        words = ["up", "--listeners", f"PLAINTEXT://localhost:{port}", *OTHERS_ANY_PORT]
        shared = free_port()
        for setting, value in (("registry", taken), ("rest", shared), ("connect", shared)):
            words += ["--set", f"{setting}.listeners=http://127.0.0.1:{value}"]
        told = run(*words)
    assert (told.returncode, told.stdout) == (1, "")
    first, broker, registry, connect, advice = told.stderr.splitlines()
    assert first == "barnabas: nothing was started, since ports cannot be had"
    where = f"{tmp_path / 'first'}, as process {os.getpid()}"
    assert (
        broker == f"  broker: localhost:{port} is that of the platform that runs on {where}; the setting is listeners"
    )
    assert registry.startswith(f"  registry: 127.0.0.1:{taken} is taken by another program")
    assert registry.endswith("the setting is registry.listeners")
    assert "is wanted for rest.listeners, too" in connect
    assert "--ports-from" in advice
    assert not (tmp_path / "barnabas-data").exists(), "not even the folder is made"


def test_a_service_that_is_named_cannot_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Service, "missing_packages", lambda self: ["pyspark"] if self is SQL else [])
    assert main(["up", "--only", "broker,sql", "--data-dir", str(tmp_path / "data"), *ANY_PORT]) == 1
    told = capsys.readouterr().err
    assert "sql, which --only names, cannot be started: pyspark missing" in told
    assert "pip install 'barnabas[sql]'" in told
    assert not (tmp_path / "data").exists()


def test_some_services_at_ports_in_a_row(
    start: Start, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first = free_ports_in_a_row(5)
    process = start("up", "--only", "broker,registry", "--ports-from", str(first))
    assert up(process) == {"broker": f"127.0.0.1:{first}", "registry": f"127.0.0.1:{first + 1}"}
    running = RunningPlatform.find(tmp_path / "barnabas-data")
    assert running is not None
    assert "created topic here" in run("topics", "create", "here").stdout, (
        "commands in this folder speak to its platform"
    )
    assert "no subjects" in (listed := run("schemas", "list")).stdout + listed.stderr
    assert [service.name for service in running.services] == ["broker", "registry"]
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0
    assert RunningPlatform.find(tmp_path / "barnabas-data") is None
    assert list((tmp_path / "state").rglob("running/*")) == []


def test_a_data_directory_that_commands_do_not_look_into_is_told(start: Start, tmp_path: Path) -> None:
    process = start("up", "--only", "broker", "--set", "listeners=PLAINTEXT://127.0.0.1:0", "--data-dir", "other")
    place_told(process, "broker")
    assert f"(for commands: export BARNABAS_DATA_DIR={tmp_path / 'other'})" in line_of(process)


def test_a_platform_is_known_in_other_folders(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    process = start("up", "--only", "broker", "--set", "listeners=PLAINTEXT://127.0.0.1:0")
    address = place_told(process, "broker")
    assert line_of(process).startswith("barnabas is up")
    data = tmp_path / "barnabas-data"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main(["status", "-b", f"localhost:{place(address)[1]}", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["services"]] == ["broker"]
    assert found["services"][0]["memory_bytes"] > 0
    assert found["data_directory"] == str(data)
    main(["doctor", "--set", f"listeners=PLAINTEXT://{address}"])
    assert f"{address} is that of the platform that runs on {data}\n" in capsys.readouterr().out
    main(["doctor", "--data-dir", str(data)])
    assert f"port of broker  {address} is that of the platform that runs on {data}\n" in capsys.readouterr().out
    for words, variable in ((["backup", "named", "-b", address], ""), (["backup", "found"], address)):
        monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", variable)
        assert main([*words, "-o", "json"]) == 0, "it finds the platform as status does"
        assert json.loads(capsys.readouterr().out)["data_directory"] == str(data)
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS")
    assert main(["backup", "none", "-b", "127.0.0.1:1"]) == 1
    assert "no platform of this user listens at 127.0.0.1:1" in capsys.readouterr().err
    nobody = [word for name in OTHERS for word in (f"--{name}", "http://127.0.0.1:1")]
    assert main(["status", "-b", "127.0.0.1:1", *nobody]) == 1
    assert f"One runs here: barnabas status --data-dir {data}\n" in capsys.readouterr().out
    process.kill()
    process.wait(COMMAND_DEADLINE_S)
    assert list(running_platforms()) == []
    assert list((tmp_path / "state").rglob("running/*")) == [], "what was left over is removed"


def test_on_a_cluster_that_is_there_no_broker_is_started(start: Start, broker_address: str) -> None:
    others = ("--without", "sql,connect", "--set", "registry.listeners=http://127.0.0.1:0", "--set")
    process = start("up", "--bootstrap-servers", broker_address, *others, "rest.listeners=http://127.0.0.1:0")
    assert line_of(process).startswith("registry listening on ")
    assert line_of(process).startswith("rest listening on ")
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0


def test_the_broker_of_another_platform_is_not_joined_by_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    (tmp_path / "first").mkdir()
    RunFile(tmp_path / "first", 0.0).update([ServiceState("broker", None, ("127.0.0.1:9092",), 0)])
    assert main(["up", "--only", "registry,rest", "--data-dir", str(tmp_path / "data"), *OTHERS_ANY_PORT]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "that at 127.0.0.1:9092, which registry, rest would use" in told.err
    assert f"the platform that runs on {tmp_path / 'first'}, as process {os.getpid()}" in told.err
    assert "To join it on purpose: --bootstrap-servers 127.0.0.1:9092." in told.err


@pytest.mark.parametrize(
    "given",
    [
        {"registry.bootstrap.servers": "127.0.0.1:9092", "rest.bootstrap.servers": "127.0.0.1:9092"},
        {"kafkastore.bootstrap.servers": "127.0.0.1:9092", "rest.bootstrap.servers": "127.0.0.1:9092"},
    ],
)
def test_a_broker_that_somebody_has_named_is_joined(given: dict[str, str]) -> None:
    running = {Path("first"): RunningPlatform(1, 0.0, (ServiceState("broker", None, ("127.0.0.1:9092",), 0),))}
    named = resolved_without_broker(given)
    assert joined_broker.word_about_it(named, running) is None
    assert joined_broker.named_by_variable(named, {"KAFKA_BOOTSTRAP_SERVERS": "kafka:1"}) == {}


def test_a_broker_that_nobody_has_named_is_told() -> None:
    told = joined_broker.word_about_it(resolved_without_broker({"registry.bootstrap.servers": "kafka:1"}), {})
    assert told == "rest uses the broker at 127.0.0.1:9092; --bootstrap-servers names another"


def test_the_variable_of_clients_names_the_broker_where_none_is_started(start: Start, broker_address: str) -> None:
    words = ("up", "--only", "registry", "--set", "registry.listeners=http://127.0.0.1:0")
    process = start(*words, KAFKA_BOOTSTRAP_SERVERS=broker_address)
    assert line_of(process).startswith("registry listening on "), "at the usual address no broker would have answered"
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--only", "brokr"), "there is no service 'brokr'"),
        (("--only", "sql", "--without", "sql"), "no service is left to start"),
        (("--ports-from", "65533"), "--ports-from 65533 leaves no 5 ports"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, words: tuple[str, ...], told: str) -> None:
    ended = run("up", *words)
    assert ended.returncode == 2
    assert told in ended.stderr
