"""The order of rows, whatever batches and restarts they come in, and what the plan of a batch has to do with it."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.local.interleaving import WholeLine, merged
from streams_sql.spark.shards.stage import Chunk
from streams_sql.spark.shards.waiting_rows import WaitingChange, WaitingRows
from streams_sql.spark.sources import batch_plan
from streams_sql.spark.sources.batch_plan import BatchPlan, Pace, Planner, offsets_of, plan_of, read_pace
from streams_sql.spark.sources.ranges import Partition

TOPICS = ("table", "stream")
PARTITIONS: list[Partition] = [(topic, number) for topic in TOPICS for number in range(2)]
NO_PACE = Path("/nonexistent/pace")


def rank(partition: Partition) -> tuple[int, ...]:
    return TOPICS.index(partition[0]), partition[1]


def chunk_of(partition: Partition, times: list[int], start: int, end: int) -> Chunk:
    """Rows of a range, as its stage sends them."""
    rows = [(partition, offset) for offset in range(start, end)]
    return Chunk(list(accumulate(times[start:end], max)), [0] * len(rows), list(rows))


def in_order(lines: list[WholeLine]) -> list[object]:
    return [row for _, rows, _ in merged(lines) for row in rows]


@given(
    times=st.lists(st.lists(st.integers(0, 9), max_size=12), min_size=4, max_size=4),
    size=st.integers(1, 12),
    restarts=st.sets(st.integers(0, 20)),
)
def test_rows_go_in_the_order_of_their_times_wherever_batches_end(
    times: list[list[int]], size: int, restarts: set[int]
) -> None:
    records = dict(zip(PARTITIONS, times, strict=True))
    ends = {partition: len(found) for partition, found in records.items()}
    whole = [WholeLine(rank(each), *chunk_of(each, found, 0, len(found))) for each, found in records.items() if found]
    planner, plan = Planner(NO_PACE), BatchPlan(dict.fromkeys(PARTITIONS, 0))
    waiting, changes, gone = WaitingRows(), list[WaitingChange](), list[object]()
    for batch in range(100):
        following = planner.next(plan, ends, ends, size)
        if following is None:
            break
        for partition, end in following.ends.items():
            start = plan.ends[partition]
            if start < end:
                waiting.add(partition, chunk_of(partition, records[partition], start, end))
        for partition, end in following.ends.items():
            if read := records[partition][plan.ends[partition] : end]:
                waiting.reach(partition, max(read))
        released, _ = waiting.release(following.awaited, rank)
        gone += in_order(released)
        changes += waiting.changed()
        plan = following
        if batch in restarts:
            waiting = WaitingRows()
            for change in changes:
                waiting.restore(change)
    assert gone == in_order(whole)
    assert plan == BatchPlan(ends)
    assert waiting.count == 0


def test_what_is_known_as_a_whole_is_what_the_changes_say() -> None:
    waiting, restored = WaitingRows(), WaitingRows()
    late, awaited = PARTITIONS[3], {PARTITIONS[0]}
    waiting.add(late, Chunk([5, 6, 7], [0, 0, 0], [("a",), ("b",), ("c",)]))
    waiting.reach(late, 7)
    waiting.reach(PARTITIONS[0], 6)
    assert in_order(waiting.release(awaited, rank)[0]) == [("a",)]
    for change in waiting.whole():
        restored.restore(change)
    assert restored.count == 2
    assert in_order(restored.release((), rank)[0]) == [("b",), ("c",)]


def test_partitions_with_unread_records_are_awaited() -> None:
    begun, ends = BatchPlan({("t", 0): 0, ("s", 0): 0}), {("t", 0): 100, ("s", 0): 1}
    plan = Planner(NO_PACE).next(begun, ends, ends, 10)
    assert plan is not None
    assert plan.awaited == {("t", 0)}
    assert plan_of(offsets_of(plan, ["t", "s"])) == plan


def test_nothing_is_planned_while_nothing_may_be_read() -> None:
    begun = BatchPlan({("t", 0): 5}, frozenset({("t", 0)}))
    assert Planner(NO_PACE).next(begun, {("t", 0): 9}, {("t", 0): 5}, None) is None
    assert Planner(NO_PACE).next(BatchPlan({("t", 0): 5}), {("t", 0): 5}, {("t", 0): 5}, None) is None


def test_rows_that_wait_for_records_that_are_gone_are_let_go() -> None:
    begun = BatchPlan({("t", 0): 5, ("s", 0): 5}, frozenset({("t", 0)}))
    ends = {("t", 0): 5, ("s", 0): 5}
    assert Planner(NO_PACE).next(begun, ends, ends, None) == BatchPlan(ends)


def test_a_partition_that_is_caught_up_is_awaited_for_the_idle_time() -> None:
    now_s = [0.0]
    planner = Planner(NO_PACE, idle_ms=1_000, clock=lambda: now_s[0])
    begun, ends = BatchPlan({("t", 0): 0, ("s", 0): 0}), {("t", 0): 0, ("s", 0): 1}
    first = planner.next(begun, ends, ends, None)
    assert first == BatchPlan(ends, frozenset(ends))
    now_s[0] = 0.9
    assert planner.next(first, ends, ends, None) is None
    now_s[0] = 1.0
    assert planner.next(first, ends, ends, None) == BatchPlan(ends)


def test_with_too_many_rows_held_the_partitions_behind_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_plan, "HELD_ROWS_MAX", 10)
    begun = BatchPlan({("s", 0): 50, ("s", 1): 50, ("t", 0): 50})
    ends = {("s", 0): 90, ("s", 1): 90, ("t", 0): 50}
    path = tmp_path / "pace"
    pace = Pace({("s", 0): 1_000, ("s", 1): 2_000, ("t", 0): 3}, held_rows=11)
    pace.write(path)
    assert read_pace(path) == pace
    plan = Planner(path).next(begun, ends, ends, 20)
    assert plan is not None
    assert plan.ends == {("s", 0): 70, ("s", 1): 50, ("t", 0): 50}
    Pace(pace.times, held_rows=10).write(path)
    plan = Planner(path).next(begun, ends, ends, 20)
    assert plan is not None
    assert plan.ends == {("s", 0): 60, ("s", 1): 60, ("t", 0): 50}
