"""The REST proxies that are measured: what each is called, how it is started, and on which broker and registry."""

from __future__ import annotations

import json
import sys
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.connection import HOST
from benchmarks.contestants import Durability, Ours
from benchmarks.registries import OurRegistry
from benchmarks.registry_api import Api
from benchmarks.running import Launch, Running, free_port, tail
from benchmarks.turns import say

ProxyName = Literal["ours", "karapace"]
ASK_LIMIT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Site:
    """Where a proxy listens, and whom it asks."""

    port: int
    broker_port: int
    registry_port: int


@dataclass(frozen=True, slots=True)
class Proxy(ABC):
    """A kind of REST proxy."""

    name: ProxyName
    title: str

    @abstractmethod
    def command(self, site: Site) -> list[str]: ...

    def environment(self, site: Site) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class OurProxy(Proxy):
    name: ProxyName = field(default="ours", init=False)
    title: str = field(default="ours", init=False)

    def command(self, site: Site) -> list[str]:
        return [
            *(str(Path(sys.executable).parent / "barnabas"), "serve", "rest"),
            *("--listeners", f"http://{HOST}:{site.port}", "--bootstrap-servers", f"{HOST}:{site.broker_port}"),
            *("--set", f"schema.registry.url=http://{HOST}:{site.registry_port}"),
        ]


class Platform:
    """One broker and one registry of ours, which all proxies of a run share."""

    def __init__(self, folder: Path, durability: Durability) -> None:
        self._folder = folder
        self._durability = durability
        self._running: list[Running] = []
        self.broker_port = 0
        self.registry_port = free_port()

    def __enter__(self) -> Platform:
        try:
            broker = Ours(self._folder).start(self._folder / "broker", self._durability)
            self._running.append(broker)
            self.broker_port = broker.port
            port, registry = self.registry_port, Api(self.registry_port, "")
            command = OurRegistry(self._folder).command(port, broker.port)
            launch = Launch("registry", command, port, self._folder / "registry.log")
            self._running.append(launch.start(lambda: registry.succeeds(registry.subjects())))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def output(self, proxy: Proxy) -> Path:
        return self._folder / f"{proxy.name}.log"

    def _end(self) -> None:
        for running in reversed(self._running):
            running.kill()


class Deployment:
    """A proxy that runs on the platform."""

    def __init__(self, proxy: Proxy, platform: Platform) -> None:
        self.proxy = proxy
        self._output = platform.output(proxy)
        self.site = Site(free_port(), platform.broker_port, platform.registry_port)
        self._running: Running | None = None

    @property
    def port(self) -> int:
        return self.site.port

    @property
    def running(self) -> Running:
        assert self._running is not None, "the proxy was not started"
        return self._running

    def __enter__(self) -> Deployment:
        site = self.site
        command, environment = self.proxy.command(site), self.proxy.environment(site)
        launch = Launch(self.proxy.title, command, site.port, self._output, environment)
        self._running = launch.start(lambda: answers(site.port))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            say(f"the end of the output of {self.proxy.title}: {tail(self._output)}")
        self.running.kill()


def ask(port: int, path: str) -> Any:
    """What a proxy answers to a GET, decoded."""
    with urllib.request.urlopen(f"http://{HOST}:{port}{path}", timeout=ASK_LIMIT_SECONDS) as answer:
        return json.load(answer)


def answers(port: int) -> bool:
    try:
        ask(port, "/topics")
    except (OSError, ValueError):
        return False
    return True
