"""The `barnabas` command, as a process or in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from barnabas.cli.main import main
from tests.broker import BarnabasBroker
from tests.connect_service import ConnectProcess
from tests.registry import RegistryProcess
from tests.sql_service import SqlProcess

COMMAND_DEADLINE_S = 180

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
Call = Callable[..., str]
Failure = Callable[..., tuple[int, str]]


@dataclass
class Applied:
    status: int
    out: str
    err: str

    @property
    def signs(self) -> list[str]:
        """The lines of the things themselves, such as `+ topic orders`."""
        return [line for line in self.out.splitlines() if line[:2] in ("+ ", "~ ", "- ", "= ", "! ")]


Apply = Callable[..., Applied]


def environment(**extra: str) -> dict[str, str]:
    """The environment of this process without variables that would set something, and with `extra`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("BARNABAS_", "KAFKA_"))}
    return {**kept, **extra}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command in an empty folder until it ends."""

    def command(*words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "barnabas", *words],
            cwd=tmp_path,
            env=environment(**extra),
            capture_output=True,
            text=True,
            timeout=COMMAND_DEADLINE_S,
            check=False,
        )

    return command


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the command in an empty folder, with its log in the file `log`; it is killed when the test ends."""
    started: list[subprocess.Popen[str]] = []

    def command(*words: str, **extra: str) -> subprocess.Popen[str]:
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "barnabas", *words],
                cwd=tmp_path,
                env=environment(**extra),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        started.append(process)
        return process

    yield command
    for process in started:
        process.kill()
        with process:
            pass


@pytest.fixture
def run_at(broker_address: str, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command against the broker; it must succeed. Returns what it printed."""

    def command(*words: str) -> str:
        capsys.readouterr()
        assert main([*words, "--bootstrap-server", broker_address]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return command


@pytest.fixture
def failure_at(broker_address: str, capsys: pytest.CaptureFixture[str]) -> Failure:
    """Run a command against the broker. Returns its status and what it said on standard error."""

    def command(*words: str) -> tuple[int, str]:
        status = main([*words, "--bootstrap-server", broker_address])
        return status, capsys.readouterr().err

    return command


@pytest.fixture
def apply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Apply:
    """Write a file and apply it with the flags of the places."""

    def run(text: str, *words: str) -> Applied:
        path = tmp_path / "platform.yaml"
        path.write_text(text)
        capsys.readouterr()
        status = main(["apply", "-f", str(path), "--data-dir", str(tmp_path / "none"), *words])
        told = capsys.readouterr()
        return Applied(status, told.out, told.err)

    return run


@pytest.fixture
def everywhere(
    barnabas: BarnabasBroker, registry: RegistryProcess, connect_service: ConnectProcess, sql_service: SqlProcess
) -> tuple[str, ...]:
    services = ("--registry", registry.url, "--connect", connect_service.url, "--sql", sql_service.url)
    return ("--bootstrap-server", barnabas.address, *services)
