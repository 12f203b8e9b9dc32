"""Scripts for Tab in shells, which the table of commands gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.cli.main import main
from tests.cli.conftest import Call, environment


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("topics", "describe", "produce", "consume", "groups", "reset", "configs", "completion", "output"):
        assert word in script
    assert "supervised" not in script


def test_bash_completes_commands_flags_and_topics(
    broker_address: str, run_at: Call, topic: str, tmp_path: Path
) -> None:
    run_at("topics", "create", topic, "-p", "1")
    script = tmp_path / "completion"
    main_program = f'barnabas() {{ {sys.executable} -m barnabas "$@"; }}\n'
    made = subprocess.run(
        [sys.executable, "-m", "barnabas", "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    script.write_text(made.stdout + main_program)

    def complete(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in ("barnabas", *words))
        program = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _barnabas; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(
            ["bash", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=environment(KAFKA_BOOTSTRAP_SERVERS=broker_address),
        )
        return done.stdout.split()

    assert complete("top") == ["topics"]
    assert complete("topics", "de") == ["describe", "delete"]
    assert complete("topics", "list", "--out") == ["--output"]
    assert topic in complete("topics", "describe", topic[:10])
