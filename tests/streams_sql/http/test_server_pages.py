"""Pages about the server itself."""

from __future__ import annotations

import pytest

from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.http.server_state import STATUSES_KEPT_MAX, CommandStatuses
from tests.streams_sql.http.conftest import Stage

KSQL_JSON = "application/vnd.ksql.v1+json"


def test_info(stage: Stage) -> None:
    answer = stage.get("/info")
    assert answer.headers["content-type"] == KSQL_JSON
    assert answer.json == {
        "KsqlServerInfo": {
            "version": "1.2.3",
            "kafkaClusterId": "c1",
            "ksqlServiceId": "default_",
            "serverStatus": "RUNNING",
        }
    }
    stage.is_started = False
    assert stage.get("/info", accept="application/json").json["KsqlServerInfo"]["serverStatus"] == "INITIALIZING"


def test_the_root_leads_to_it(stage: Stage) -> None:
    answer = stage.get("/")
    assert (answer.status, answer.headers["location"]) == (307, "/info")


def test_health(stage: Stage) -> None:
    assert stage.get("/healthcheck").json == {
        "isHealthy": True,
        "details": {"kafka": {"isHealthy": True}},
        "serverState": "READY",
    }
    stage.is_started = False
    answer = stage.get("/healthcheck")
    assert answer.status == 200
    assert answer.json == {
        "isHealthy": False,
        "details": {"kafka": {"isHealthy": False, "reason": "nobody answers"}},
        "serverState": "NOT_READY",
    }


def test_probes(stage: Stage) -> None:
    assert [(stage.get(path).status, stage.get(path).json) for path in ("/chc/live", "/chc/ready")] == [(200, {})] * 2
    stage.is_started = False
    assert [stage.get(path).status for path in ("/chc/live", "/chc/ready")] == [200, 503]


def test_the_cluster(stage: Stage) -> None:
    (status,) = stage.get("/clusterStatus").json["clusterStatus"].items()
    host, told = status
    assert host == "127.0.0.1:8088"
    assert told.pop("lastStatusUpdateMs") > 0
    assert told == {
        "hostAlive": True,
        "activeStandbyPerQuery": {},
        "hostStoreLags": {"stateStoreLags": {}, "updateTimeMs": 0},
    }


def test_metadata(stage: Stage) -> None:
    cluster = {"id": "", "scope": {"path": [], "clusters": {"kafka-cluster": "c1", "ksql-cluster": "default_"}}}
    assert stage.get("/v1/metadata").json == {"version": "1.2.3", "clusterId": cluster}
    assert stage.get("/v1/metadata/id").json == cluster


def test_statuses_of_changes(stage: Stage) -> None:
    stage.statuses.note(Outcome(("stream", "S"), "create", "Stream created"))
    stage.statuses.note(Outcome(("terminate", "CSAS_X_1"), "execute", "Query terminated."))
    assert stage.get("/status").json == {
        "commandStatuses": {"stream/S/create": "SUCCESS", "terminate/CSAS_X_1/execute": "SUCCESS"}
    }
    assert stage.get("/status/stream/S/create").json == {
        "status": "SUCCESS",
        "message": "Stream created",
        "queryId": None,
    }
    answer = stage.get("/status/stream/S/drop")
    assert (answer.status, answer.json["error_code"]) == (404, 40400)
    assert answer.json["message"] == "Command not found: stream/S/drop"


def test_names_in_paths_may_have_any_letters(stage: Stage) -> None:
    stage.statuses.note(Outcome(("stream", "a/b é"), "create", "Stream created"))
    assert stage.get("/status/stream/a%2Fb%20%C3%A9/create").json["status"] == "SUCCESS"


def test_the_latest_statuses_are_kept() -> None:
    statuses = CommandStatuses()
    for number in range(STATUSES_KEPT_MAX + 1):
        statuses.note(Outcome(("stream", f"S{number}"), "create", "Stream created"))
    assert statuses.of("stream/S0/create") is None
    assert len(statuses.all()) == STATUSES_KEPT_MAX


def test_properties_that_may_be_set(stage: Stage) -> None:
    answer = stage.get("/is_valid_property/auto.offset.reset")
    assert (answer.status, answer.json) == (200, True)
    answer = stage.get("/is_valid_property/nonsense")
    assert answer.status == 400
    assert answer.json == {"@type": "generic_error", "error_code": 40000, "message": "'nonsense' is no property"}


@pytest.mark.parametrize("path", ["/nope", "/status/a", "/query-stream/x"])
def test_other_paths_are_not_there(stage: Stage, path: str) -> None:
    answer = stage.get(path)
    assert (answer.status, answer.json["@type"], answer.json["error_code"]) == (404, "generic_error", 40400)


def test_methods_are_those_that_there_are(stage: Stage) -> None:
    answer = stage.get("/ksql")
    assert (answer.status, answer.json["error_code"]) == (405, 40500)


def test_metrics(stage: Stage) -> None:
    stage.get("/info")
    assert b'"/info"' in stage.get("/metrics").body
