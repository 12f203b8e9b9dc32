"""The platform that is harmed: `barnabas up` on a folder, its processes, and its restart when it was killed itself."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from tests.ports import HOST, free_ports_in_a_row
from tests.process_tree import descendants, is_alive
from tests.service_process import ServiceProcess
from tests.waiting import wait_for

ORDER: Final = ("broker", "registry", "rest", "connect", "sql")
# Orphans notice that their supervisor has gone by the end of a pipe.
ORPHANS_S: Final = 60.0
REQUEST_S: Final = 30.0
# What is found in a command line, and what that process is; the first that fits counts.
PROGRAMS: Final = (
    ("serve broker", "broker"),
    ("serve registry", "registry"),
    ("serve rest", "REST proxy"),
    ("serve connect", "worker of connectors"),
    ("serve sql", "SQL server"),
    ("org.apache.spark", "Spark's JVM"),
    ("spark", "Spark's Python workers"),
    ("multiprocessing", "tasks of connectors and their fork server"),
)
SUPERVISOR: Final = "supervisor"


@dataclass(frozen=True, slots=True)
class Addresses:
    broker: str
    registry: str
    rest: str
    connect: str
    sql: str


class ChaosPlatform(ServiceProcess):
    """All five services with ports that stay, whoever starts them."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._first_port = free_ports_in_a_row(len(ORDER))
        ports = range(self._first_port, self._first_port + len(ORDER))
        broker, *http = (f"{HOST}:{port}" for port in ports)
        self.addresses = Addresses(broker, *(f"http://{address}" for address in http))

    @property
    def address(self) -> str:
        return self.addresses.broker

    def command(self) -> list[str]:
        words = ["up", "--data-dir", str(self.home / "data")]
        places = [f"broker.listeners=PLAINTEXT://{self.addresses.broker}"]
        places += [f"{name}.listeners={getattr(self.addresses, name)}" for name in ORDER[1:]]
        return [sys.executable, "-m", "barnabas", *words, *(word for one in places for word in ("--set", one))]

    def is_ready(self) -> bool:
        return "barnabas is up" in self.output.read_text()

    def processes(self) -> list[int]:
        """Every process that lives, the supervisor first."""
        return [self.pid, *sorted(pid for pid in descendants(self.pid) if is_alive(pid))]


class Harm:
    """Kills one process of the platform after the other, and counts which."""

    def __init__(self, platform: ChaosPlatform, seed: int) -> None:
        self.kills: Counter[str] = Counter()
        self._platform = platform
        self._dice = random.Random(seed)

    def strike(self) -> str:
        """Kill some process with SIGKILL; when it was the supervisor, start the platform again as an operator would."""
        alive = self._platform.processes()
        kinds: dict[str, list[int]] = {SUPERVISOR: [alive[0]]}
        for pid in alive[1:]:
            kinds.setdefault(_program(pid), []).append(pid)
        # By kind first: there are many more workers than brokers.
        kind = self._dice.choice(sorted(kinds))
        self.kills[kind] += 1
        if kind == SUPERVISOR:
            self._platform.kill()
            wait_for(lambda: not any(map(is_alive, alive)), "the services to notice that they are alone", ORPHANS_S)
            self._platform.start()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._dice.choice(kinds[kind]), signal.SIGKILL)
        return kind


def _program(pid: int) -> str:
    """Which program it is, by its command line: tasks and workers bear that of the process that made them."""
    try:
        line = (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        line = ""
    return next((name for part, name in PROGRAMS if part in line), "others")


@contextlib.contextmanager
def http_client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=REQUEST_S) as client:
        yield client
