"""The supervisor, with small programs as services."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue

import pytest

from barnabas.platform import Hearers, Platform, PlatformError, Timing, write_log
from barnabas.running_platform import ServiceState
from barnabas.supervision import Addresses, Delays, ServiceCommand
from tests.waiting import wait_for

DEADLINE_S = 90

# Begins when it is told to, says that it is ready and runs until SIGTERM; then it writes its name into the file of endings. A thread waits
# for the signal: a handler would not be called for one that comes just before a read that blocks.
STEADY = """
import os, signal, sys, threading
name, endings = sys.argv[1:]
def stop():
    signal.sigwait({signal.SIGTERM})
    with open(endings, "a") as file:
        file.write(name + "\\n")
    os._exit(0)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
threading.Thread(target=stop, daemon=True).start()
sys.stdin.readline()
print(name, "listening", flush=True)
sys.stdin.read()
"""

STUBBORN = """
import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(sys.argv[1], "listening", flush=True)
sys.stdin.read()
"""

# Crashes as often as the file of lives has lines, then runs steadily.
CRASHING = """
import sys
name, lives = sys.argv[1:]
with open(lives) as file:
    left = file.read().splitlines()
with open(lives, "w") as file:
    file.write("".join(line + "\\n" for line in left[1:]))
print(name, "listening", flush=True)
if left:
    sys.exit(3)
sys.stdin.read()
"""

# Ends as soon as it is told to begin.
FAILING = "import sys; sys.stdin.readline(); sys.exit(4)"


# Ends without a look at what it is told.
DEAF = "import os, pathlib, sys; os.close(0); pathlib.Path(sys.argv[1]).touch(); sys.exit(4)"

# Tells the settings that it gets as the address at which it listens, and a second line.
TELLING = """
import json, sys
told = json.loads(sys.stdin.readline())
print(sys.argv[1], "listening on", told.get("place", "nowhere"), flush=True)
print(sys.argv[1], "says more", flush=True)
sys.stdin.read()
"""

# Logs what is wrong and hangs.
HANGING = """
import sys
print("2026-01-31T10:20:30.405Z ERROR   stub: no broker answers at 127.0.0.1:1", file=sys.stderr, flush=True)
print("2026-01-31T10:20:31.405Z INFO    stub: trying again", file=sys.stderr, flush=True)
sys.stdin.read()
"""


def command(name: str, program: str, *words: object, needs: tuple[str, ...] = ()) -> ServiceCommand:
    line = [sys.executable, "-c", program, name, *(str(word) for word in words)]
    return ServiceCommand(name, line, needs)


class Running:
    """A platform that runs in a thread, as its own main thread does in production."""

    def __init__(self, *commands: ServiceCommand, timing: Timing | None = None) -> None:
        self.lines: SimpleQueue[str] = SimpleQueue()
        self.ready = threading.Event()
        self.states: list[list[ServiceState]] = []
        hearers = Hearers(
            self.lines.put,
            lambda state, took_s: self.lines.put(f"{state.name} " + ("is ready" if took_s is not None else "is back")),
            lambda states: self.states.append(list(states)),
            write_log,
        )
        self.platform = Platform(commands, hearers, timing)
        self.error: PlatformError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.platform.run(self.ready.set)
        except PlatformError as error:
            self.error = error

    def next_line(self) -> str:
        return self.lines.get(timeout=DEADLINE_S)

    def wait_until_ready(self) -> None:
        assert self.ready.wait(DEADLINE_S)

    def wait_until_over(self) -> None:
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive()

    def stop(self) -> None:
        self.platform.stop()
        self.wait_until_over()


def test_services_start_in_order_and_stop_in_reverse_order(tmp_path: Path) -> None:
    endings = tmp_path / "endings"
    running = Running(
        command("broker", STEADY, endings),
        command("registry", TELLING, needs=("broker",)),
        command("rest", STEADY, endings, needs=("registry",)),
    )
    running.wait_until_ready()
    lines = [running.next_line() for _ in range(4)]
    assert [line for line in lines if "ready" in line] == ["broker is ready", "registry is ready", "rest is ready"]
    assert "registry says more" in lines
    running.stop()
    assert running.error is None
    assert endings.read_text().split() == ["rest", "broker"]


def test_a_service_is_told_where_those_listen_that_it_needs_and_where_it_listened_itself() -> None:
    def told(addresses: Mapping[str, Sequence[str]]) -> dict[str, str]:
        return {"place": "+".join(address for name in addresses for address in addresses[name])}

    running = Running(
        ServiceCommand("broker", [sys.executable, "-c", TELLING, "broker"], (), lambda _: {"place": "1:1, 2:2"}),
        ServiceCommand("registry", [sys.executable, "-c", TELLING, "registry"], ("broker",), told),
        timing=Timing(restarts=Delays(first_ms=1)),
    )
    running.wait_until_ready()
    broker, registry = running.states[-1]
    assert (broker.addresses, registry.addresses) == (("1:1", "2:2"), ("1:1+2:2",))
    assert registry.pid is not None
    os.kill(registry.pid, signal.SIGKILL)
    while running.next_line() != "registry is back":
        pass
    wait_for(lambda: running.states[-1][1].restarts == 1, "the second start to be told")
    assert running.states[-1][1].addresses == ("1:1+2:2+1:1+2:2",)
    running.stop()
    assert running.states[-1] == []


def test_a_service_that_hangs_is_given_up_with_what_its_log_says(tmp_path: Path) -> None:
    endings = tmp_path / "endings"
    running = Running(
        command("broker", STEADY, endings),
        command("registry", HANGING, needs=("broker",)),
        command("rest", STEADY, endings, needs=("registry",)),
        timing=Timing(start_deadline_ms=3_000),
    )
    running.wait_until_over()
    assert str(running.error) == (
        "registry was not ready within 3 s; its log ends with: "
        "2026-01-31T10:20:30.405Z ERROR   stub: no broker answers at 127.0.0.1:1"
    )
    assert endings.read_text().split()[-1] == "broker"


def test_a_crashed_service_is_started_again_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lives = tmp_path / "lives"
    lives.write_text("one\n")
    running = Running(command("broker", CRASHING, lives), timing=Timing(restarts=Delays(first_ms=1)))
    running.wait_until_ready()
    assert [running.next_line(), running.next_line()] == ["broker is ready", "broker is back"]
    running.stop()
    assert "broker ended with exit status 3; starting it again in 1 ms" in caplog.messages


def test_the_delay_of_restarts_doubles_up_to_its_bound(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lives = tmp_path / "lives"
    lives.write_text("x\n" * 5)
    running = Running(command("broker", CRASHING, lives), timing=Timing(restarts=Delays(first_ms=1, max_ms=4)))
    for _ in range(6):
        running.next_line()
    running.stop()
    delays = [message.rpartition(" in ")[2] for message in caplog.messages if "starting it again" in message]
    assert delays == ["1 ms", "2 ms", "4 ms", "4 ms", "4 ms"]


def test_the_delay_is_short_again_after_a_healthy_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lives = tmp_path / "lives"
    lives.write_text("x\n" * 3)
    running = Running(
        command("broker", CRASHING, lives), timing=Timing(restarts=Delays(first_ms=1, healthy_after_ms=0))
    )
    for _ in range(4):
        running.next_line()
    running.stop()
    assert [message.endswith("in 1 ms") for message in caplog.messages] == [True] * 3


def test_a_service_that_never_becomes_ready_ends_the_platform(tmp_path: Path) -> None:
    endings = tmp_path / "endings"
    running = Running(
        command("broker", STEADY, endings),
        command("registry", FAILING, needs=("broker",)),
        command("rest", STEADY, endings),
    )
    running.wait_until_over()
    assert str(running.error) == "registry ended with exit status 4 before it was ready; it has logged nothing"
    assert not running.ready.is_set()
    assert endings.read_text().split()[-1] == "broker"


def test_a_service_that_ends_before_it_could_be_told_ends_the_platform(tmp_path: Path) -> None:
    deaf = tmp_path / "deaf"

    def settings(_addresses: Addresses) -> Mapping[str, str]:
        wait_for(deaf.exists, "the service to close its input")
        return {"place": "nowhere"}

    line = [sys.executable, "-c", DEAF, str(deaf)]
    running = Running(ServiceCommand("broker", line, late_settings=settings))
    running.wait_until_over()
    assert "broker ended with exit status 4 before it was ready" in str(running.error)


def test_a_program_that_does_not_exist_ends_the_platform() -> None:
    running = Running(ServiceCommand("broker", ["/nonexistent/program"]))
    running.wait_until_over()
    assert "broker could not be started" in str(running.error)


def deaf_until_deadline(running: Running) -> None:
    running.platform.stop()


def deaf_until_asked_twice(running: Running) -> None:
    running.platform.stop()
    running.platform.stop()


@pytest.mark.parametrize(
    ("ask", "stop_deadline_ms"), [(deaf_until_deadline, 50), (deaf_until_asked_twice, DEADLINE_S * 2000)]
)
def test_a_service_that_does_not_stop_is_killed(ask: Callable[[Running], None], stop_deadline_ms: int) -> None:
    running = Running(command("broker", STUBBORN), timing=Timing(stop_deadline_ms=stop_deadline_ms, second_stop_ms=0))
    running.wait_until_ready()
    ask(running)
    running.wait_until_over()


def test_a_stop_that_is_delivered_twice_kills_nobody(tmp_path: Path) -> None:
    endings = tmp_path / "endings"
    running = Running(command("broker", STEADY, endings), timing=Timing(second_stop_ms=DEADLINE_S * 1000))
    running.wait_until_ready()
    running.platform.stop()
    running.platform.stop()
    running.wait_until_over()
    assert endings.read_text() == "broker\n"


def test_a_stop_while_a_service_waits_for_its_restart_is_heeded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lives = tmp_path / "lives"
    lives.write_text("one\n")
    running = Running(command("broker", CRASHING, lives), timing=Timing(restarts=Delays(first_ms=DEADLINE_S * 2000)))
    running.wait_until_ready()
    running.stop()
    assert running.lines.qsize() == 1
