"""`barnabas serve broker` as a process."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import pytest

from barnabas.cli.platform.serve import address
from tests.cli.conftest import COMMAND_DEADLINE_S, Start

ANY_PORT = ("--listeners", "PLAINTEXT://127.0.0.1:0")


def announced(line: str, service: str = "broker") -> tuple[str, int]:
    """Return the address in `broker listening on HOST:PORT`."""
    assert line.startswith(f"{service} listening on "), line
    host, _, port = line.rsplit(maxsplit=1)[-1].rpartition(":")
    return host, int(port)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_listens_and_stops_cleanly(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    process = start("serve", "broker", *ANY_PORT, "--data-dir", "data")
    assert process.stdout is not None
    with socket.create_connection(announced(process.stdout.readline())):
        pass
    process.send_signal(number)
    assert process.wait(COMMAND_DEADLINE_S) == 0
    assert process.stdout.read() == ""
    assert (tmp_path / "data" / "version").read_text() == "1\n"
    assert (tmp_path / "data" / "broker" / "meta.properties").exists()


def test_the_log_is_json_when_asked_for(start: Start, tmp_path: Path) -> None:
    process = start("serve", "broker", *ANY_PORT, "--log-format", "json", KAFKA_TYPO="1")
    assert process.stdout is not None
    announced(json.loads(process.stdout.readline())["message"])
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert any("KAFKA_TYPO is passed over" in event["message"] for event in events)
    assert {event["service"] for event in events} == {"broker"}


def test_a_supervised_service_stops_when_its_input_closes(start: Start) -> None:
    process = start("serve", "broker", "--supervised")
    assert process.stdout is not None
    assert process.stdin is not None
    process.stdin.write('{"listeners": "PLAINTEXT://127.0.0.1:0"}\n')
    process.stdin.flush()
    announced(process.stdout.readline())
    process.stdin.close()
    assert process.wait(COMMAND_DEADLINE_S) == 0


def test_a_port_in_use_is_explained(start: Start, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("serve", "broker", "--listeners", f"PLAINTEXT://127.0.0.1:{port}")
        assert process.wait(COMMAND_DEADLINE_S) == 1
    log = (tmp_path / "log").read_text()
    assert str(port) in log
    assert "choose another address with --listeners" in log
    assert "BARNABAS_LISTENERS" in log
    assert "BARNABAS_DATA_DIR" in log
    assert "Traceback" not in log


def test_the_data_of_a_newer_release_are_refused(start: Start, tmp_path: Path) -> None:
    (tmp_path / "barnabas-data").mkdir()
    (tmp_path / "barnabas-data" / "version").write_text("99\n")
    process = start("serve", "broker", *ANY_PORT)
    assert process.wait(COMMAND_DEADLINE_S) == 1
    assert "format version 99" in (tmp_path / "log").read_text()
    assert [path.name for path in (tmp_path / "barnabas-data").iterdir()] == ["version"]


def test_an_address_is_one_word() -> None:
    assert address("127.0.0.1", 9092) == "127.0.0.1:9092"
    assert address("::1", 9092) == "[::1]:9092"
