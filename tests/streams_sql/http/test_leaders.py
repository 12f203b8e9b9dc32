"""Changes are made by the leader: what other servers hand on to it, and the end of everything."""

from __future__ import annotations

import pytest

from streams_sql.engine.failures import StatementFailed
from streams_sql.engine.queries.query_status import PushStatus
from streams_sql.engine.statements.entities import CommandStatus, QueryList, SourceList, StatementResult, TypeList
from streams_sql.http import statements
from streams_sql.language.statements import Kind
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import INTEGER
from tests.ports import free_port
from tests.streams_sql.http.conftest import Stage
from tests.streams_sql.http.sample_sources import COUNTS, ORDERS, STATUS


@pytest.fixture
def follower(stage: Stage) -> Stage:
    """Changes that it is asked for are made by `stage`."""
    made = Stage()
    made.engine.leader = f"http://127.0.0.1:{stage.service.port}"
    return made


def test_changes_are_made_by_the_leader_and_known_afterwards(stage: Stage, follower: Stage) -> None:
    stage.engine.answers = [
        StatementResult("CREATE TYPE N AS INT;", CommandStatus(("stream", "S"), "create", "Stream created", 3))
    ]
    body = {"ksql": "CREATE TYPE N AS INT;", "streamsProperties": {"a": "b"}, "sessionVariables": {"v": "w"}}
    with follower:
        answer = follower.post("/ksql", body, accept="application/json", x_request_id="mine")
        assert answer.json[0]["commandSequenceNumber"] == 3
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-request-id"] == "mine"
    assert stage.engine.asked == [("CREATE TYPE N AS INT;", {"a": "b"}, {"v": "w"})]
    assert (follower.engine.asked, follower.engine.caught_up) == ([], 1)


def test_errors_of_the_leader_come_back_as_they_are(stage: Stage, follower: Stage) -> None:
    stage.engine.failure = StatementFailed("CREATE TYPE N AS INT;", SqlProblem("There is one."))
    with follower:
        answer = follower.post("/ksql", {"ksql": "CREATE TYPE N AS INT;"})
    assert (answer.status, answer.json["message"]) == (400, "There is one.")


def test_what_only_asks_is_answered_by_whoever_was_asked(stage: Stage, follower: Stage) -> None:
    with follower:
        assert follower.post("/ksql", {"ksql": "SHOW IT;"}).status == 200
    assert (stage.engine.asked, len(follower.engine.asked)) == ([], 1)


class TestQueriesOfAFollower:
    """Who runs them knows how they do."""

    OWN = PushStatus("transient_OWN_1", "SELECT 1;")

    def test_the_leader_tells_how_they_do(self, stage: Stage, follower: Stage) -> None:
        stage.engine.answers = [
            StatementResult("SHOW QUERIES;", QueryList((STATUS,), (PushStatus("transient_1", "…"),)))
        ]
        follower.engine.pushes = [self.OWN]
        with follower:
            (answer,) = follower.post("/ksql", {"ksql": "SHOW QUERIES;"}).json
        assert [each["id"] for each in answer["queries"]] == ["CTAS_COUNTS_2", "transient_1", "transient_OWN_1"]
        assert follower.engine.asked == []

    def test_what_the_leader_refuses_is_refused(self, stage: Stage, follower: Stage) -> None:
        stage.engine.failure = StatementFailed("SHOW QUERIES;", SqlProblem("No."))
        with follower:
            answer = follower.post("/ksql", {"ksql": "SHOW QUERIES;"})
        assert (answer.status, answer.json["message"]) == (400, "No.")

    def test_without_a_leader_there_is_what_is_known_here(self, follower: Stage) -> None:
        follower.engine.leader = f"http://127.0.0.1:{free_port()}"
        follower.engine.answers = [StatementResult("SHOW QUERIES;", QueryList((), (self.OWN,)))]
        with follower:
            (answer,) = follower.post("/ksql", {"ksql": "SHOW QUERIES;"}).json
        assert [each["id"] for each in answer["queries"]] == ["transient_OWN_1"]


def test_a_leader_that_is_away_is_told(follower: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "SETTLE_TIMEOUT_S", 0)
    follower.engine.leader = f"http://127.0.0.1:{free_port()}"
    with follower:
        answer = follower.post("/ksql", {"ksql": "CREATE TYPE N AS INT;"})
    assert (answer.status, answer.json["error_code"]) == (503, 50300)
    assert "could not be forwarded" in answer.json["message"]
    assert answer.headers["retry-after"]


def test_servers_that_take_each_other_for_the_leader_stop_at_once(stage: Stage, follower: Stage) -> None:
    with follower:
        stage.engine.leader = f"http://127.0.0.1:{follower.service.port}"
        answer = follower.post("/ksql", {"ksql": "CREATE TYPE N AS INT;"})
    assert answer.status == 503
    assert "was taken for the leader" in answer.json["message"]


class TestTerminate:
    def test_everything_ends(self, stage: Stage) -> None:
        stage.engine.answers = [
            StatementResult("TERMINATE ALL;", CommandStatus(("terminate", "ALL"), "execute", "Query terminated.", 4)),
            StatementResult("SHOW STREAMS;", SourceList(Kind.STREAM, (ORDERS,))),
            StatementResult("SHOW TABLES;", SourceList(Kind.TABLE, (COUNTS,))),
            StatementResult("SHOW TYPES;", TypeList({"N": INTEGER})),
        ]
        answer = stage.post("/ksql/terminate", {"deleteTopicList": ["COU.*", "orders"]})
        assert [text for text, *_ in stage.engine.asked] == [
            "TERMINATE ALL; SHOW STREAMS; SHOW TABLES; SHOW TYPES;",
            "DROP TYPE IF EXISTS `N`;",
            "DROP STREAM IF EXISTS `ORDERS`;\n",
            "DROP TABLE IF EXISTS `COUNTS` DELETE TOPIC;\n",
        ]
        (found,) = answer.json
        assert found["commandId"] == "cluster/TerminateCluster/terminate"
        assert found["commandStatus"]["status"] == "SUCCESS"

    @pytest.mark.parametrize("body", [b"", b"{}", b'{"deleteTopicList":null}', b'{"deleteTopicList":[]}'])
    def test_topics_stay_that_are_not_named(self, stage: Stage, body: bytes) -> None:
        stage.engine.answers = [StatementResult("SHOW TABLES;", SourceList(Kind.TABLE, (COUNTS,)))]
        assert stage.post("/ksql/terminate", body).status == 200
        assert stage.engine.asked[-1][0] == "DROP TABLE IF EXISTS `COUNTS`;\n"

    @pytest.mark.parametrize(
        ("topics", "message"),
        [
            ("orders", "must be a list"),
            ([1], "must be a list"),
            (["["], "has a pattern that is none"),
            (["a"] * 1001, "1000"),
        ],
        ids=str,
    )
    def test_lists_that_are_none_end_nothing(self, stage: Stage, topics: object, message: str) -> None:
        answer = stage.post("/ksql/terminate", {"deleteTopicList": topics})
        assert (answer.status, answer.json["error_code"]) == (400, 40000)
        assert message in answer.json["message"]
        assert stage.engine.asked == []

    def test_the_leader_does_it(self, stage: Stage, follower: Stage) -> None:
        with follower:
            assert follower.post("/ksql/terminate", {}).status == 200
        assert (len(stage.engine.asked), follower.engine.asked) == (1, [])
