"""One service of the platform: its process, and the thread that keeps it running.

A process is started at once and loads what it needs; what only other services can tell it (where they listen) it gets as one line of JSON
on its standard input, when these are ready. So the services of a platform load side by side and begin in order. The pipe stays open:
when it closes, the platform is gone, and the service must stop.
"""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from queue import SimpleQueue
from typing import IO, TypeAlias

from barnabas.kernel.logging import as_event
from barnabas.running_platform import ServiceState

log = logging.getLogger(__name__)

LISTENING = " listening on "
"""In the first line of a service's standard output, which says that it is ready; its addresses follow, with commas between them."""
LINE_MAX_BYTES = 65_536
"""The longest piece of what a service writes that is passed on as one line."""
LAST_LINES = 20
"""Lines of a service's log that are kept, to say why it has ended."""
REASON_MAX_CHARACTERS = 500
DRAIN_DEADLINE_MS = 1_000
"""How long the last lines of an ended service are waited for: a process that it has left behind may hold its output open."""

_MARKS = (" CRITICAL ", " ERROR ", '"level": "critical"', '"level": "error"')

Addresses: TypeAlias = Mapping[str, Sequence[str]]
"""HOST:PORT of each listener of the services that are, or were, ready."""


def no_settings(_addresses: Addresses) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class ServiceCommand:
    """How a service is started. `late_settings` are those that it gets when all that it `needs` are ready; from the second start on,
    its own addresses are among those that they may follow from."""

    name: str
    words: Sequence[str]
    needs: tuple[str, ...] = ()
    late_settings: Callable[[Addresses], Mapping[str, str]] = no_settings


@dataclass(frozen=True, slots=True)
class Delays:
    """Between an end and the next start. A service that ran for `healthy_after_ms` counts as healthy again: its next restart waits
    for the first delay."""

    first_ms: int = 200
    max_ms: int = 30_000
    healthy_after_ms: int = 60_000


class Report(Enum):
    READY = auto()
    FAILED = auto()
    ENDED = auto()
    STOP = auto()


@dataclass(frozen=True, slots=True)
class Event:
    report: Report
    service: str = ""
    text: str = ""


class SupervisedService(threading.Thread):
    """Starts the process of a service, and again when it ends, until `terminate`. `show` gets what it writes on its standard output
    but for the first line, `write_log` its log; READY, FAILED (it never ran) and ENDED are reported as events."""

    def __init__(
        self,
        command: ServiceCommand,
        needs: Sequence[SupervisedService],
        show: Callable[[str], None],
        write_log: Callable[[bytes], None],
        events: SimpleQueue[Event],
        delays: Delays,
    ) -> None:
        super().__init__(name=command.name, daemon=True)
        self.addresses: tuple[str, ...] = ()
        self.restarts = 0
        self._command = command
        self._needs = needs
        self._show = show
        self._write_log = write_log
        self._events = events
        self._delays = delays
        self._was_ready = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._last_lines: deque[str] = deque(maxlen=LAST_LINES)
        # Guards the step from "shall it run?" to "it runs", so that no process is started behind the back of `terminate`.
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    @property
    def state(self) -> ServiceState:
        process = self._process
        pid = process.pid if process is not None and process.poll() is None else None
        return ServiceState(self.name, pid, self.addresses, self.restarts)

    @property
    def last_word(self) -> str:
        """The line of its log that says best why it is not ready."""
        lines = [line for line in self._last_lines if line.strip()]
        severe = [line for line in lines if any(mark in line for mark in _MARKS)]
        found = (severe or lines or [""])[-1]
        return found[:REASON_MAX_CHARACTERS]

    def run(self) -> None:
        delay_ms = self._delays.first_ms
        while True:
            started = time.monotonic()
            end = self._run_process()
            if self._stopping.is_set():
                break
            if not self._was_ready.is_set():
                # What never ran will not run the next time either: a port in use, a setting, a full disk.
                self._events.put(Event(Report.FAILED, self.name, f"{end} before it was ready"))
                break
            if (time.monotonic() - started) * 1000 >= self._delays.healthy_after_ms:
                delay_ms = self._delays.first_ms
            log.error("%s %s; starting it again in %d ms", self.name, end, delay_ms)
            if self._stopping.wait(delay_ms / 1000):
                break
            self.restarts += 1
            delay_ms = min(2 * delay_ms, self._delays.max_ms)
        self._events.put(Event(Report.ENDED, self.name))

    def terminate(self) -> None:
        """Ask the process to stop, and do not start it again."""
        with self._lock:
            self._stopping.set()
            if self._process is not None:
                self._process.terminate()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _run_process(self) -> str:
        """Run the process until it ends; return how it ended."""
        with self._lock:
            if self._stopping.is_set():
                return "was not started"
            try:
                # A session of its own: Ctrl-C reaches us alone, and we stop the services in order.
                process = subprocess.Popen(
                    self._command.words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                return f"could not be started ({error})"
            self._process = process
        log.info("%s is process %d", self.name, process.pid)
        assert process.stdin is not None
        pumps = [
            threading.Thread(target=self._pump, args=(stream, take), name=f"{self.name} {kind}", daemon=True)
            for kind, stream, take in (
                ("output", process.stdout, self._take_line),
                ("log", process.stderr, self._pass_on),
            )
        ]
        for pump in pumps:
            pump.start()
        try:
            self._instruct(process, process.stdin)
            process.wait()
        finally:
            # What a process that has ended could not be told is still to be written, and fails once more.
            with contextlib.suppress(OSError):
                process.stdin.close()
        deadline = time.monotonic() + DRAIN_DEADLINE_MS / 1000
        for pump in pumps:
            pump.join(max(0.0, deadline - time.monotonic()))
        return _describe_end(process.returncode)

    def _instruct(self, process: subprocess.Popen[bytes], pipe: IO[bytes]) -> None:
        """Tell a process what it has to know, once that is known."""
        for needed in self._needs:
            while not needed.wait_until_ready(0.1):
                if process.poll() is not None:
                    return
        addresses = {service.name: service.addresses for service in (*self._needs, self) if service.addresses}
        try:
            pipe.write(json.dumps(dict(self._command.late_settings(addresses))).encode() + b"\n")
            pipe.flush()
        except OSError:
            log.debug("%s has ended before it was told where the others are", self.name)

    def wait_until_ready(self, timeout_s: float) -> bool:
        return self._was_ready.wait(timeout_s)

    def _pump(self, stream: IO[bytes], take: Callable[[bytes, bool], None]) -> None:
        is_first = True
        with stream:
            while line := stream.readline(LINE_MAX_BYTES):
                take(line, is_first)
                is_first = False

    def _take_line(self, line: bytes, is_first: bool) -> None:
        text = line.decode(errors="replace").rstrip("\n")
        if not is_first:
            self._show(text)
            return
        _, _, listed = text.partition(LISTENING)
        self.addresses = tuple(listed.split(", ")) if listed else ()
        self._was_ready.set()
        self._events.put(Event(Report.READY, self.name))

    def _pass_on(self, line: bytes, _is_first: bool) -> None:
        self._last_lines.append(line.decode(errors="replace").rstrip("\n"))
        self._write_log(as_event(line, self.name))


def states_of(services: Iterable[SupervisedService]) -> list[ServiceState]:
    return [service.state for service in services]


def _describe_end(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
