"""Where resets send a group: inside of the log always, by the amount that was asked for, and the same after a trip through CSV."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.groups.offset_resets import clamp, current, shift
from barnabas.kafka_tools.groups.reset_lookups import parse_partitions
from barnabas.kafka_tools.groups.reset_plan import format_plan, parse_plan
from barnabas.kernel.java.durations import parse_date_time_ms, parse_duration_ms

names = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12)
places = st.builds(TopicPartition, names, st.integers(0, 1 << 31))
offsets = st.integers(-(1 << 62), 1 << 62)
ends = st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40)).map(sorted)
SECOND_MS = 1_000
DAY_MS = 86_400_000


@given(st.dictionaries(places, st.tuples(offsets, ends), max_size=8))
def test_an_offset_is_moved_no_further_than_to_the_end_of_the_log(
    wanted: dict[TopicPartition, tuple[int, list[int]]],
) -> None:
    starts = {place: log[0] for place, (_, log) in wanted.items()}
    stops = {place: log[1] for place, (_, log) in wanted.items()}
    found, moved = clamp({place: offset for place, (offset, _) in wanted.items()}, starts, stops)
    assert list(found) == list(wanted)
    complaints = {one.partition: one for one in moved}
    for place, (offset, (start, stop)) in wanted.items():
        assert start <= found[place] <= stop
        if start <= offset <= stop:
            assert found[place] == offset
            assert place not in complaints
        else:
            assert found[place] == (start if offset < start else stop)
            side = "lower than earliest" if offset < start else "higher than latest"
            assert complaints[place].complaint == f"New offset ({offset}) is {side} offset"


@given(st.dictionaries(places, st.integers(0, 1 << 62), min_size=1, max_size=8), offsets)
def test_a_shift_is_undone_by_the_opposite_one(committed: dict[TopicPartition, int], by: int) -> None:
    there = shift(list(committed), committed, by)
    assert {place: offset - by for place, offset in there.items()} == committed
    assert shift(list(committed), there, -by) == committed


def test_what_was_never_committed_cannot_be_shifted() -> None:
    with pytest.raises(ValueError, match="partition t-1 since there is no current committed offset"):
        shift([TopicPartition("t", 0), TopicPartition("t", 1)], {TopicPartition("t", 0): 5}, 1)


@given(st.dictionaries(places, st.tuples(st.none() | st.integers(0, 99), st.integers(100, 200)), max_size=8))
def test_to_current_keeps_what_is_committed_and_takes_the_end_elsewhere(
    logs: dict[TopicPartition, tuple[int | None, int]],
) -> None:
    committed = {place: offset for place, (offset, _) in logs.items() if offset is not None}
    found = current(list(logs), committed, {place: end for place, (_, end) in logs.items()})
    assert found == {place: end if offset is None else offset for place, (offset, end) in logs.items()}


@given(st.dictionaries(names, st.dictionaries(places, offsets, min_size=1, max_size=4), min_size=1, max_size=3))
def test_a_plan_survives_csv(plan: dict[str, dict[TopicPartition, int]]) -> None:
    rows = [(group, place, offset) for group, planned in plan.items() for place, offset in planned.items()]
    assert parse_plan(format_plan(rows, with_group=True), list(plan) if len(plan) > 1 else ["a", "b"]) == plan
    only = next(iter(plan))
    single = [row for row in rows if row[0] == only]
    assert parse_plan(format_plan(single, with_group=False), [only]) == {only: plan[only]}


def test_a_plan_with_groups_is_read_for_one_group_too() -> None:
    plan = parse_plan('g1,t,0,5\n"g2",t,1,6\n', ["g1"])
    assert plan == {"g1": {TopicPartition("t", 0): 5}, "g2": {TopicPartition("t", 1): 6}}


@pytest.mark.parametrize("text", ["t,0,1\nt,0,1,2\n", "g,t,0,1\ng,t,zero,1\n"])
def test_a_broken_plan_names_its_line(text: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse_plan(text, ["g"])


@given(st.integers(0, 250_000_000_000_000), st.integers(-18 * 60, 18 * 60))
def test_points_in_time_are_read_with_and_without_an_offset(utc_ms: int, offset_minutes: int) -> None:
    moment = datetime(1970, 1, 2, tzinfo=UTC) + timedelta(milliseconds=utc_ms)
    expected_ms = DAY_MS + utc_ms
    text = moment.isoformat(timespec="milliseconds").removesuffix("+00:00")
    assert parse_date_time_ms(text) == parse_date_time_ms(text + "Z") == expected_ms
    local = moment.astimezone(timezone(timedelta(minutes=offset_minutes)))
    assert parse_date_time_ms(local.isoformat(timespec="milliseconds")) == expected_ms


@pytest.mark.parametrize(
    "text",
    [
        "2026",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-13-01T00:00:00.000",
        "2026-01-01T24:00:00.000",
        "2026-01-01T00:00:00.000+99:00",
    ],
)
def test_other_points_in_time_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Unparseable date|does not contain a 'T'"):
        parse_date_time_ms(text)


@given(st.integers(-999, 999), st.integers(-99, 99), st.integers(-99, 99), st.integers(-9999, 9999), st.booleans())
def test_durations_add_up(days: int, hours: int, minutes: int, seconds: int, negative: bool) -> None:
    text = f"{'-' if negative else ''}P{days}DT{hours}H{minutes}M{seconds}S"
    total_ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * SECOND_MS
    assert parse_duration_ms(text) == (-total_ms if negative else total_ms)


@pytest.mark.parametrize(
    ("text", "expected_ms"), [("PT0.5S", 500), ("PT1.25S", 1250), ("P1D", 86_400_000), ("pt2h", 7_200_000)]
)
def test_parts_of_a_duration_may_be_left_out(text: str, expected_ms: int) -> None:
    assert parse_duration_ms(text) == expected_ms


@pytest.mark.parametrize("text", ["", "P", "PT", "1D", "P1Y", "P1DT", "PT1.S1", "yesterday"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be parsed to a Duration"):
        parse_duration_ms(text)


@given(
    names.filter(lambda name: ":" not in name and name.strip()),
    st.lists(st.integers(0, 1 << 31), min_size=1, max_size=5),
)
def test_partitions_are_named_behind_a_colon(topic: str, numbers: list[int]) -> None:
    found = parse_partitions(f"{topic}:{','.join(map(str, numbers))}")
    assert found == [TopicPartition(topic, number) for number in numbers]


@pytest.mark.parametrize("argument", ["t:", "t:1:2", ":", "t:x", "t:1,,2"])
def test_other_partitions_are_refused(argument: str) -> None:
    with pytest.raises(ValueError, match="Invalid"):
        parse_partitions(argument)
