"""The rows of the SQL engines' benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from benchmarks import sql_flow, sql_local
from benchmarks.comparison import OURS, Aim, Metric
from benchmarks.job import Figures
from benchmarks.lifecycle import MB, SETTLE_SECONDS
from benchmarks.spread import at_least, at_most
from benchmarks.sql_engines import Deployment, Engine, Kind, Pace, Query
from benchmarks.sql_latency import Paced
from benchmarks.sql_stage import Stage, passed
from benchmarks.sql_views import MANY_CONNECTIONS, PullLoad, Views
from benchmarks.wire import Topic

FLINK = "flink"
TEN = 10
FIRST_PROBE_SECONDS = 0.02
FIRST_LIMIT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A row that is measured on engines that stay up for all rows."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Stage, Deployment], Figures]
    warm_up: Callable[[Stage, Deployment], Figures] | None = None
    only_ours: bool = False

    def suits(self, deployment: Deployment) -> bool:
        return deployment.name == OURS or not self.only_ours


@dataclass(frozen=True, slots=True)
class LifeRow:
    """A row that starts engines of its own."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Stage, Engine], Figures]


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A row of ours alone: nobody else has views to be asked."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Views], Figures]


@dataclass(frozen=True, slots=True)
class LocalRow:
    """A row of ours alone, in the process of the benchmark."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[int], Figures]


Row = FlowRow | LifeRow | ViewRow | LocalRow


def life(stage: Stage, engine: Engine) -> Figures:
    """From nothing to the first result, and from there to that of the next query."""
    site = stage.site(engine.name)
    began = time.monotonic()
    with engine.deployed(site) as deployment:
        figures = {"ready_s": time.monotonic() - began}
        figures["first_s"] = figures["ready_s"] + first_result(stage, deployment)
        # What the first query has left to be done behind it must not count for the second.
        time.sleep(SETTLE_SECONDS)
        figures["second_s"] = first_result(stage, deployment)
        time.sleep(SETTLE_SECONDS)
        figures["memory_mb"] = deployment.resident_bytes() / MB
    return figures


def first_result(stage: Stage, deployment: Deployment) -> float:
    """Seconds from the statement to the first record in the sink; the query goes on."""
    orders = stage.few_orders.name
    with stage.passing_topic(f"{deployment.name}-first") as sink:
        began = time.monotonic()
        query_id = deployment.start(Query("filter-json", orders, sink.name))
        while not stage.count(sink):
            if time.monotonic() - began > FIRST_LIMIT_SECONDS:
                deployment.check(query_id)
                raise TimeoutError(f"no result has come in {FIRST_LIMIT_SECONDS} s")
            time.sleep(FIRST_PROBE_SECONDS)
        took = time.monotonic() - began
        deployment.stop(query_id)
    return took


def ten_queries(stage: Stage, engine: Engine) -> Figures:
    """Ten filters of the same orders, started at once; what they cost when they have nothing to do."""
    with ExitStack() as stack:
        deployment = stack.enter_context(engine.deployed(stage.site(engine.name)))
        sql_flow.run(stage, deployment, "filter-json", is_warm_up=True)
        sinks = [stack.enter_context(stage.passing_topic(f"{engine.name}-ten")) for _ in range(TEN)]
        orders, count = stage.ten_orders.name, stage.scale.ten_orders
        began = time.time()
        started = [deployment.start(Query("filter-json", orders, sink.name)) for sink in sinks]
        ended = max(map(partial(_ended, stage, deployment), started, sinks))
        figures = {"records_s": TEN * count / (ended - began), "memory_mb": deployment.resident_bytes() / MB}
        time.sleep(SETTLE_SECONDS)
        used, since = deployment.cpu_seconds(), time.monotonic()
        time.sleep(stage.scale.idle_seconds)
        figures["idle_percent"] = (deployment.cpu_seconds() - used) / (time.monotonic() - since) * 100
        for query_id in started:
            deployment.stop(query_id)
    return figures


def _ended(stage: Stage, deployment: Deployment, query_id: str, sink: Topic) -> float:
    expected = passed(stage.scale.ten_orders)
    whole = sql_flow.Outcome(expected, lambda topic: stage.count(topic) == expected)
    ended, _ = sql_flow.await_outcome(stage, deployment, query_id, sink, whole)
    return ended


def _flow(kind: Kind, title: str, aim: Aim) -> FlowRow:
    metrics = (
        Metric("records_s", title, "records/s", (aim,)),
        Metric("cpu_us", "… engine's CPU per record", "µs"),
        Metric("memory_mb", "… most memory seen", "MB"),
    )
    return FlowRow(
        kind,
        metrics,
        partial(sql_flow.run, kind=kind),
        partial(sql_flow.run, kind=kind, is_warm_up=True),
    )


def _latency(kind: Kind, pace: Pace, rate: int, title: str, p50: float | None, *, only_ours: bool = False) -> FlowRow:
    aims = (Aim(at_most(p50)),) if p50 is not None else ()
    metrics = (
        Metric("p50_ms", f"{title}, {rate:,} records/s, p50", "ms", aims),
        Metric("p99_ms", "… p99", "ms"),
    )
    name = f"latency-{kind}-{pace.replace(' ', '-')}-{rate}"
    return FlowRow(name, metrics, Paced(kind, pace, rate).run, only_ours=only_ours)


LATENCY_ROWS = tuple(
    row
    for rate in (100, 1_000)
    for row in (
        _latency("filter-json", "real-time", rate, "latency of a filter, real-time mode", 30),
        _latency("filter-json", "default", rate, "latency of a filter, default interval", None, only_ours=True),
        _latency("count", "at once", rate, "latency of GROUP BY, interval 0", 350),
        _latency("count", "default", rate, "latency of GROUP BY, default interval", 500, only_ours=True),
    )
)
FLOW_ROWS = (
    _flow("filter-json", "filter and project, JSON", Aim(at_least(1, goal=1.5), FLINK)),
    _flow("filter-avro", "filter and project, Avro", Aim(at_least(1, goal=1.5), FLINK)),
    _flow("count", "GROUP BY count", Aim(at_least(1), FLINK)),
    _flow("window", "tumbling-window count", Aim(at_least(1), FLINK)),
    _flow("join", "stream-table join", Aim(at_least(40_000))),
    *LATENCY_ROWS,
)
LIFE_ROWS = (
    LifeRow(
        "start",
        (
            Metric("ready_s", "start until statements are taken", "s"),
            Metric("first_s", "… until the first result of the first query", "s"),
            Metric("second_s", "first result of a second query", "s", (Aim(at_most(1.5)),)),
            Metric("memory_mb", "memory after two small queries", "MB"),
        ),
        life,
    ),
    LifeRow(
        "ten",
        (
            Metric("records_s", "ten filters at once, all together", "records/s"),
            Metric("memory_mb", "… memory", "MB"),
            Metric("idle_percent", "ten idle queries, of one core", "%", (Aim(at_most(20)),)),
        ),
        ten_queries,
    ),
)
VIEW_ROWS = (
    ViewRow(
        "view",
        (
            Metric("rows_s", "a view catches up", "rows/s", (Aim(at_least(50_000)),)),
            Metric("cpu_us", "… server's CPU per row", "µs"),
            Metric("memory_mb", "… memory", "MB"),
        ),
        Views.catch_up,
    ),
    ViewRow(
        "pull-1",
        (
            Metric("p50_ms", "pull query by key, 1 connection, p50", "ms", (Aim(at_most(1)),)),
            Metric("p99_ms", "… p99", "ms"),
            Metric("requests_s", "… rate", "req/s"),
        ),
        PullLoad(1).measure,
    ),
    ViewRow(
        f"pull-{MANY_CONNECTIONS}",
        (
            Metric("p99_ms", f"pull query by key, {MANY_CONNECTIONS} connections, p99", "ms", (Aim(at_most(10)),)),
            Metric("p50_ms", "… p50", "ms"),
            Metric("requests_s", "… rate", "req/s"),
            Metric("requests_core_s", "… per core of the server", "req/s", (Aim(at_least(4_000)),)),
            Metric("cpu_us", "… server's CPU per request", "µs"),
        ),
        PullLoad(MANY_CONNECTIONS).measure,
    ),
    ViewRow(
        "pull-keys",
        (
            Metric(
                "cpu_times",
                "pull query in a view of many keys, CPU against one of 10,000",
                "times",
                (Aim(at_most(1.2)),),
            ),
            Metric("p50_ms", "… p50", "ms"),
            Metric("p99_ms", "… p99", "ms"),
            Metric("cpu_us", "… server's CPU per request", "µs"),
        ),
        Views.pull_many_keys,
    ),
)
LOCAL_ROWS = tuple(
    LocalRow(
        f"local-{name}",
        (
            Metric("rows_s", title, "rows/s", (Aim(at_least(least)),)),
            Metric("cpu_us", "… CPU per row", "µs"),
        ),
        measure,
    )
    for name, title, least, measure in (
        ("filter", "in process: filter and project", 200_000, sql_local.filter_rows),
        ("decode", "in process: JSON decoded, filter and project", 100_000, sql_local.filter_records),
        ("count", "in process: count by key", 150_000, sql_local.count_rows),
    )
)
ROWS: tuple[Row, ...] = (*FLOW_ROWS, *LIFE_ROWS, *VIEW_ROWS, *LOCAL_ROWS)
