"""The SQL engines that are measured: what each is called, how it is started, and how it says what a query is."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from benchmarks import processes
from benchmarks.connection import HOST
from benchmarks.job import LoadFailed
from benchmarks.running import Launch, Running, free_port, tail
from benchmarks.sql_records import HIDDEN_COUNTRY, LOWEST_AMOUNT, WINDOW_MS
from benchmarks.turns import say

EngineName = Literal["ours", "flink"]
Kind = Literal["filter-json", "filter-avro", "count", "window", "join"]
Pace = Literal["real-time", "at once", "default"]
ASK_LIMIT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Query:
    """What is to be computed, from which topics, and into which. `pace` says how long records may wait."""

    kind: Kind
    orders: str
    sink: str
    customers: str = ""
    pace: Pace = "default"
    from_beginning: bool = True


@dataclass(frozen=True, slots=True)
class Site:
    """What an engine is told of where it is."""

    broker_port: int
    registry_url: str
    folder: Path


class Deployment(ABC):
    """An engine that runs."""

    def __init__(self, name: EngineName, title: str) -> None:
        self.name = name
        self.title = title

    @property
    @abstractmethod
    def running(self) -> Sequence[Running]:
        """Its processes; their children count as well."""

    @abstractmethod
    def start(self, query: Query) -> str:
        """Returns the id of the query as soon as the engine has taken it."""

    @abstractmethod
    def stop(self, query_id: str) -> None: ...

    @abstractmethod
    def check(self, query_id: str) -> None:
        """LoadFailed if the query has failed."""

    def cpu_seconds(self) -> float:
        return sum(processes.cpu_seconds(each.pid) for each in self.running)

    def resident_bytes(self) -> int:
        return sum(processes.proportional_bytes(each.pid) for each in self.running)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in reversed(self.running):
            each.kill()


class Engine(ABC):
    """A kind of engine."""

    name: EngineName
    title: str

    @abstractmethod
    def deployed(self, site: Site) -> Deployment:
        """Starts it, and returns when it takes statements."""


class OurEngine(Engine):
    name: EngineName = "ours"
    title = "ours"

    def deployed(self, site: Site) -> OurDeployment:
        return OurDeployment(site)


class OurDeployment(Deployment):
    def __init__(self, site: Site, settings: Mapping[str, str] | None = None) -> None:
        super().__init__("ours", "ours")
        site.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self._output = site.folder / "output.log"
        given = {"ksql.service.id": f"bench{self.port}_", **(settings or {})}
        command = [
            *(str(Path(sys.executable).parent / "barnabas"), "serve", "sql"),
            *("--listeners", f"http://{HOST}:{self.port}", "--bootstrap-servers", f"{HOST}:{site.broker_port}"),
            *("--schema-registry-url", site.registry_url, "--data-dir", str(site.folder / "data")),
            *(word for name, value in given.items() for word in ("--set", f"{name}={value}")),
        ]
        self._running = Launch("our SQL", command, self.port, self._output).start(self._answers)
        self._declared: set[str] = set()

    @property
    def running(self) -> Sequence[Running]:
        return (self._running,)

    def start(self, query: Query) -> str:
        for topic in filter(None, (query.orders, query.customers)):
            if topic not in self._declared:
                self.execute(our_source(query, topic))
                self._declared.add(topic)
        properties = {"auto.offset.reset": "earliest" if query.from_beginning else "latest", **_PACES[query.pace]}
        answer = self.execute(our_query(query), properties)
        return str(answer[0]["commandStatus"]["queryId"])

    def stop(self, query_id: str) -> None:
        self.execute(f"TERMINATE {query_id};")

    def check(self, query_id: str) -> None:
        found = self.execute(f"EXPLAIN {query_id};")[0]["queryDescription"]
        if found["state"] == "ERROR":
            raise LoadFailed(f"{query_id}: {found['queryErrors']}")

    def execute(self, text: str, properties: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        body = json.dumps({"ksql": text, "streamsProperties": dict(properties or {})}).encode()
        request = urllib.request.Request(f"http://{HOST}:{self.port}/ksql", body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=ASK_LIMIT_SECONDS) as answer:
                found: list[dict[str, Any]] = json.load(answer)
        except urllib.error.HTTPError as error:
            raise LoadFailed(f"{text} was answered {error.code}: {error.read().decode(errors='replace')}") from error
        return found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            say(f"the end of the output of our SQL: {tail(self._output)}")
        super().__exit__(kind, error, trace)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}/chc/ready", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


_PACES: Mapping[Pace, Mapping[str, str]] = {
    "real-time": {"sql.trigger.real.time": "true"},
    "at once": {"sql.trigger.interval.ms": "0"},
    "default": {},
}


def our_source(query: Query, topic: str) -> str:
    form = "AVRO" if query.kind == "filter-avro" else "JSON"
    if topic == query.customers:
        columns, kind = "customer STRING PRIMARY KEY, name STRING, level INT", "TABLE"
    else:
        columns, kind = (
            "customer STRING KEY, id BIGINT, amount DOUBLE, quantity INT, country STRING, note STRING",
            "STREAM",
        )
    return f"CREATE {kind} {our_name(topic)} ({columns}) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='{form}');"


def our_query(query: Query) -> str:
    form = "AVRO" if query.kind == "filter-avro" else "JSON"
    orders, customers, sink = our_name(query.orders), our_name(query.customers), our_name(query.sink)
    made = f"WITH (KAFKA_TOPIC='{query.sink}', VALUE_FORMAT='{form}') AS"
    match query.kind:
        case "count":
            return f"CREATE TABLE {sink} {made} SELECT customer, COUNT(*) AS n FROM {orders} GROUP BY customer EMIT CHANGES;"
        case "window":
            window = f"WINDOW TUMBLING (SIZE {WINDOW_MS} MILLISECONDS)"
            return (
                f"CREATE TABLE {sink} {made} SELECT customer, COUNT(*) AS n FROM {orders} {window} "
                "GROUP BY customer EMIT CHANGES;"
            )
        case "join":
            return (
                f"CREATE STREAM {sink} {made} SELECT o.customer AS customer, o.id AS id, o.amount AS amount, c.name AS name "
                f"FROM {orders} o JOIN {customers} c ON o.customer = c.customer EMIT CHANGES;"
            )
    return (
        f"CREATE STREAM {sink} {made} SELECT customer, id, country, amount * quantity AS total FROM {orders} "
        f"WHERE amount > {LOWEST_AMOUNT} AND country <> '{HIDDEN_COUNTRY}' EMIT CHANGES;"
    )


def our_name(topic: str) -> str:
    return topic.replace("-", "_")
