"""The query of a stream in whose place another one is built: each record is one's to write or the other's, on real Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streams_sql.plan.nodes import PersistentPlan, reads_of
from streams_sql.spark.driver.messages import Former, Guarantee, Progress, QueryFailed, Settled, Started, StartQuery
from streams_sql.spark.sources.checkpoints import Folder, Reached
from streams_sql.spark.sources.following import is_written_beyond
from streams_sql.spark.sources.positions import TopicState, initial_text, places_of
from streams_sql.spark.sources.topic_states import GroupOffset
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.spark.query_plans import MINUTE, T0
from tests.streams_sql.spark.query_runs import DEADLINE_S, TRIGGER, QueryRun
from tests.waiting import wait_for

JOINED = "SELECT S.K AS K, A, D FROM S JOIN T ON S.K = T.K"
OTHERWISE = "SELECT S.K AS K, A + 1000000 AS A, D FROM S JOIN T ON S.K = T.K WHERE D <> 'x'"
NEW = 1_000_000
CHUNK = 5
PAUSE_S = 0.01


class Two:
    """A query OLD, and one NEW that is built in its place, which write to one topic."""

    def __init__(self, run: QueryRun, guarantee: Guarantee = Guarantee.AT_LEAST_ONCE) -> None:
        self._run = run
        self._guarantee = guarantee
        self.sink = run.topic("out")
        self.s, self.r, self.t = (run.topic(name) for name in "srt")
        self.written = 0

    def start(self, name: str, select: str, follows: str | None = None, former: str = "OLD", **fields: Any) -> None:
        """With `follows`, what the `former` query reads in whose place this one is built."""
        followed = None
        if follows is not None:
            topics = frozenset(read.source.topic for read in reads_of(self._plan(follows).node))
            followed = Former(self._id(former), self.checkpoint(former), topics)
        command = StartQuery(
            self._id(name),
            self._plan(select),
            self.checkpoint(name),
            "earliest",
            TRIGGER,
            self._guarantee,
            follows=followed,
            **fields,
        )
        self._run.host.start(command)
        assert self._run.events[-1] == Started(self._id(name)), self._run.events

    def stop(self, name: str) -> None:
        """Between two batches: what was begun is done."""
        self._run.host.stop(self._id(name))
        done = [
            self._run.folder / name / "commits" / entry.name
            for entry in (self._run.folder / name / "offsets").iterdir()
        ]
        assert all(entry.exists() for entry in done if not entry.name.startswith("."))

    def settle(self) -> str | None:
        self._run.host.settle(self._id("NEW"))
        settled = self._run.events[-1]
        assert isinstance(settled, Settled)
        return settled.problem

    def wait_until_read(self, name: str, records: int) -> None:
        """Of all topics together."""

        def is_read() -> bool:
            batches = [each for each in self._run.events if isinstance(each, Progress)]
            return sum(each.input_rows for each in batches if each.query_id == self._id(name)) >= records

        wait_for(is_read, f"{name} to read {records} records", DEADLINE_S)

    def write(self, count: int) -> None:
        """Records of S, with the next numbers."""
        numbers = range(self.written, self.written + count)
        self._run.write(self.s, [("k", {"a": number, "b": ""}, T0 + 1 + number) for number in numbers])
        self.written += count

    def write_row(self, value: dict[str, Any]) -> None:
        self._run.write(self.t, [("k", value, T0)])

    @contextmanager
    def growing(self) -> Iterator[Callable[[], int]]:
        """Write all the time; yields what tells how many there are by now."""
        ends = threading.Event()

        def work() -> None:
            while not ends.wait(PAUSE_S):
                self.write(CHUNK)

        writing = threading.Thread(target=work)
        writing.start()
        try:
            yield lambda: self.written
        finally:
            ends.set()
            writing.join()

    def numbers(self, count: int) -> list[int]:
        """What was written: those of the new query are above NEW."""
        return [found.value["A"] for found in self._run.read(self.sink, count)]

    def _plan(self, select: str) -> PersistentPlan:
        statements = Statements(prefix=f"{self._run.topics.prefix}-")
        return statements.query(f"CREATE STREAM X WITH (KAFKA_TOPIC='{self.sink}') AS {select};").plan

    def _id(self, name: str) -> str:
        return f"{self._run.query_id}-{name}"

    def checkpoint(self, name: str) -> str:
        return str(self._run.folder / name)


@pytest.mark.parametrize("guarantee", Guarantee)
def test_each_record_is_written_by_one_of_both_while_records_come(run: QueryRun, guarantee: Guarantee) -> None:
    two = Two(run, guarantee)
    two.write_row({"d": "y"})
    two.start("OLD", JOINED)
    with two.growing() as written:
        two.wait_until_read("OLD", 50)
        two.start("NEW", OTHERWISE, follows=JOINED)
        two.wait_until_read("NEW", written())
        two.stop("OLD")
        assert two.settle() is None
        two.start("NEW", OTHERWISE)
        two.wait_until_read("NEW", written() + 50)
    found = two.numbers(two.written)
    assert [number % NEW for number in found] == list(range(two.written))
    assert found == sorted(found)
    assert found[0] < NEW < found[-1]


def test_nothing_is_read_that_the_former_query_has_not_and_nothing_written(run: QueryRun) -> None:
    two = Two(run)
    two.write_row({"d": "y"})
    two.write(3)
    two.start("OLD", JOINED)
    two.wait_until_read("OLD", 4)
    two.stop("OLD")
    two.write(2)
    two.start("NEW", OTHERWISE, follows=JOINED)
    two.wait_until_read("NEW", 4)
    assert two.settle() is None
    # As a server would that has died before it could say that the new query is the stream's.
    two.start("OLD", JOINED)
    two.wait_until_read("OLD", 6)
    two.start("NEW", OTHERWISE, follows=JOINED)
    assert two.settle() == "It does not follow a query that has been stopped."
    two.start("NEW", OTHERWISE, follows=JOINED)
    two.stop("OLD")
    assert two.settle() is None
    two.start("NEW", OTHERWISE)
    two.write(1)
    assert two.numbers(6) == [0, 1, 2, 3, 4, NEW + 5]


def test_a_topic_that_the_former_query_did_not_read_only_tells_what_was(run: QueryRun) -> None:
    two = Two(run)
    two.start("OLD", "SELECT K, A, B AS D FROM S")
    two.write(2)
    two.wait_until_read("OLD", 2)
    two.write_row({"d": "y"})
    two.start("NEW", OTHERWISE, follows="SELECT K, A, B AS D FROM S")
    two.wait_until_read("NEW", 3)
    two.stop("OLD")
    assert two.settle() is None
    two.start("NEW", OTHERWISE)
    two.write(1)
    assert two.numbers(3) == [0, 1, NEW + 2]


def test_a_query_that_takes_the_place_of_one_that_never_ran_writes_everything(run: QueryRun) -> None:
    two = Two(run)
    two.write_row({"d": "y"})
    two.write(2)
    two.start("NEW", OTHERWISE, follows=JOINED)
    assert two.settle() is None
    two.start("NEW", OTHERWISE)
    assert two.numbers(2) == [NEW, NEW + 1]


def test_a_query_that_fails_can_be_replaced_and_what_it_has_not_written_is(run: QueryRun) -> None:
    two = Two(run, Guarantee.EXACTLY_ONCE)
    two.write_row({"d": "y"})
    two.write(2)
    two.start("OLD", JOINED, fails_on_bad_record=True)
    two.wait_until_read("OLD", 3)
    run.write(two.s, [("k", b"no JSON", T0 + 3)])
    run.expect(QueryFailed)
    run.events.clear()
    two.start("NEW", OTHERWISE, follows=JOINED)
    two.wait_until_read("NEW", 3)
    assert two.settle() is None
    two.start("NEW", OTHERWISE)
    two.write(1)
    assert two.numbers(3) == [0, 1, NEW + 2]


def test_places_that_read_the_same_topic_are_equally_far_when_another_query_goes_on(
    run: QueryRun, spark: SparkSession
) -> None:
    """Each of them asks by itself where the topic ends: so one may have got further in the last batch."""
    two = Two(run)
    twice = "SELECT K, A, B AS D FROM S UNION ALL SELECT K, A + 100 AS A, B AS D FROM S"
    two.start("OLD", twice)
    two.write(2)
    two.wait_until_read("OLD", 4)
    two.stop("OLD")
    folder = Folder(spark, two.checkpoint("OLD"))
    last = f"offsets/{max(int(name) for name in folder.names('offsets'))}"
    before, _, ahead = (folder.read(last) or "").rpartition("\n")
    behind = ahead.replace("2}}", "1}}")
    folder.write(last, f"{before}\n{behind}")
    # Nothing but the stop lets it read on.
    Folder(spark, two.checkpoint("GHOST")).write("sources/0/0", initial_text({two.s: {0: 1}}))
    two.start("OLD", twice, follows=twice, former="GHOST")
    two.start("NEW", twice, follows=twice)
    two.stop("OLD")
    assert places_of(folder.read(f"offsets/{int(last[8:]) + 1}") or "") == [{two.s: {0: 2}}, {two.s: {0: 2}}]
    assert two.settle() is None


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        # The number of the batch behind the one that a task has written.
        (GroupOffset("q/c/0", "sink", 0, 5), False),
        (GroupOffset("q/c/1", "sink", 0, 6), True),
        (GroupOffset("q/former/0", "sink", 0, 6), False),
        # Offsets of a topic, where there is no state.
        (GroupOffset("q/id", "t", 1, 7), False),
        (GroupOffset("q/place_1/id", "t", 1, 8), True),
        (GroupOffset("q/id", "t", 2, 1), True),
        (GroupOffset("q/former", "t", 1, 8), False),
        (GroupOffset("q/id", "other", 1, 8), False),
    ],
    ids=str,
)
def test_marks_tell_what_was_written_of_a_batch_that_is_not_done(mark: GroupOffset, expected: bool) -> None:
    read = Reached({"t": {1: 7}}, {"t": {1: 7}}, id="c", batch=4, is_begun=True)
    assert is_written_beyond("q", read, {"t": TopicState("id", {1: (0, 9)})}, [mark]) is expected


def test_rows_of_streams_that_the_former_query_has_read_find_partners(run: QueryRun) -> None:
    two = Two(run)
    joined = "SELECT S.K AS K, A, C FROM S JOIN R WITHIN {} HOURS GRACE PERIOD 1 DAY ON S.K = R.K"
    two.start("OLD", joined.format(1))
    two.write(2)
    run.write(two.r, [("k", {"c": 1}, T0), ("k", {"c": 2}, T0 + 180 * MINUTE)])
    assert two.numbers(2) == [0, 1]
    two.wait_until_read("OLD", 4)
    two.start("NEW", joined.format(10), follows=joined.format(1))
    two.wait_until_read("NEW", 4)
    two.stop("OLD")
    assert two.settle() is None
    two.start("NEW", joined.format(10))
    run.write(two.r, [("k", {"c": 3}, T0 + 180 * MINUTE)])
    found = [(each.value["A"], each.value["C"]) for each in run.read(two.sink, 4)]
    assert sorted(found) == [(0, 1), (0, 3), (1, 1), (1, 3)]
