"""The metrics of queries, for Prometheus."""

from __future__ import annotations

from streams_sql.engine.metrics import EngineMetrics
from streams_sql.engine.queries.query_status import QueryState, QueryStatus
from streams_sql.http.query_metrics import families
from streams_sql.progress.backlog import Backlog, PartitionBacklog
from streams_sql.views.views import ViewStatus
from tests.streams_sql.analysis.catalogues import defined

SINK = defined("CREATE STREAM s (a INT) WITH (kafka_topic='s')")
RUNNING = QueryStatus(
    "CSAS_S_1",
    "…",
    SINK,
    QueryState.RUNNING,
    metrics={"rows-per-second": 5.0, "state-rows": 2, "batch-ms": 250},
    totals={"read": 10, "written": 9, "bad": 1, "failed": 3},
    backlog=Backlog((PartitionBacklog("s", 0, 10, 24, 17),), is_known=True, is_complete=False),
)
PAUSED = QueryStatus("CSAS_S_2", "…", SINK, QueryState.PAUSED)
VIEW = ViewStatus("T", "t", {0: 5}, 4, False, 1_600, None, 2)


def told(metrics: EngineMetrics) -> dict[str, float]:
    samples = [sample for family in families(lambda: metrics)() for sample in family.samples]
    return {f"{each.name}{''.join(f' {value}' for value in each.labels.values())}": each.value for each in samples}


def test_all_that_is_counted_is_told() -> None:
    errors = {"CSAS_S_1": {"RECORD_PROCESSING_ERROR": 3}}
    found = told(EngineMetrics([RUNNING, PAUSED], [VIEW], errors, 1, 2, 3, 4, is_leader=True))
    assert found == {
        "streams_sql_queries RUNNING": 1,
        "streams_sql_queries STARTING": 0,
        "streams_sql_queries PAUSED": 1,
        "streams_sql_queries ERROR": 0,
        "streams_sql_queries UNRESPONSIVE": 0,
        "streams_sql_query_records_read_total CSAS_S_1": 10,
        "streams_sql_query_records_written_total CSAS_S_1": 9,
        "streams_sql_query_records_passed_over_total CSAS_S_1": 1,
        "streams_sql_query_expressions_failed_total CSAS_S_1": 3,
        "streams_sql_query_records_per_second CSAS_S_1": 5.0,
        "streams_sql_query_lag_records CSAS_S_1": 7,
        "streams_sql_query_read_percent CSAS_S_1": 50,
        "streams_sql_query_complete CSAS_S_1": 0,
        "streams_sql_query_state_rows CSAS_S_1": 2,
        "streams_sql_query_batch_seconds CSAS_S_1": 0.25,
        "streams_sql_query_errors_total CSAS_S_1 RECORD_PROCESSING_ERROR": 3,
        "streams_sql_view_lag_records T": 4,
        "streams_sql_view_caught_up T": 0,
        "streams_sql_view_records_passed_over_total T": 2,
        "streams_sql_view_record_timestamp_seconds T": 1.6,
        "streams_sql_leader": 1,
        "streams_sql_push_queries": 1,
        "streams_sql_push_queries_started_total": 2,
        "streams_sql_pull_queries": 3,
        "streams_sql_pull_queries_started_total": 4,
    }


def test_a_server_that_has_nothing_yet_tells_so() -> None:
    found = told(EngineMetrics())
    assert found["streams_sql_queries RUNNING"] == 0
    assert found["streams_sql_leader"] == 0
