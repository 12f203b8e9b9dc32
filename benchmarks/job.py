"""One task of the load client: what to do, and a child process that does it, so that the load has an interpreter of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from benchmarks.wire import Topic

ROOT = Path(__file__).resolve().parent.parent
JOB_LIMIT_SECONDS = 300
READY = "ready"
Kind = Literal[
    "produce",
    "consume",
    "one in flight",
    "many producers",
    "paced",
    "tail",
    "join groups",
    "rebalance",
    "commits",
    "transactions",
]
Figures = dict[str, float]


class LoadFailed(Exception):
    """The load client ended with an error."""


@dataclass(frozen=True, slots=True)
class Job:
    kind: Kind
    port: int
    topic_name: str
    topic_id: str  # hexadecimal
    partitions: int
    broker_pid: int = 0  # whose CPU time is counted over the timed stretch
    acks: int = -1
    record_bytes: int = 1024
    batch_bytes: int = 1024  # an upper limit; one record always fits
    in_flight: int = 1
    gather: int = 1  # answers that are awaited together before more is sent
    producers: int = 1
    count: int = 0  # batches, records or passes over the topic, by kind; 0: until `seconds` are over
    warm_count: int = 0
    seconds: float = 0
    warm_seconds: float = 0
    rate: float = 0  # sends per second; 0: as fast as possible

    @classmethod
    def on(cls, kind: Kind, port: int, topic: Topic, **options: int | float) -> Job:
        job = cls(kind, port, topic.name, topic.topic_id.hex(), topic.partitions)
        return replace(job, **options)  # type: ignore[arg-type]  # the options are fields of this class

    @property
    def topic(self) -> Topic:
        return Topic(self.topic_name, bytes.fromhex(self.topic_id), self.partitions)


@dataclass(frozen=True, slots=True)
class Outcome:
    figures: Figures
    stamps_ns: list[int]  # moments on the system-wide monotonic clock, for jobs that are read against another one


class Child:
    """A job under way in a process of its own."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load", json.dumps(asdict(job))],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        """Returns when the child has connected and encoded what it will send."""
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != READY:
            self.outcome()
            raise LoadFailed(f"{self._job.kind}: the load client did not say that it is ready")

    def outcome(self) -> Outcome:
        try:
            out, err = self._process.communicate(timeout=JOB_LIMIT_SECONDS)
        except subprocess.TimeoutExpired as expired:
            self.stop()
            raise LoadFailed(f"{self._job.kind}: not done within {JOB_LIMIT_SECONDS} s") from expired
        if self._process.returncode:
            raise LoadFailed(f"{self._job.kind}: {err.strip().splitlines()[-1] if err.strip() else 'no message'}")
        last = json.loads(out.splitlines()[-1])
        return Outcome(last["figures"], last["stamps_ns"])

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def run(job: Job) -> Figures:
    return Child(job).outcome().figures
