"""`barnabas up` as a process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from functools import partial
from pathlib import Path

from tests.cli.conftest import COMMAND_DEADLINE_S, Start
from tests.cli.test_serve import announced
from tests.registry import ask
from tests.waiting import wait_for

OTHERS = ("registry", "rest", "connect", "sql")
ALL_AT_ONCE_DEADLINE_S = 40.0
"""Whoever stops while the broker does waits for what it would have said to it."""
OTHERS_ANY_PORT = tuple(word for name in OTHERS for word in ("--set", f"{name}.listeners=http://127.0.0.1:0"))
ANY_PORT = ("--set", "listeners=PLAINTEXT://127.0.0.1:0", *OTHERS_ANY_PORT)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def accepts(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=COMMAND_DEADLINE_S).close()
    except ConnectionRefusedError:
        return False
    return True


def test_everything_comes_up_and_stops_with_control_c(start: Start, tmp_path: Path) -> None:
    process = start("up", *ANY_PORT)
    address = announced(line_of(process))
    registry = line_of(process).removeprefix("registry listening on ")
    rest = line_of(process).removeprefix("rest listening on ")
    connect = line_of(process).removeprefix("connect listening on ")
    sql = line_of(process).removeprefix("sql listening on ")
    assert line_of(process) == "barnabas is up, data in barnabas-data; Ctrl-C stops it"
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
    process.send_signal(signal.SIGINT)
    assert process.wait(COMMAND_DEADLINE_S) == 0
    assert line_of(process) == "barnabas has stopped"
    assert not accepts(address)
    assert (tmp_path / "barnabas-data" / "broker" / "meta.properties").exists()


def test_a_killed_service_comes_back(start: Start, tmp_path: Path) -> None:
    process = start("up", *ANY_PORT)
    announced(line_of(process))
    for _ in range(len(OTHERS) + 1):
        line_of(process)
    match = re.search(r"broker is process (\d+)", (tmp_path / "log").read_text())
    assert match is not None
    os.kill(int(match[1]), signal.SIGKILL)
    assert accepts(announced(line_of(process)))
    assert "broker was ended by SIGKILL; starting it again" in (tmp_path / "log").read_text()
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0


def test_services_do_not_outlive_a_killed_supervisor(start: Start) -> None:
    process = start("up", *ANY_PORT)
    broker = announced(line_of(process))
    others = [announced(line_of(process), name) for name in OTHERS]
    line_of(process)
    process.kill()
    for address in (broker, *others):
        wait_for(partial(lambda one: not accepts(one), address), "the services to stop", ALL_AT_ONCE_DEADLINE_S)


def test_it_goes_on_when_the_reader_of_its_output_leaves(start: Start, tmp_path: Path) -> None:
    process = start("up", *ANY_PORT)
    assert process.stdout is not None
    process.stdout.close()
    wait_for(lambda: "the platform goes on" in (tmp_path / "log").read_text(), "a word about the output")
    process.terminate()
    assert process.wait(COMMAND_DEADLINE_S) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_service_that_cannot_start_ends_the_command(start: Start, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = start("up", "--listeners", f"PLAINTEXT://127.0.0.1:{taken.getsockname()[1]}")
        assert process.wait(COMMAND_DEADLINE_S) == 1
    log = (tmp_path / "log").read_text()
    assert "broker: cannot listen" in log
    assert "choose another address with --listeners" in log
    assert log.endswith("barnabas: broker ended with exit status 1 before it was ready; its log says why\n")
