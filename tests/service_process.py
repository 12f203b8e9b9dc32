"""Services that run as processes of their own."""

import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tests.ports import HOST
from tests.waiting import wait_for

START_DEADLINE_S = 180.0
STOP_DEADLINE_S = 90.0
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
        return lines[0].rpartition(" ")[2].removesuffix('"}') if lines else ""

    @property
    def output(self) -> Path:
        """What the latest start has written on stdout."""
        return self.home / f"stdout-{self._starts}.txt"

    @property
    def log(self) -> Path:
        """What the latest start has written on stderr."""
        return self.home / f"stderr-{self._starts}.txt"

    def start(self) -> None:
        self.launch()
        self.await_start()

    def launch(self) -> None:
        """Start its process alone; others may have to be started before it can answer."""
        self._starts += 1
        with self.output.open("wb") as output, self.log.open("wb") as log:
            self._process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=output, stderr=log)

    def await_start(self) -> None:
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


class HttpServiceProcess(ServiceProcess):
    """`barnabas serve NAME` on the cluster of some broker; with port 0 it takes any free port."""

    name: ClassVar[str]

    def __init__(self, home: Path, bootstrap: str, port: int = 0, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(home)
        self._bootstrap = bootstrap
        self._port = port
        self._settings = dict(settings or {})

    @property
    def address(self) -> str:
        return self.announced

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def command(self) -> list[str]:
        program = Path(sys.executable).with_name("barnabas")
        where = ["--listeners", f"http://{HOST}:{self._port}", "--bootstrap-servers", self._bootstrap]
        settings = [word for name, value in self._settings.items() for word in ("--set", f"{name}={value}")]
        return [str(program), "serve", self.name, *where, *settings]

    def is_ready(self) -> bool:
        return bool(self.address)
