"""What happens when the output goes nowhere: a full disk, a reader that has left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.cli.main import main
from tests.cli.conftest import COMMAND_DEADLINE_S, environment

FULL = Path("/dev/full")
# More than a pipe holds, so that the writer meets the closed end.
RECORDS = 20_000

needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def shell(program: str, address: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {program.replace('barnabas', f'{sys.executable} -m barnabas', 1)}"],
        env=environment(KAFKA_BOOTSTRAP_SERVERS=address),
        capture_output=True,
        text=True,
        timeout=COMMAND_DEADLINE_S,
        check=False,
    )


@needs_full
@pytest.mark.parametrize("words", ["topics list", "config broker", "--help", "--version", "completion bash"])
def test_a_full_disk_is_told_in_one_line(broker_address: str, words: str) -> None:
    done = shell(f"barnabas {words} >{FULL}", broker_address)
    assert (done.returncode, done.stderr) == (1, "barnabas: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_a_reader_of_records_may_leave(broker_address: str, topic: str, tmp_path: Path, form: str) -> None:
    lines = tmp_path / "lines"
    lines.write_text("some words that fill a pipe\n" * RECORDS)
    assert main(["topics", "create", topic, "-p", "1", "-b", broker_address]) == 0
    assert main(["produce", topic, "--file", str(lines), "-b", broker_address]) == 0
    done = shell(f"barnabas consume {topic} -o {form} | head -n 2", broker_address)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2


def test_a_reader_that_reads_nothing_is_no_error(broker_address: str) -> None:
    done = shell("barnabas topics list | true", broker_address)
    assert (done.returncode, done.stderr) == (0, "")
