"""What a row of the benchmark is: a name, the quantities it yields with their targets, and how one broker is measured once."""

from __future__ import annotations

import contextlib
import glob
import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.connection import create_topics, delete_topics, records_in
from benchmarks.contestants import Contestant, Durability
from benchmarks.job import Figures
from benchmarks.running import Running
from benchmarks.spread import Target
from benchmarks.wire import Topic, UnexpectedAnswer

DELETION_LIMIT_SECONDS = 60
DELETION_PROBE_SECONDS = 0.05
# A row runs on a broker of its own, or on one of the two pairs that stay up for all rows of that kind.
Stage = Literal["own", "relaxed", "durable"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the report. `floor` names the figure of the bare machine that it is held against."""

    key: str
    title: str
    unit: str
    target: Target | None = None
    floor: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much work one measurement does."""

    big_bytes: int
    small_batch_bytes: int
    consumed_bytes: int
    requests: int
    paced_records: int
    seconds: float
    warm_seconds: float
    log_bytes: int
    java_records: int
    topics: int = 500


FULL = Scale(
    big_bytes=1_500_000_000,
    small_batch_bytes=400_000_000,
    consumed_bytes=1_500_000_000,
    requests=20_000,
    paced_records=8_000,
    seconds=4.0,
    warm_seconds=1.0,
    log_bytes=4_000_000_000,
    java_records=1_000_000,
)
QUICK = Scale(
    big_bytes=500_000_000,
    small_batch_bytes=120_000_000,
    consumed_bytes=500_000_000,
    requests=8_000,
    paced_records=2_500,
    seconds=1.2,
    warm_seconds=0.3,
    log_bytes=1_000_000_000,
    java_records=500_000,
)


@dataclass(frozen=True, slots=True)
class Site:
    """A running broker as a row sees it."""

    contestant: Contestant
    running: Running
    folder: Path
    durability: Durability

    @property
    def port(self) -> int:
        return self.running.port

    @property
    def pid(self) -> int:
        return self.running.pid

    @contextlib.contextmanager
    def topic(self, partitions: int) -> Iterator[Topic]:
        """A topic for one measurement. The disk is at rest when it begins; the topic is deleted afterwards."""
        os.sync()
        name = f"bench-{uuid.uuid4().hex[:8]}"
        (topic,) = create_topics(self.port, [name], partitions, self.contestant.topic_configs(self.durability))
        try:
            yield topic
        finally:
            delete_topics(self.port, [topic])
            self.await_deletion(name)

    def await_deletion(self, prefix: str) -> None:
        """Until the files are gone: pages of a deleted file need not be written to disk any more."""
        deadline = time.monotonic() + DELETION_LIMIT_SECONDS
        # Unlike Path.rglob, it bears folders that go while they are looked into.
        while glob.glob(f"**/{prefix}*", root_dir=self.folder, recursive=True) and time.monotonic() < deadline:
            time.sleep(DELETION_PROBE_SECONDS)

    def verify(self, topic: Topic, expected: float) -> None:
        """What the client counted as acknowledged must be what the broker holds."""
        held = records_in(self.port, topic)
        if held != expected:
            raise UnexpectedAnswer(f"{self.contestant.name} acknowledged {expected:.0f} records and holds {held}")


@dataclass(frozen=True, slots=True)
class SharedRow:
    """A row measured on the long-lived pair of its stage."""

    name: str
    stage: Literal["relaxed", "durable"]
    metrics: tuple[Metric, ...]
    measure: Callable[[Site, Scale], Figures]


@dataclass(frozen=True, slots=True)
class OwnRow:
    """A row that starts brokers of its own, in a folder that is new each time."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Contestant, Path, Scale], Figures]


Row = SharedRow | OwnRow
