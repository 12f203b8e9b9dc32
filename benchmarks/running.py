"""A server that was started for a measurement: a port for it, the start until it answers, its end, and what it costs."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes
from benchmarks.connection import HOST, PROBE_INTERVAL_SECONDS

START_LIMIT_SECONDS = 180
STOP_LIMIT_SECONDS = 60
OUTPUT_TAIL_CHARACTERS = 1_000
# Below the range from which the kernel takes ports for outgoing connections: a probe of a port that nobody has bound could
# otherwise connect to itself.
PORTS = range(20_000, 30_000)
# Where it is set, a start would compile every module again, which no installation does.
NOT_AT_USERS = "PYTHONDONTWRITEBYTECODE"


def free_port() -> int:
    for _ in range(100):
        port = random.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port found between {PORTS.start} and {PORTS.stop}")


def tail(output: Path) -> str:
    """The end of what a server printed, which tells why it failed."""
    return output.read_text(errors="replace").strip()[-OUTPUT_TAIL_CHARACTERS:]


@dataclass(slots=True)
class Running:
    """A server that answers."""

    process: subprocess.Popen[bytes]
    port: int
    seconds_to_answer: float

    @property
    def pid(self) -> int:
        return self.process.pid

    def resident_bytes(self) -> int:
        return processes.resident_bytes(self.pid)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, sign: signal.Signals) -> None:
        members = processes.family(self.pid) if sign == signal.SIGKILL else [self.pid]
        for member in members:
            try:
                os.kill(member, sign)
            except ProcessLookupError:
                continue
        try:
            self.process.wait(STOP_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started. What it prints is added to the file `output`."""

    name: str
    command: Sequence[str]
    port: int
    output: Path
    environment: Mapping[str, str] | None = None

    def start(self, answers: Callable[[], bool]) -> Running:
        """Returns when it answers, with the time that this took."""
        environment = {**os.environ, **(self.environment or {})}
        environment.pop(NOT_AT_USERS, None)
        with self.output.open("ab") as output:
            begin = time.monotonic()
            process = subprocess.Popen(
                self.command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment
            )
        try:
            self._wait(process, answers)
        except BaseException:
            process.kill()
            process.wait()
            raise
        return Running(process, self.port, time.monotonic() - begin)

    def _wait(self, process: subprocess.Popen[bytes], answers: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_LIMIT_SECONDS
        while not answers():
            if process.poll() is not None:
                raise ChildProcessError(
                    f"{self.name} ended before it answered; the end of its output: {tail(self.output)}"
                )
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name} on port {self.port} gives no answer after {START_LIMIT_SECONDS} s")
            time.sleep(PROBE_INTERVAL_SECONDS)
