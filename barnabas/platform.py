"""The platform: one process for each service, started in order, restarted when it crashes, stopped in reverse order.

Each service has a thread that starts its process, passes its output on and starts it again. The threads report to the main thread through a
queue; so does `Platform.stop`, which a signal handler may call (a `SimpleQueue` is safe there, an `Event` is not).
"""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from queue import Empty, SimpleQueue

log = logging.getLogger(__name__)

RESTART_DELAY_FIRST_MS = 200
RESTART_DELAY_MAX_MS = 30_000
# A service that ran for this long counts as healthy again: its next restart waits for the first delay.
HEALTHY_AFTER_MS = 60_000
STOP_DEADLINE_MS = 30_000
# A terminal or a wrapper may deliver one Ctrl-C twice; only a later one is impatience.
SECOND_STOP_MS = 1_500
KILL_DEADLINE_MS = 5_000
# The longest piece of a service's standard output that is passed on as one line.
LINE_MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Timing:
    """The waits of the supervisor."""

    restart_delay_first_ms: int = RESTART_DELAY_FIRST_MS
    restart_delay_max_ms: int = RESTART_DELAY_MAX_MS
    healthy_after_ms: int = HEALTHY_AFTER_MS
    stop_deadline_ms: int = STOP_DEADLINE_MS
    second_stop_ms: int = SECOND_STOP_MS


@dataclass(frozen=True, slots=True)
class ServiceCommand:
    """How a service is started. The first line on its standard output says that it is ready.

    `words` gets the first lines of the services that started before it, by name: they tell where those listen. Its standard input is
    a pipe that nobody writes to: when it closes, the platform is gone and the service must stop.
    """

    name: str
    words: Callable[[Mapping[str, str]], Sequence[str]]


class PlatformError(Exception):
    """A service did not come up: the message says which, and the service's own log says why."""


class _Report(Enum):
    READY = auto()
    FAILED = auto()
    ENDED = auto()
    STOP = auto()


@dataclass(frozen=True, slots=True)
class _Event:
    report: _Report
    service: str = ""
    text: str = ""


class Platform:
    """Runs services until `stop` is called. `show` gets each line of their standard output."""

    def __init__(
        self, commands: Sequence[ServiceCommand], show: Callable[[str], None], timing: Timing | None = None
    ) -> None:
        self._timing = timing or Timing()
        self._events: SimpleQueue[_Event] = SimpleQueue()
        self._announced: dict[str, str] = {}
        self._services = [
            _Supervised(command, show, self._events, self._announced, self._timing) for command in commands
        ]

    def run(self, on_ready: Callable[[], None]) -> None:
        """Start everything, call `on_ready`, and return when all has stopped after `stop`."""
        started: list[_Supervised] = []
        try:
            for service in self._services:
                service.start()
                started.append(service)
                event = self._next_event(service)
                if event.report is _Report.STOP:
                    return
                if event.report is _Report.FAILED:
                    raise PlatformError(event.text)
            on_ready()
            while self._events.get().report is not _Report.STOP:
                pass
        finally:
            for service in reversed(started):
                self._stop(service)

    def stop(self) -> None:
        """Stop in order; asked a second time, the service that is still stopping is killed."""
        self._events.put(_Event(_Report.STOP))

    def _next_event(self, service: _Supervised, deadline: float | None = None) -> _Event:
        """Wait for a report of this service or for a call of `stop`; at the deadline (of the monotonic clock) raise Empty."""
        while True:
            event = self._events.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            if event.service == service.name or event.report is _Report.STOP:
                return event

    def _stop(self, service: _Supervised) -> None:
        service.terminate()
        begun = time.monotonic()
        deadline = begun + self._timing.stop_deadline_ms / 1000
        report = _Report.READY
        while report is not _Report.ENDED and service.is_alive():
            try:
                report = self._next_event(service, deadline).report
            except Empty:
                log.warning("%s did not stop within %d ms; killing it", service.name, self._timing.stop_deadline_ms)
                break
            if report is _Report.STOP and time.monotonic() - begun >= self._timing.second_stop_ms / 1000:
                log.warning("asked to stop again; killing %s", service.name)
                break
        service.kill()
        service.join(KILL_DEADLINE_MS / 1000)


class _Supervised(threading.Thread):
    """One service: its process, and the thread that keeps it running."""

    def __init__(
        self,
        command: ServiceCommand,
        show: Callable[[str], None],
        events: SimpleQueue[_Event],
        announced: dict[str, str],
        timing: Timing,
    ) -> None:
        super().__init__(name=command.name, daemon=True)
        self._command = command
        self._show = show
        self._events = events
        # Shared by the threads of all services; each writes its own entry alone.
        self._announced = announced
        self._timing = timing
        self._process: subprocess.Popen[bytes] | None = None
        # Guards the step from "shall it run?" to "it runs", so that no process is started behind the back of `terminate`.
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def run(self) -> None:
        ever_ready = False
        delay_ms = self._timing.restart_delay_first_ms
        while True:
            started = time.monotonic()
            ready, end = self._run_process()
            if self._stopping.is_set():
                break
            if not (ready or ever_ready):
                # What never ran will not run the next time either: a port in use, a setting, a full disk.
                self._events.put(
                    _Event(_Report.FAILED, self.name, f"{self.name} {end} before it was ready; its log says why")
                )
                break
            ever_ready = True
            if (time.monotonic() - started) * 1000 >= self._timing.healthy_after_ms:
                delay_ms = self._timing.restart_delay_first_ms
            log.error("%s %s; starting it again in %d ms", self.name, end, delay_ms)
            if self._stopping.wait(delay_ms / 1000):
                break
            delay_ms = min(2 * delay_ms, self._timing.restart_delay_max_ms)
        self._events.put(_Event(_Report.ENDED, self.name))

    def terminate(self) -> None:
        """Ask the process to stop, and do not start it again."""
        with self._lock:
            self._stopping.set()
            if self._process is not None:
                self._process.terminate()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _run_process(self) -> tuple[bool, str]:
        """Run the process until it ends; return whether it became ready, and how it ended."""
        with self._lock:
            if self._stopping.is_set():
                return False, "was not started"
            try:
                # A session of its own: Ctrl-C reaches us alone, and we stop the services in order.
                process = subprocess.Popen(
                    self._command.words(self._announced),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                return False, f"could not be started ({error})"
            self._process = process
        log.info("%s is process %d", self.name, process.pid)
        ready = False
        with process:
            assert process.stdout is not None
            while line := process.stdout.readline(LINE_MAX_BYTES):
                text = line.decode(errors="replace").rstrip("\n")
                self._show(text)
                if not ready:
                    ready = True
                    self._announced[self.name] = text
                    self._events.put(_Event(_Report.READY, self.name))
            process.wait()
        return ready, _describe_end(process.returncode)


def _describe_end(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
