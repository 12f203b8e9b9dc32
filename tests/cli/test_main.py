"""The command itself: help, version, mistakes, and its speed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from tests.cli.conftest import Run, environment

COMMANDS = ("up", "serve", "config", "topics", "produce", "consume", "groups", "configs", "sql", "completion")


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_without_words_it_prints_help(run: Run, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 0
    assert [command for command in COMMANDS if not re.search(rf"^    {command}\b", done.stdout, re.MULTILINE)] == []


def test_version_is_that_of_the_installed_package(run: Run) -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"barnabas {version('barnabas')}\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("fly",), "invalid choice: 'fly'"),
        (("serve",), "SERVICE"),
        (("serve", "toaster"), "invalid choice: 'toaster'"),
        (("config", "--set", "num.partitions"), "'num.partitions' is not of the form name=value"),
        (("config", "--log-format", "xml"), "invalid choice: 'xml'"),
    ],
)
def test_a_mistaken_command_line_is_explained(run: Run, words: tuple[str, ...], complaint: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert complaint in done.stderr


@pytest.mark.parametrize("words", [("fly",), ("--fly",)])
def test_a_mistake_at_the_top_names_every_command(run: Run, words: tuple[str, ...]) -> None:
    done = run(*words)
    usage, _, _ = done.stderr.partition("barnabas: error")
    assert done.returncode == 2
    assert [command for command in COMMANDS if not re.search(rf"\b{command}\b", usage)] == []


@pytest.mark.parametrize(
    ("service", "file"), [("broker", "server.properties"), ("connect", "connect-standalone.properties")]
)
def test_help_names_the_file_of_the_service(run: Run, service: str, file: str) -> None:
    assert f"{file})or" in "".join(run("serve", service, "--help").stdout.split())


def test_help_loads_neither_the_broker_nor_an_event_loop() -> None:
    program = (
        "import sys; from barnabas.cli.main import main; main([]); "
        "print([name for name in ('core_broker', 'asyncio', 'uvloop', 'subprocess') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_goes_away_is_no_error(run: Run) -> None:
    program = f"set -o pipefail; {sys.executable} -m barnabas config --docs | head -n 1"
    done = subprocess.run(["bash", "-c", program], env=environment(), capture_output=True, text=True, check=False)
    assert done.stdout.startswith("# broker")
    assert (done.returncode, done.stderr) == (0, "")
