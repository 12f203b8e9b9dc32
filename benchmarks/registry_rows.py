"""The rows of the registry's benchmark: reads, registrations, and the life of a registry with many schemas."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

from benchmarks import wrk
from benchmarks.comparison import Aim, Metric
from benchmarks.job import Figures
from benchmarks.lifecycle import MB, SETTLE_SECONDS
from benchmarks.processes import cpu_seconds
from benchmarks.registries import Deployment, Registry
from benchmarks.registry_api import CONTENT_TYPE, Api, schema
from benchmarks.spread import at_least, at_most
from benchmarks.wire import UnexpectedAnswer
from benchmarks.wrk import NUMBER

MANY_CONNECTIONS = 32
# Schemas that a registry holds when the load begins, and how many of them, evenly spread, the load asks for.
SHARED_SCHEMAS = 1_000
SAMPLE = 100
# How long schemas are registered beside those that are there.
MORE_SECONDS = 3
SIZES = (1_000, 10_000, 50_000)


@dataclass(frozen=True, slots=True)
class Scale:
    """How long one measurement takes."""

    seconds: float
    warm_seconds: float


FULL = Scale(seconds=6, warm_seconds=3)
QUICK = Scale(seconds=2, warm_seconds=1)


@dataclass(frozen=True, slots=True)
class Site:
    """A running registry as a row sees it, with the schemas that the load asks for."""

    deployment: Deployment
    words: tuple[str, ...]
    ids: tuple[int, ...]

    @property
    def api(self) -> Api:
        return self.deployment.api

    @classmethod
    def filled(cls, deployment: Deployment) -> Site:
        fill(deployment, SHARED_SCHEMAS)
        words = sample(SHARED_SCHEMAS)
        return cls(deployment, tuple(words), tuple(identify(deployment.api, word) for word in words))

    def load(self, script: str, connections: int, seconds: float) -> Figures:
        """The figures of the load, and what a request cost the processes of the registry."""
        used = cpu_seconds(self.deployment.pid)
        figures = wrk.run(self.api.port, script, connections, seconds)
        used = cpu_seconds(self.deployment.pid) - used
        return figures | {"cpu_us": used / figures["requests"] * 1e6}


Measure = Callable[[Site, int, float], Figures]


def read_by_id(site: Site, connections: int, seconds: float) -> Figures:
    requests = [site.api.by_id(schema_id) for schema_id in site.ids]
    return site.load(wrk.in_turn(requests, CONTENT_TYPE), connections, seconds)


def read_latest(site: Site, connections: int, seconds: float) -> Figures:
    requests = [site.api.latest(word) for word in site.words]
    return site.load(wrk.in_turn(requests, CONTENT_TYPE), connections, seconds)


def register_known(site: Site, connections: int, seconds: float) -> Figures:
    requests = [site.api.registration(word) for word in site.words]
    return site.load(wrk.in_turn(requests, CONTENT_TYPE), connections, seconds)


def register_new(site: Site, connections: int, seconds: float) -> Figures:
    """New words each time that this is measured: the run's own, and a number for each request."""
    request = site.api.registration(f"{uuid4().hex[:8]}x{NUMBER}")
    return site.load(wrk.numbered(request, CONTENT_TYPE), connections, seconds)


def fill(deployment: Deployment, count: int) -> Figures:
    """Registers schemas 1 to `count`, each in a subject of its own."""
    api = deployment.api
    script = wrk.numbered(api.registration(NUMBER), CONTENT_TYPE, count)
    figures = wrk.run_counted(api.port, script, MANY_CONNECTIONS)
    # The load ended when it had enough answers, with as many requests under way as it has connections.
    for number in range(count - 2 * MANY_CONNECTIONS, count + 1):
        api.ask(api.registration(str(number)))
    return figures


def sample(count: int) -> list[str]:
    """Words of the schemas 1 to `count`, evenly spread."""
    return [str(number) for number in range(count // SAMPLE, count + 1, count // SAMPLE)]


def identify(api: Api, word: str) -> int:
    """The id of a word's schema, under which the registry must have that very schema: speed is worth nothing otherwise."""
    found: int = api.ask(api.latest(word))["id"]
    held = api.ask(api.by_id(found))["schema"]
    if json.loads(held) != json.loads(schema(word)):
        raise UnexpectedAnswer(f"{api.by_id(found).path} answers another schema than that of {word}: {held}")
    return found


def live(count: int, registry: Registry, folder: Path) -> Figures:
    """A start without schemas, registrations, memory, another start with all schemas in the topic, more registrations."""
    with Deployment(registry, folder) as deployment:
        figures = {"start_s": deployment.running.seconds_to_answer}
        figures["registered_s"] = fill(deployment, count)["requests_s"]
        time.sleep(SETTLE_SECONDS)
        figures["resident_mb"] = deployment.running.resident_bytes() / MB
        if registry.has_topic:
            figures |= returned(deployment, count)
        more = register_new(Site(deployment, (), ()), MANY_CONNECTIONS, MORE_SECONDS)
        return figures | {"more_s": more["requests_s"]}


def returned(deployment: Deployment, count: int) -> Figures:
    """A start with schemas 1 to `count` in the topic: when they are read, when a new one is taken; none may be lost."""
    api = deployment.api
    deployment.restart(api.latest(str(count)))
    readable = deployment.running.seconds_to_answer
    writable = readable + deployment.await_success(api.registration("Afterwards"))
    for word in sample(count):
        identify(api, word)
    time.sleep(SETTLE_SECONDS)
    resident = deployment.running.resident_bytes() / MB
    return {"restart_s": readable, "restart_writable_s": writable, "restarted_mb": resident}


@dataclass(frozen=True, slots=True)
class LoadRow:
    """A row measured on registries that stay up for all rows of this kind."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Measure
    connections: int


@dataclass(frozen=True, slots=True)
class LifeRow:
    """A row that starts registries of its own, in a folder that is new each time."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Registry, Path], Figures]


Row = LoadRow | LifeRow


def load_rows(name: str, title: str, measure: Measure, aims: tuple[Aim, ...], p99: tuple[Aim, ...]) -> list[LoadRow]:
    """With many connections, which the targets are about, and with one."""
    rows = []
    for connections, rate_aims, p99_aims in ((MANY_CONNECTIONS, aims, p99), (1, (), ())):
        who = "1 connection" if connections == 1 else f"{connections} connections"
        metrics = (
            Metric("requests_s", f"{title}, {who}", "req/s", rate_aims),
            Metric("p50_ms", "… p50", "ms"),
            Metric("p99_ms", "… p99", "ms", p99_aims),
            Metric("cpu_us", "… registry's CPU per request", "µs"),
        )
        rows.append(LoadRow(f"{name}-{connections}", metrics, measure, connections))
    return rows


def life_row(count: int, resident: tuple[Aim, ...]) -> LifeRow:
    metrics = (
        Metric("start_s", "start without schemas, exec to first answer", "s"),
        Metric("registered_s", f"registering {count:,} schemas, {MANY_CONNECTIONS} connections", "schemas/s"),
        Metric("resident_mb", f"resident memory with {count:,} schemas", "MB", resident),
        Metric("restart_s", f"start with {count:,} schemas in the topic, exec until the last is read", "s"),
        Metric("restart_writable_s", "… until a new one is taken", "s"),
        Metric("restarted_mb", "… resident memory then", "MB"),
        Metric("more_s", f"registering more schemas beside {count:,}", "schemas/s"),
    )
    return LifeRow(f"life-{count}", metrics, partial(live, count))


READ_AIMS = (Aim(at_least(5), "apicurio"), Aim(at_least(30), "karapace"), Aim(at_least(15_000)))
READ_P99 = (Aim(at_most(10)),)
KNOWN_AIMS = (Aim(at_least(3), "apicurio"), Aim(at_least(20), "karapace"))
NEW_AIMS = (Aim(at_least(4), "karapace"),)
RESIDENT_AIMS = (Aim(at_most(120)),)

# New schemas come last: the rows before them are measured on as many schemas in every registry.
LOAD_ROWS = (
    *load_rows("get-id", "GET /schemas/ids/{id}", read_by_id, READ_AIMS, READ_P99),
    *load_rows("get-latest", "GET /subjects/{subject}/versions/latest", read_latest, READ_AIMS, READ_P99),
    *load_rows("post-known", "POST of a known schema", register_known, KNOWN_AIMS, ()),
    *load_rows("post-new", "POST of a new schema, subjects differ", register_new, NEW_AIMS, ()),
)
LIFE_ROWS = tuple(life_row(count, RESIDENT_AIMS if count == SHARED_SCHEMAS else ()) for count in SIZES)
