"""Measurements of views, which no peer has: how fast one catches up with its topic, and pull queries over HTTP."""

from __future__ import annotations

import json
import time
import urllib.request
from dataclasses import dataclass
from functools import cached_property
from uuid import uuid4

from benchmarks import wrk
from benchmarks.connection import HOST
from benchmarks.job import Figures
from benchmarks.lifecycle import MB
from benchmarks.sql_engines import OurDeployment
from benchmarks.sql_records import DAY_MS, PARTS, write_customers
from benchmarks.sql_stage import Stage
from benchmarks.turns import say
from benchmarks.wrk import NUMBER, Request

KEYS = 100_000
FEW_KEYS = 10_000
MANY_CONNECTIONS = 32
PROBE_SECONDS = 0.02
LIMIT_SECONDS = 300
ANSWER_LIMIT_SECONDS = 30
JSON_TYPE = "application/json"


class Views:
    """A topic of customers, and the tables that are made of it in one server."""

    def __init__(self, stage: Stage, deployment: OurDeployment) -> None:
        self._stage = stage
        self._deployment = deployment

    @cached_property
    def _topic(self) -> str:
        topic, rows = self._stage.topic("view-rows"), self._stage.scale.view_rows
        say(f"writing {rows:,} rows to {topic.name}")
        write_customers(self._stage.broker.port, topic.name, rows, int(time.time() * 1_000) - 2 * DAY_MS, KEYS)
        return topic.name

    def catch_up(self) -> Figures:
        """From the statement to the last row."""
        topic, name = self._topic, f"caught_{uuid4().hex[:8]}"
        used, began = self._deployment.cpu_seconds(), time.monotonic()
        self._make(name, topic)
        while not all(self._has(name, f"end-{part}") for part in range(PARTS)):
            if time.monotonic() - began > LIMIT_SECONDS:
                raise TimeoutError(f"the view has not caught up in {LIMIT_SECONDS} s")
            time.sleep(PROBE_SECONDS)
        took, used = time.monotonic() - began, self._deployment.cpu_seconds() - used
        self._deployment.execute(f"DROP TABLE {name};")
        rows = self._stage.scale.view_rows
        return {"rows_s": rows / took, "cpu_us": used / rows * 1e6, "memory_mb": self._deployment.resident_bytes() / MB}

    @cached_property
    def _table(self) -> str:
        self._make("pulled", self._topic)
        while not all(self._has("pulled", f"end-{part}") for part in range(PARTS)):
            time.sleep(PROBE_SECONDS)
        return "pulled"

    @cached_property
    def _few_keys(self) -> str:
        return self._filled("few_keys", FEW_KEYS)

    @cached_property
    def _many_keys(self) -> str:
        return self._filled("many_keys", self._stage.scale.many_keys)

    def _filled(self, name: str, keys: int) -> str:
        """A table with a row for each key."""
        topic = self._stage.topic(f"view-{name}")
        say(f"writing {keys:,} keys to {topic.name}")
        write_customers(self._stage.broker.port, topic.name, keys, int(time.time() * 1_000) - 2 * DAY_MS, keys)
        self._make(name, topic.name)
        while not all(self._has(name, f"end-{part}") for part in range(PARTS)):
            time.sleep(PROBE_SECONDS)
        return name

    def pull_many_keys(self) -> Figures:
        """Look-ups all over a large view, and the same in a small one just before."""
        few = self._pulled(self._few_keys, 1, FEW_KEYS)
        many = self._pulled(self._many_keys, 1, self._stage.scale.many_keys)
        return {
            "p50_ms": many["p50_ms"],
            "p99_ms": many["p99_ms"],
            "cpu_us": many["cpu_us"],
            "cpu_times": many["cpu_us"] / few["cpu_us"],
        }

    def pull(self, connections: int) -> Figures:
        """Look-ups of one key each, never the same twice in a row."""
        return self._pulled(self._table, connections, KEYS)

    def _pulled(self, table: str, connections: int, keys: int) -> Figures:
        statement = f"SELECT * FROM {table} WHERE customer = 'c{NUMBER}';"
        script = wrk.numbered(Request("/query-stream", json.dumps({"sql": statement})), JSON_TYPE, below=keys)
        used = self._deployment.cpu_seconds()
        figures = wrk.run(self._deployment.port, script, connections, self._stage.scale.pull_seconds)
        used = max(self._deployment.cpu_seconds() - used, 0.01)
        return figures | {
            "requests_core_s": figures["requests"] / used,
            "cpu_us": used / figures["requests"] * 1e6,
        }

    def _make(self, name: str, topic: str) -> None:
        columns = "customer STRING PRIMARY KEY, name STRING, level INT"
        self._deployment.execute(
            f"CREATE SOURCE TABLE {name} ({columns}) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"
        )

    def _has(self, name: str, customer: str) -> bool:
        body = json.dumps({"sql": f"SELECT * FROM {name} WHERE customer = '{customer}';"}).encode()
        request = urllib.request.Request(
            f"http://{HOST}:{self._deployment.port}/query-stream", body, {"Content-Type": JSON_TYPE}
        )
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_LIMIT_SECONDS) as answer:
                lines = answer.read().splitlines()
        except OSError:
            # The view may not be there for a moment.
            return False
        return any(line.startswith(b"[") for line in lines)


@dataclass(frozen=True, slots=True)
class PullLoad:
    connections: int

    def measure(self, views: Views) -> Figures:
        return views.pull(self.connections)
