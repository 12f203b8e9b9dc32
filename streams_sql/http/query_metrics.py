"""What queries and views do, for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from streams_sql.engine.metrics import EngineMetrics
from streams_sql.engine.queries.query_status import QueryState, QueryStatus
from streams_sql.progress.backlog import Backlog
from streams_sql.views.views import ViewStatus

MS_PER_S: Final = 1000
_PREFIX: Final = "streams_sql_"
_TOTALS: Final = {
    "read": ("query_records_read", "Records that a query has read"),
    "written": ("query_records_written", "Records that a query has written"),
    "bad": ("query_records_passed_over", "Records that a query could not read or write"),
    "failed": ("query_expressions_failed", "Expressions of a query that failed, and gave NULL"),
}
_GAUGES: Final = {
    "rows-per-second": ("query_records_per_second", "Records a second in the last batch of a query"),
    "state-rows": ("query_state_rows", "Entries in the state store of a query"),
    "held-rows": ("query_held_rows", "Rows of a query that were read and wait for records of other partitions"),
}
_PROGRESS: Final[tuple[tuple[str, str, Callable[[Backlog], float]], ...]] = (
    ("query_lag_records", "Records that are on the topics of a query and not read yet", attrgetter("behind")),
    ("query_read_percent", "Part of the records on the topics of a query that it has read", attrgetter("percent")),
    ("query_complete", "Whether a query has caught up with its topics and does not lag", attrgetter("is_complete")),
)


def families(metrics: Callable[[], EngineMetrics]) -> Callable[[], Iterator[Metric]]:
    def collect() -> Iterator[Metric]:
        found = metrics()
        yield from _queries(found.queries)
        yield from _errors(found.errors)
        yield from _views(found.views)
        yield _gauge("leader", "Whether this server runs the queries", found.is_leader)
        yield _gauge("push_queries", "Push queries that run", found.pushes)
        yield _counter("push_queries_started", "Push queries that were started", found.pushes_started)
        yield _gauge("pull_queries", "Pull queries that run", found.pulls)
        yield _counter("pull_queries_started", "Pull queries that were started", found.pulls_started)

    return collect


def _queries(queries: Sequence[QueryStatus]) -> Iterator[Metric]:
    states = Counter(query.state for query in queries)
    family = GaugeMetricFamily(f"{_PREFIX}queries", "Persistent queries by their states", labels=["state"])
    for state in QueryState:
        family.add_metric([state], states[state])
    yield family
    for member, (name, doc) in _TOTALS.items():
        counted = CounterMetricFamily(_PREFIX + name, doc, labels=["query"])
        for query in queries:
            if query.totals:
                counted.add_metric([query.id], query.totals.get(member, 0))
        yield counted
    for member, (name, doc) in _GAUGES.items():
        yield _labelled(name, doc, "query", ((each.id, each.metrics.get(member)) for each in queries))
    for name, doc, value in _PROGRESS:
        yield _labelled(name, doc, "query", ((each.id, value(each.backlog)) for each in queries if each.backlog))
    yield _labelled(
        "query_batch_seconds", "Time of the last batch of a query", "query",
        ((each.id, each.metrics["batch-ms"] / MS_PER_S if each.metrics else None) for each in queries),
    )  # fmt: skip


def _errors(errors: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
    family = CounterMetricFamily(
        f"{_PREFIX}query_errors", "Errors that SHOW ERRORS tells of, by query and kind", labels=["query", "kind"]
    )
    for query_id, kinds in errors.items():
        for kind, count in kinds.items():
            family.add_metric([query_id, kind], count)
    yield family


def _views(views: Sequence[ViewStatus]) -> Iterator[Metric]:
    docs = {
        "view_lag_records": "Records of its topic that a view does not have yet",
        "view_caught_up": "Whether a view has all that its topic had",
        "view_record_timestamp_seconds": "The latest time of a record in a view",
    }
    for place, (name, doc) in enumerate(docs.items()):
        yield _labelled(name, doc, "view", ((view.name, _view_metrics(view)[place]) for view in views))
    passed_over = CounterMetricFamily(
        f"{_PREFIX}view_records_passed_over", "Records that a view could not read", labels=["view"]
    )
    for view in views:
        passed_over.add_metric([view.name], view.problem_count)
    yield passed_over


def _view_metrics(view: ViewStatus) -> tuple[float | None, ...]:
    time_s = view.stream_time_ms / MS_PER_S if view.stream_time_ms >= 0 else None
    return view.lag, view.is_caught_up, time_s


def _labelled(name: str, doc: str, label: str, values: Iterable[tuple[str, float | None]]) -> Metric:
    """What is not known is left out."""
    family = GaugeMetricFamily(_PREFIX + name, doc, labels=[label])
    for labelled, value in values:
        if value is not None:
            family.add_metric([labelled], value)
    return family


def _gauge(name: str, doc: str, value: float) -> Metric:
    return GaugeMetricFamily(_PREFIX + name, doc, value=value)


def _counter(name: str, doc: str, value: float) -> Metric:
    return CounterMetricFamily(_PREFIX + name, doc, value=value)
