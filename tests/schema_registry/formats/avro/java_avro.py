"""Avro 1.12.1 for Java, from the jars that come with PySpark: what ours is compared with."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ORACLE = Path(__file__).parent / "AvroOracle.java"
DEADLINE_S = 180
JARS = ("avro-1.12.1", "jackson-annotations-", "jackson-core-2", "jackson-databind-2", "slf4j-api-")
QUICK_START = ("-Xmx512M", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def ask_java(java: Path, questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers of Avro, each a line of the oracle. The test is skipped where Java cannot compile it."""
    if not java.with_name("javac").exists():
        pytest.skip(f"{java} is no JDK: it cannot run {ORACLE.name} from its source")
    command = [str(java), *QUICK_START, "-cp", ":".join(map(str, _jars())), str(ORACLE)]
    lines = "".join(f"{json.dumps(question)}\n" for question in questions)
    done = subprocess.run(command, input=lines, capture_output=True, encoding="utf-8", timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.rstrip("\n").split("\n")]


def _jars() -> list[Path]:
    package = find_spec("pyspark")
    assert package
    assert package.origin
    folder = Path(package.origin).parent / "jars"
    return [next(folder.glob(f"{name}*.jar")) for name in JARS]
