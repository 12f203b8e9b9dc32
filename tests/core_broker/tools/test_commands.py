"""The scripts: their names, how they end, and how little they import."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from core_broker.tools import commands
from tests.broker import BarnabasBroker

SCRIPTS = Path(sys.executable).parent
RUN_LIMIT_S = 60
# What makes a start slow and has no place in a tool that lists topics.
HEAVY = ("rich", "email", "http", "urllib", "argparse", "core_broker.configs", "core_broker.broker", "uvloop", "json")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)


def test_every_tool_has_a_script_with_and_without_sh() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    scripts = {name: at for name, at in project["project"]["scripts"].items() if name.startswith("kafka-")}
    assert set(scripts) == {name + end for name in commands.MODULES for end in ("", ".sh")}
    assert set(scripts.values()) == {"core_broker.tools.commands:main"}


def test_a_script_lists_topics_and_loads_no_more_than_it_needs(barnabas: BarnabasBroker, topic: str) -> None:
    at = ("--bootstrap-server", barnabas.address)
    made = run(str(SCRIPTS / "kafka-topics.sh"), *at, "--create", "--topic", topic)
    assert (made.returncode, made.stdout) == (0, f"Created topic {topic}.\n")
    program = (
        "import sys; from core_broker.tools import commands; "
        "status = commands.call('kafka-topics', sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    listed = run(sys.executable, "-c", program, *at, "--list", "--topic", topic)
    assert (listed.returncode, listed.stdout) == (0, f"{topic}\n")
    loaded = listed.stderr.split()
    assert "core_broker.tools.admin.session" in loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []


def test_a_reader_that_goes_away_ends_a_tool_quietly(barnabas: BarnabasBroker) -> None:
    words = [str(SCRIPTS / "kafka-broker-api-versions"), "--bootstrap-server", barnabas.address]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tool:
        assert tool.stdout is not None
        assert tool.stderr is not None
        tool.stdout.close()
        assert tool.stderr.read() == ""
        assert tool.wait(RUN_LIMIT_S) == 1


def test_ctrl_c_ends_a_tool_as_a_jvm_ends() -> None:
    program = (
        "import signal, sys; from core_broker.tools import commands; from core_broker.tools.admin import session; "
        "session.Session.open = lambda *_, **__: signal.raise_signal(signal.SIGINT); "
        "sys.exit(commands.call('kafka-topics', ['--list', '--bootstrap-server', 'x:1']))"
    )
    ended = run(sys.executable, "-c", program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
