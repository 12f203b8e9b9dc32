"""What the README tells newcomers to type."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
ADDRESS = "127.0.0.1:9092"
EXAMPLE_DEADLINE_S = 20
"""Far less than a client waits for a coordinator that does not come."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_example(broker_address: str) -> None:
    (example,) = blocks("python")
    assert ADDRESS in example
    words = [sys.executable, "-c", example.replace(ADDRESS, broker_address)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=EXAMPLE_DEADLINE_S, check=True)
    assert done.stdout == "b'hello from Python'\n"


def test_the_kcat_example(broker_address: str) -> None:
    if shutil.which("kcat") is None:
        pytest.skip("kcat is not installed")
    (example,) = [block for block in blocks("sh") if "kcat" in block]
    done = subprocess.run(
        ["sh", "-e"],
        input=example.replace(ADDRESS, broker_address),
        capture_output=True,
        text=True,
        timeout=EXAMPLE_DEADLINE_S,
        check=True,
    )
    assert done.stdout == "hello\n"
