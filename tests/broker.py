"""Brokers that run as processes of their own: ours, and what it shares with Apache Kafka."""

import signal
import socket
import struct
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from tests.ports import HOST
from tests.waiting import wait_for

START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 30.0
PROBE_DEADLINE_S = 5.0
OUTPUT_TAIL_CHARACTERS = 4000
# A new group does not wait for more members, and members hear of changes at once: Kafka's defaults are meant for clusters.
QUICK_GROUPS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
}
LISTENING = "broker listening on "


class BrokerProcess(ABC):
    """A broker with its data folder. It can be stopped, killed and started again on the same data."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0

    @property
    @abstractmethod
    def address(self) -> str:
        """HOST:PORT of the listener."""

    @property
    @abstractmethod
    def log_dir(self) -> Path:
        """The folder that holds the folders of the partitions."""

    @abstractmethod
    def command(self) -> list[str]:
        """The command line that starts it."""

    @abstractmethod
    def is_ready(self) -> bool:
        """True when it answers clients."""

    @property
    def pid(self) -> int:
        assert self._process is not None, "the broker was not started"
        return self._process.pid

    @property
    def output(self) -> Path:
        """What the latest start has written on stdout."""
        return self.home / f"stdout-{self._starts}.txt"

    @property
    def log(self) -> Path:
        """What the latest start has written on stderr."""
        return self.home / f"stderr-{self._starts}.txt"

    def start(self) -> None:
        self._starts += 1
        with self.output.open("wb") as output, self.log.open("wb") as log:
            self._process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=output, stderr=log)
        wait_for(self._has_started, f"{type(self).__name__} to answer", START_DEADLINE_S)

    def stop(self) -> int:
        """Ask it to stop and return its exit code; it is killed if it does not obey."""
        assert self._process is not None, "the broker was not started"
        self._process.terminate()
        try:
            return self._process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the broker did not stop in {STOP_DEADLINE_S:g} s:\n{self.tail()}") from None

    def kill(self) -> None:
        """End it as a power cut would: without a chance to write anything."""
        assert self._process is not None, "the broker was not started"
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def restart(self) -> None:
        self.stop()
        self.start()

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def tail(self) -> str:
        text = self.output.read_text(errors="replace") + self.log.read_text(errors="replace")
        return text[-OUTPUT_TAIL_CHARACTERS:]

    def _has_started(self) -> bool:
        if not self.is_running():
            raise AssertionError(f"{type(self).__name__} ended at its start:\n{self.tail()}")
        return self.is_ready()


class BarnabasBroker(BrokerProcess):
    """Ours, as `barnabas serve broker` runs it. With port 0 it takes any free port at each start."""

    def __init__(self, home: Path, port: int = 0, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(home)
        self.data_dir = home / "data"
        self._port = port
        self._settings = dict(settings or {})

    @property
    def address(self) -> str:
        found = [line for line in self.output.read_text().splitlines() if line.startswith(LISTENING)]
        return found[0].removeprefix(LISTENING).strip() if found else ""

    @property
    def log_dir(self) -> Path:
        return self.data_dir / "broker"

    def command(self) -> list[str]:
        program = Path(sys.executable).with_name("barnabas")
        where = ["--listeners", f"PLAINTEXT://{HOST}:{self._port}", "--data-dir", str(self.data_dir)]
        settings = [word for name, value in self._settings.items() for word in ("--set", f"{name}={value}")]
        return [str(program), "serve", "broker", *where, *settings]

    def is_ready(self) -> bool:
        return bool(self.address)


def answers(address: str) -> bool:
    """True when the broker at the address answers an ApiVersions request without an error."""
    host, _, port = address.rpartition(":")
    # Length, API key 18, version 0, correlation id 1, no client id.
    request = struct.pack(">ihhih", 10, 18, 0, 1, -1)
    try:
        with socket.create_connection((host, int(port)), timeout=PROBE_DEADLINE_S) as connection:
            connection.sendall(request)
            answer = connection.recv(10, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(answer) == 10 and struct.unpack(">iih", answer)[1:] == (1, 0)
