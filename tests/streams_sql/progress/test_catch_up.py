"""When a reader of topics is said to be behind."""

from __future__ import annotations

from streams_sql.progress.backlog import Ranges
from streams_sql.progress.catch_up import CatchUp

LAG_S = 5.0


class Reader:
    """A reader of one partition, looked at once a second."""

    def __init__(self) -> None:
        self.catch_up = CatchUp(["t"], LAG_S)
        self.now_s = 0.0

    def read(self, position: int) -> None:
        self.catch_up.report({"t": {0: position}})

    def look(self, end: int, start: int = 0, *, are_inputs_complete: bool = True) -> bool:
        self.catch_up.begin_look()
        return self.end_look(end, start, are_inputs_complete=are_inputs_complete)

    def end_look(self, end: int, start: int = 0, *, are_inputs_complete: bool = True) -> bool:
        ranges: Ranges = {"t": {0: (start, end)}}
        self.catch_up.end_look(ranges, self.now_s, are_inputs_complete=are_inputs_complete)
        self.now_s += 1.0
        return self.catch_up.is_complete

    @property
    def text(self) -> str:
        assert self.catch_up.backlog is not None
        return self.catch_up.backlog.text


def test_it_is_behind_until_it_has_read_what_there_was_at_first() -> None:
    reader = Reader()
    assert not reader.look(200, 100)
    assert reader.text == "has not finished a batch since it was started; its topics have 100 records"
    reader.read(150)
    assert not reader.look(200, 100)
    assert reader.text == "has read 50 % of its topics and is 50 records behind"
    reader.read(200)
    assert reader.look(210, 100)


def test_a_topic_without_records_needs_no_reading() -> None:
    assert Reader().look(0)


def test_records_that_have_just_come_do_not_count_as_lag() -> None:
    reader = Reader()
    reader.look(0)
    for end in range(100, 2_000, 100):
        reader.read(end - 100)
        assert reader.look(end)


def test_it_lags_when_records_of_some_seconds_ago_are_not_read() -> None:
    reader = Reader()
    reader.read(100)
    assert reader.look(100)
    assert [reader.look(101 + second) for second in range(7)] == [True] * 5 + [False] * 2
    assert reader.text == "has read 93 % of its topics and is 7 records behind"
    # What has come meanwhile was not there some seconds ago.
    reader.read(103)
    assert reader.look(200)


def test_the_percentage_is_100_only_when_nothing_is_left() -> None:
    reader = Reader()
    reader.read(99_999)
    reader.look(100_000)
    assert reader.text == "has read 99 % of its topics and is 1 records behind"


def test_it_has_not_caught_up_before_those_that_write_its_topics() -> None:
    reader = Reader()
    reader.read(10)
    assert not reader.look(10, are_inputs_complete=False)
    # The last rows of its input came with the batch by which that was complete.
    assert not reader.look(20)
    reader.read(20)
    assert reader.look(25)


def test_a_position_that_is_reported_while_topics_are_looked_at_counts_the_next_time() -> None:
    reader = Reader()
    reader.catch_up.begin_look()
    reader.read(10)
    assert not reader.end_look(10)
    assert reader.look(10)


def test_a_query_that_finds_nothing_has_read_what_was_found_before() -> None:
    reader = Reader()
    reader.look(100)
    reader.catch_up.report_idle(reader.now_s - 0.9)
    assert not reader.look(100), "the look may be younger than what the query has found"
    reader.catch_up.report_idle(reader.now_s)
    assert reader.look(100)


def test_rows_that_are_held_back_are_not_in_the_results() -> None:
    reader = Reader()
    reader.catch_up.report({"t": {0: 10}}, has_held=True)
    assert not reader.look(10)
    reader.read(10)
    assert reader.look(10)
