"""Services that run as processes of their own."""

import signal
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

from tests.waiting import wait_for

START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 30.0
OUTPUT_TAIL_CHARACTERS = 4000


class ServiceProcess(ABC):
    """A service with a folder of its own. It can be stopped, killed and started again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0

    @property
    @abstractmethod
    def address(self) -> str:
        """HOST:PORT of the listener."""

    @abstractmethod
    def command(self) -> list[str]:
        """The command line that starts it."""

    @abstractmethod
    def is_ready(self) -> bool:
        """True when it answers clients."""

    @property
    def pid(self) -> int:
        assert self._process is not None, "the service was not started"
        return self._process.pid

    @property
    def announced(self) -> str:
        """The address in the line that tells that it is ready; empty before."""
        lines = [line for line in self.output.read_text().splitlines() if " listening on " in line]
        return lines[0].rpartition(" ")[2] if lines else ""

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
        assert self._process is not None, "the service was not started"
        self._process.terminate()
        try:
            return self._process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the service did not stop in {STOP_DEADLINE_S:g} s:\n{self.tail()}") from None

    def kill(self) -> None:
        """End it as a power cut would: without a chance to write anything."""
        assert self._process is not None, "the service was not started"
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
