"""The life of queries: what is started when, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.catalogue.command import LOWERING
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.engine.queries.query_status import QueryEvent, QueryStatus
from streams_sql.engine.statements.function_rules import FunctionRules
from streams_sql.spark.driver.messages import (
    BadRecord,
    Event,
    FailureKind,
    Idle,
    Noted,
    Progress,
    QueryFailed,
    SlotsChanged,
    Started,
    Trigger,
    Unavailable,
)
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.engine.queries.recording_driver import ManualLoop, RecordingDriver

NOW_S = 1_600_000_000.5
NOW_MS = 1_600_000_000_500
CSAS = "CREATE STREAM X AS SELECT * FROM S;"


class Life:
    """One query that is run."""

    def __init__(self, loop: ManualLoop, **changes: object) -> None:
        self.driver = RecordingDriver()
        self.errors = ErrorLog(lambda error: None, clock=lambda: NOW_S)
        settings = QuerySettings("/checkpoints", trigger_interval_ms=200)
        self.queries = PersistentQueries(self.driver, settings, self.errors, FunctionRules(), clock=lambda: NOW_S)
        self.query = Statements().query(CSAS, **changes)
        self.loop = loop

    def run(self, *queries: PersistentQuery) -> None:
        self.loop.call(lambda: self.queries.reconcile(queries or (self.query,)))

    def hear(self, event: Event) -> None:
        self.loop.call(lambda: self.queries.on_event(event))

    def fail(self, cause: str = "it broke", kind: FailureKind = FailureKind.ERROR, **fields: object) -> None:
        self.hear(QueryFailed(self.query.id, cause, cause, kind=kind, **fields))  # type: ignore[arg-type]

    def progress(self, **fields: object) -> None:
        self.hear(replace(Progress(self.query.id, 1, 10, 10, 1.0, 0, 0, 5), **fields))  # type: ignore[arg-type]

    @property
    def status(self) -> QueryStatus:
        return self.queries.status(self.query)

    @property
    def starts(self) -> int:
        return len(self.driver.started)


@pytest.fixture
def loop() -> Iterator[ManualLoop]:
    made = ManualLoop()
    yield made
    made.close()


@pytest.fixture
def life(loop: ManualLoop) -> Life:
    made = Life(loop)
    made.run()
    return made


def test_a_query_is_started_and_told_to_run(life: Life) -> None:
    (command,) = life.driver.started
    assert (command.query_id, command.checkpoint) == (life.query.id, f"/checkpoints/{life.query.id}/{LOWERING}")
    assert life.status.state == "STARTING"
    life.hear(Started(life.query.id))
    assert (life.status.state, life.status.mode) == ("RUNNING", "Runs in batches each 200 ms, writes at least once")


def test_what_spark_is_waited_for_is_told(life: Life) -> None:
    life.hear(Unavailable("there is no Java"))
    assert (life.status.state, life.status.error) == ("STARTING", "there is no Java")


def test_a_query_that_fails_is_started_again_after_pauses_that_grow(life: Life) -> None:
    for failures, pause_s in enumerate([5, 10, 20, 40, 80, 160, 300, 300], start=1):
        life.fail()
        assert (life.status.state, life.status.error) == ("ERROR", f"it broke It is started again after {pause_s} s.")
        life.loop.advance(pause_s - 0.1)
        assert life.starts == failures
        life.loop.advance(0.2)
        assert life.starts == failures + 1
        life.hear(Started(life.query.id))
        # It has not got beyond what it failed at.
        assert life.status.state == "ERROR"
    life.progress()
    assert (life.status.state, life.status.error) == ("RUNNING", None)
    life.fail()
    life.loop.advance(5.1)
    assert life.starts == 10


def test_a_query_without_new_records_is_well(life: Life) -> None:
    life.fail()
    life.loop.advance(6)
    life.hear(Idle(life.query.id))
    assert (life.status.state, life.status.error) == ("RUNNING", None)


def test_the_record_is_shown_at_which_a_query_fails(life: Life) -> None:
    life.fail("no JSON", record=BadRecord("s", 2, 17, "no JSON"))
    assert "The record: s, partition 2, offset 17: no JSON" in (life.status.error or "")


def test_records_that_were_passed_over_are_counted_and_some_are_kept(life: Life) -> None:
    bad = [BadRecord("s", 0, number, f"bad {number}") for number in range(12)]
    life.progress(bad_records=8, examples=tuple(bad[:8]))
    life.progress(bad_records=20, examples=tuple(bad[8:]))
    assert life.status.bad_records == 28
    told = [f"s, partition 0, offset {n}: bad {n}" for n in range(2, 12)]
    assert life.status.examples == tuple(QueryEvent(NOW_MS, text, "USER") for text in told)


def test_a_query_whose_topic_is_gone_looks_for_it_without_growing_pauses(life: Life) -> None:
    for times in range(1, 6):
        life.fail("Topic s is not there", FailureKind.TOPIC_MISSING)
        assert (life.status.state, life.status.error) == ("ERROR", "Topic s is not there")
        life.loop.advance(5.1)
        assert life.starts == 1 + times


def test_a_query_whose_topics_have_changed_is_started_again_at_once(life: Life) -> None:
    life.fail("offsets are gone", FailureKind.TOPICS_CHANGED)
    life.loop.advance(0)
    assert (life.starts, life.status.state, life.status.error) == (2, "STARTING", None)
    life.hear(Noted(life.query.id, "records were lost"))
    life.hear(Started(life.query.id))
    assert (life.status.state, life.status.notes) == ("RUNNING", (QueryEvent(NOW_MS, "records were lost"),))


def test_a_start_that_puts_nothing_right_is_not_repeated_without_pause(life: Life) -> None:
    life.fail("offsets are gone", FailureKind.TOPICS_CHANGED)
    life.loop.advance(0)
    life.fail("offsets are gone", FailureKind.TOPICS_CHANGED)
    life.loop.advance(4)
    assert (life.starts, life.status.state) == (2, "ERROR")
    life.loop.advance(2)
    assert life.starts == 3


def test_a_new_schema_starts_a_query_again_with_it(life: Life) -> None:
    life.fail(kind=FailureKind.NEW_SCHEMA, schema_id=7)
    life.loop.advance(0)
    life.fail(kind=FailureKind.NEW_SCHEMA, schema_id=9)
    life.loop.advance(0)
    assert [command.schema_ids for command in life.driver.started] == [frozenset(), {7}, {7, 9}]
    # One that it knows already should not be new to it.
    life.fail(kind=FailureKind.NEW_SCHEMA, schema_id=9)
    assert life.status.state == "ERROR"


def test_a_record_that_needs_python_ends_real_time_mode(loop: ManualLoop) -> None:
    life = Life(loop, slots=2)
    life.run()
    (command,) = life.driver.started
    assert (command.trigger, command.slots) == (Trigger(5000, is_real_time=True), 2)
    assert life.status.mode == "Runs in real-time mode: a checkpoint each 5000 ms, task slots: 2, writes at least once"
    life.fail("Partition 0, offset 3: a negative zero.", FailureKind.NEEDS_PYTHON)
    life.loop.advance(0)
    assert (life.driver.started[-1].trigger, life.driver.started[-1].slots) == (Trigger(200), 0)
    assert (
        life.status.mode
        == "Runs in batches each 200 ms, writes at least once; not in real-time mode: Partition 0, offset 3: a negative zero."
    )


def test_why_a_query_runs_in_batches_is_told(loop: ManualLoop) -> None:
    life = Life(loop, why_batches="it keeps state")
    life.run()
    assert (
        life.status.mode == "Runs in batches each 200 ms, writes at least once; not in real-time mode: it keeps state"
    )


def test_a_query_that_spark_has_no_room_for_is_in_error_and_tries_again(loop: ManualLoop) -> None:
    life = Life(loop, slots=2)
    life.driver.full.add(life.query.id)
    life.run()
    assert (life.starts, life.status.state) == (0, "ERROR")
    assert "there is no room" in (life.status.error or "")
    life.driver.full.clear()
    life.loop.advance(5.1)
    assert life.starts == 1


def test_slots_of_a_topic_that_has_grown_are_asked_for_again(loop: ManualLoop) -> None:
    life = Life(loop, slots=2)
    life.run()
    life.hear(SlotsChanged(life.query.id, 3))
    life.fail()
    life.loop.advance(5.1)
    assert life.driver.started[-1].slots == 3


def test_a_query_that_is_paused_stops_and_is_not_started_again(life: Life) -> None:
    life.fail()
    life.run(replace(life.query, is_paused=True))
    life.loop.advance(600)
    assert (life.driver.stopped, life.starts) == ([life.query.id], 1)
    assert life.queries.status(replace(life.query, is_paused=True)).state == "PAUSED"
    life.run()
    assert life.starts == 2
    assert life.driver.started[0] == life.driver.started[1]


def test_a_query_that_is_gone_is_forgotten(life: Life) -> None:
    life.loop.call(lambda: life.queries.forget(life.query.id))
    assert life.driver.forgotten == [(life.query.id, f"/checkpoints/{life.query.id}")]
    life.fail()
    life.loop.advance(600)
    assert life.starts == 1


def test_a_query_that_is_replaced_is_started_anew_on_its_checkpoint(life: Life) -> None:
    other = replace(Statements().query("CREATE STREAM X AS SELECT K, A FROM S;"), id=life.query.id)
    life.run(other)
    assert life.driver.stopped == [life.query.id]
    first, second = life.driver.started
    assert (first.checkpoint, first.plan) == (second.checkpoint, life.query.plan)
    assert second.plan == other.plan


def test_a_property_that_cannot_be_is_an_error_and_no_exception(loop: ManualLoop) -> None:
    life = Life(loop, properties={"auto.offset.reset": "sometimes"})
    life.run()
    assert (life.starts, life.status.state) == (0, "ERROR")
    assert "sometimes" in (life.status.error or "")


def test_the_log_tells_when_a_query_starts_and_runs(loop: ManualLoop, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "streams_sql.engine.queries.persistent_queries")
    life = Life(loop)
    life.run()
    life.hear(Started(life.query.id))
    life.progress()
    query_id = life.query.id
    assert caplog.messages == [
        f"query {query_id} is started: from S into X",
        f"query {query_id} waits for Spark, which is not up yet",
        f"query {query_id} is running",
    ]


def test_a_warning_about_a_join_is_shown_until_it_does_not_hold_any_more(life: Life) -> None:
    warning = BadRecord("", -1, -1, "0 of 3 rows of S matched", part="S JOIN T", times=0)
    life.progress(examples=(warning,))
    assert list(life.status.warnings) == [f"Query {life.query.id}: 0 of 3 rows of S matched"]
    assert (life.status.bad_records, life.status.examples) == (0, ())
    life.progress(examples=(replace(warning, reason=""),))
    assert list(life.status.warnings) == []
