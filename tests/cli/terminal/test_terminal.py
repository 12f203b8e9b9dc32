"""The command in a real terminal, and in a pipe."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.conftest import Call, environment
from tests.cli.connectors.small_worker import SmallWorker
from tests.cli.terminal.terminal_process import CONTROL_C, TerminalProcess

BARNABAS = (sys.executable, "-m", "barnabas")
RULE = "─" * 10
INTERRUPTED = 130


def on_terminal(request: pytest.FixtureRequest, *words: str) -> TerminalProcess:
    terminal = TerminalProcess([*BARNABAS, *words], environment())
    request.addfinalizer(terminal.close)
    return terminal


def test_a_terminal_gets_a_table_and_a_pipe_does_not(
    run_at: Call, broker_address: str, topic: str, request: pytest.FixtureRequest
) -> None:
    run_at("topics", "create", topic, "-p", "2")
    words = ("topics", "list", "-b", broker_address)
    terminal = on_terminal(request, *words)
    shown = terminal.shown(topic).splitlines()
    assert (shown[0].split(), shown[1][:10]) == (["NAME", "PARTITIONS", "REPLICATION"], RULE)
    assert terminal.ended() == 0
    piped = subprocess.run([*BARNABAS, *words], env=environment(), capture_output=True, text=True, check=True).stdout
    head, *rows = piped.splitlines()
    assert head.split() == ["NAME", "PARTITIONS", "REPLICATION"]
    assert [topic, "2", "1"] in [row.split() for row in rows]
    assert "─" not in piped
    assert "\x1b" not in piped


def test_a_watched_view_is_shown_again_until_control_c(request: pytest.FixtureRequest) -> None:
    worker = SmallWorker()
    request.addfinalizer(worker.stop)
    worker.add("files")
    terminal = on_terminal(request, "connectors", "list", "--watch", "--connect", worker.url)
    assert RULE in terminal.shown("RUNNING")
    worker.add("second", state="PAUSED")
    assert "files" in terminal.shown("PAUSED")
    terminal.type(CONTROL_C)
    assert terminal.ended() == INTERRUPTED
