"""The platform: one process for each service, begun in the order in which they need each other, restarted when one crashes, stopped in
reverse order.

Each service has a thread (`supervision`), which reports to the main thread through a queue; so does `Platform.stop`, which any thread may
call.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from barnabas.running_platform import ServiceState
from barnabas.supervision import Delays, Event, Report, ServiceCommand, SupervisedService, states_of

log = logging.getLogger(__name__)

START_DEADLINE_MS = 60_000
STOP_DEADLINE_MS = 30_000
# A terminal or a wrapper may deliver one Ctrl-C twice; only a later one is impatience.
SECOND_STOP_MS = 1_500
KILL_DEADLINE_MS = 5_000
# How often it is looked whether a service has stopped; its own report of that comes at once.
STOP_LOOK_MS = 50


@dataclass(frozen=True, slots=True)
class Timing:
    """The waits of the supervisor."""

    start_deadline_ms: int = START_DEADLINE_MS
    stop_deadline_ms: int = STOP_DEADLINE_MS
    second_stop_ms: int = SECOND_STOP_MS
    restarts: Delays = field(default_factory=Delays)


class PlatformError(Exception):
    """A service did not come up: the message says which, and why."""

    def __init__(self, service: SupervisedService, what: str) -> None:
        last = service.last_word
        why = f"its log ends with: {last}" if last else "it has logged nothing"
        super().__init__(f"{service.name} {what}; {why}")


@dataclass(frozen=True, slots=True)
class Hearers:
    """`line` gets each line of a service's standard output, `ready` a service that has become ready with the seconds since the platform
    was started (None: it is back after a crash), `changed` all of them whenever something has, none at the end, and `log` each line
    of their logs. All but `ready` and `changed` are called by other threads."""

    line: Callable[[str], None]
    ready: Callable[[ServiceState, float | None], None]
    changed: Callable[[Sequence[ServiceState]], None]
    log: Callable[[bytes], None]


def write_log(line: bytes) -> None:
    """To our own standard error. Lines of several services must not run into each other: each is one write."""
    try:
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
    except (OSError, ValueError):
        # Nobody can read the log any more; the services must not be held up by that.
        return


class Platform:
    """Runs services until `stop` is called. They are given in an order in which each comes after those that it needs."""

    def __init__(self, commands: Sequence[ServiceCommand], hearers: Hearers, timing: Timing | None = None) -> None:
        self._timing = timing or Timing()
        self._hearers = hearers
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._services: dict[str, SupervisedService] = {}
        for command in commands:
            needed = [self._services[name] for name in command.needs]
            self._services[command.name] = SupervisedService(
                command, needed, hearers.line, hearers.log, self._events, self._timing.restarts
            )

    def run(self, on_ready: Callable[[], None]) -> None:
        """Start everything, call `on_ready`, and return when all has stopped after `stop`."""
        try:
            for service in self._services.values():
                service.start()
            if not self._await_all():
                return
            on_ready()
            while (event := self._events.get()).report is not Report.STOP:
                self._note(event, None)
        finally:
            for service in reversed(self._services.values()):
                self._stop(service)
            self._hearers.changed(())

    def stop(self) -> None:
        """Stop in order; asked a second time, the service that is still stopping is killed."""
        self._events.put(Event(Report.STOP))

    def _await_all(self) -> bool:
        """Wait until all services are ready; False when they shall stop before that."""
        began = time.monotonic()
        deadline = began + self._timing.start_deadline_ms / 1000
        waiting = set(self._services)
        while waiting:
            try:
                event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                raise self._not_ready(waiting) from None
            if event.report is Report.STOP:
                return False
            if event.report is Report.FAILED:
                raise PlatformError(self._services[event.service], event.text)
            self._note(event, time.monotonic() - began)
            waiting.discard(event.service)
        return True

    def _not_ready(self, waiting: set[str]) -> PlatformError:
        """The first that is not ready keeps the others waiting."""
        late = next(service for name, service in self._services.items() if name in waiting)
        return PlatformError(late, f"was not ready within {self._timing.start_deadline_ms / 1000:g} s")

    def _note(self, event: Event, took_s: float | None) -> None:
        if event.report is Report.READY:
            self._hearers.ready(self._services[event.service].state, took_s)
        self._hearers.changed(states_of(self._services.values()))

    def _stop(self, service: SupervisedService) -> None:
        service.terminate()
        begun = time.monotonic()
        while service.is_alive():
            waited_ms = (time.monotonic() - begun) * 1000
            if waited_ms >= self._timing.stop_deadline_ms:
                log.warning("%s did not stop within %d ms; killing it", service.name, self._timing.stop_deadline_ms)
                break
            if self._is_asked_again() and waited_ms >= self._timing.second_stop_ms:
                log.warning("asked to stop again; killing %s", service.name)
                break
        service.kill()
        if service.ident is not None:
            service.join(KILL_DEADLINE_MS / 1000)

    def _is_asked_again(self) -> bool:
        """Wait a moment for whatever is reported."""
        try:
            return self._events.get(timeout=STOP_LOOK_MS / 1000).report is Report.STOP
        except Empty:
            return False
