"""The registries that are measured: what each is called, how it is started, and on which broker."""

from __future__ import annotations

import shutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchmarks.connection import HOST
from benchmarks.contestants import Ours
from benchmarks.registry_api import Api
from benchmarks.running import START_LIMIT_SECONDS, Launch, Running, free_port, tail
from benchmarks.turns import say
from benchmarks.wrk import Request

Name = Literal["ours", "apicurio", "karapace"]
# A registry that waits for the election of its leader is asked this often, so that the question is no load.
WRITE_PROBE_SECONDS = 0.02


class PeerMissing(Exception):
    """A registry cannot be had on this machine; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Registry(ABC):
    """A kind of registry. `home` is a folder of its own, below which every start has its data."""

    name: Name
    title: str
    home: Path
    prefix: str = ""
    has_topic: bool = True  # its schemas live in a topic, and survive it

    @abstractmethod
    def command(self, port: int, broker_port: int) -> list[str]: ...

    def environment(self, port: int, broker_port: int) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class OurRegistry(Registry):
    name: Name = field(default="ours", init=False)
    title: str = field(default="ours", init=False)

    def command(self, port: int, broker_port: int) -> list[str]:
        barnabas = Path(sys.executable).parent / "barnabas"
        listener = ("--listeners", f"http://{HOST}:{port}")
        return [str(barnabas), "serve", "registry", *listener, "--bootstrap-servers", f"{HOST}:{broker_port}"]


class Deployment:
    """A registry that runs and, where it has a topic, a broker of ours that is its own and syncs before each answer."""

    def __init__(self, registry: Registry, folder: Path) -> None:
        self.registry = registry
        self._folder = folder
        self._output = folder / "output.log"
        self._port = free_port()
        self._broker: Running | None = None
        self._running: Running | None = None
        self.api = Api(self._port, registry.prefix)

    @property
    def running(self) -> Running:
        assert self._running is not None, "the registry was not started"
        return self._running

    @property
    def pid(self) -> int:
        return self.running.pid

    def __enter__(self) -> Deployment:
        self._folder.mkdir(parents=True)
        try:
            if self.registry.has_topic:
                self._broker = Ours(self._folder).start(self._folder / "broker", "durable")
            self._start(self.api.subjects())
            self.await_success(self.api.registration("0"))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            say(f"the end of the output of {self.registry.title}: {tail(self._output)}")
        self._end()

    def restart(self, sign_of_life: Request) -> None:
        """A stop in good order, and a start that counts as done when the request is answered."""
        self.running.stop()
        self._start(sign_of_life)

    def await_success(self, request: Request) -> float:
        """The seconds until the request succeeds. A registry may answer reads some time before it takes a schema."""
        began = time.monotonic()
        _wait(lambda: self.api.succeeds(request), f"{self.registry.title} answers {request.path}")
        return time.monotonic() - began

    def _start(self, sign_of_life: Request) -> None:
        broker_port = self._broker.port if self._broker else 0
        launch = Launch(
            self.registry.title,
            self.registry.command(self._port, broker_port),
            self._port,
            self._output,
            self.registry.environment(self._port, broker_port),
        )
        self._running = launch.start(lambda: self.api.succeeds(sign_of_life))

    def _end(self) -> None:
        for running in (self._running, self._broker):
            if running is not None:
                running.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + START_LIMIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {START_LIMIT_SECONDS} s in vain until {what}")
        time.sleep(WRITE_PROBE_SECONDS)
