"""The row of the command-line tools: our `kafka-topics --list` and Kafka's own, both on one broker of ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.connection import HOST, create_topics
from benchmarks.contestants import KAFKA_FLAGS, Contestant, Ours, find_java
from benchmarks.job import Figures, LoadFailed
from benchmarks.rows import Metric, OwnRow, Scale
from benchmarks.spread import at_most

TOPICS = 100
RUNS = 5
RUN_LIMIT_SECONDS = 60
# The heap that Kafka's scripts give a tool.
HEAP = "-Xmx256M"


def command(contestant: Contestant, jars: Path, port: int) -> list[str]:
    """The tool of the contestant, started as its script starts it."""
    arguments = ["--bootstrap-server", f"{HOST}:{port}", "--list"]
    if contestant.name == "ours":
        return [str(Path(sys.executable).parent / "kafka-topics"), *arguments]
    tool = "org.apache.kafka.tools.TopicCommand"
    return [str(find_java()), HEAP, *KAFKA_FLAGS, "-cp", f"{jars}/*", tool, *arguments]


def list_topics(jars: Path, contestant: Contestant, folder: Path, scale: Scale) -> Figures:
    """Wall time from the start of the process to its end; the first run, which reads the programs from disk, does not count."""
    running = Ours(folder).start(folder / "broker")
    try:
        create_topics(running.port, [f"topic-{number:03}" for number in range(TOPICS)], 1)
        words = command(contestant, jars, running.port)
        seconds = [_timed(words) for _ in range(RUNS + 1)]
        return {"list_s": median(seconds[1:])}
    finally:
        running.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _timed(words: list[str]) -> float:
    began = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, timeout=RUN_LIMIT_SECONDS, check=False)
    taken = time.monotonic() - began
    if done.returncode or len(done.stdout.split()) != TOPICS:
        raise LoadFailed(f"{words[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    return taken


def rows(jars: Path) -> tuple[OwnRow, ...]:
    title = f"kafka-topics --list of {TOPICS} topics, wall time"
    return (OwnRow("tools-list", (Metric("list_s", title, "s", at_most(0.2)),), partial(list_topics, jars)),)
