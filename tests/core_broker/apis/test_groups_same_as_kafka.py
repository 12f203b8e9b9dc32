"""Groups and offsets: conversations that Apache Kafka and we lead alike, also about what is wrong."""

from __future__ import annotations

import secrets

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.delete_groups import DeleteGroupsRequest
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.join_group import JoinGroupResponse
from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.broker import BarnabasBroker
from tests.core_broker.apis.group_requests import (
    TOPIC,
    beat,
    commit,
    delete_offsets,
    fetch,
    fetch_groups,
    join,
    leave,
    sync,
)
from tests.core_broker.apis.side_by_side import Side, SideBySide
from tests.oracle import ApacheKafka
from tests.waiting import wait_for

OTHER = "groups-side-by-side-other"
PARTITIONS = 3
JOIN, SYNC, BEAT, LEAVE = 9, 5, 4, 5


@pytest.fixture(scope="module")
def both(barnabas: BarnabasBroker, apache_kafka: ApacheKafka) -> SideBySide:
    both = SideBySide(barnabas.address, apache_kafka.address)
    both.prepare(TOPIC, PARTITIONS)
    both.prepare(OTHER, 1)
    return both


@pytest.fixture
def group() -> str:
    return f"group-{secrets.token_hex(4)}"


def enter(side: Side, group: str, who: str = "first", **more: object) -> JoinGroupResponse:
    """Joins as clients do; the only member of a group, which then has assigned to itself."""
    given = side.ask(join(group, "", **more), JOIN, who)
    assert isinstance(given, JoinGroupResponse)
    joined = side.ask(join(group, given.member_id, **more), JOIN, who)
    assert isinstance(joined, JoinGroupResponse)
    assert joined.error_code == ErrorCode.NONE
    kind = str(more.get("kind", "consumer"))
    side.ask(
        sync(
            group,
            joined.member_id,
            joined.generation_id,
            joined.member_id,
            kind=kind,
            protocol=joined.protocol_name,
        ),
        SYNC,
        who,
    )
    return joined


# Strangers.


@pytest.mark.parametrize("version", range(10))
def test_joining_a_group_that_is_not_there(both: SideBySide, group: str, version: int) -> None:
    def script(side: Side) -> None:
        side.ask(join(group, "made-up"), version)
        side.ask(join(""), version)
        side.ask(join(group, session_ms=1), version)
        side.ask(join(group, session_ms=2_000_000), version)
        side.ask(join(group, protocols={}), version)
        side.ask(join(group, kind=""), version)
        if version >= 5:
            side.ask(join(group, "made-up", instance="i"), version)

    both.agree(script)


def test_strangers(both: SideBySide, group: str) -> None:
    def script(side: Side) -> None:
        for version in range(6):
            side.ask(sync(group, "made-up", 1), version)
            side.ask(sync("", "made-up", 1), version)
        side.ask(sync(group, "made-up", 1, kind=None, protocol=None), 5)
        for version in range(5):
            side.ask(beat(group, "made-up", 1), version)
            side.ask(beat("", "made-up", 1), version)
        for version in range(6):
            side.ask(leave(group, ("made-up", None), member="made-up"), version)
            side.ask(leave("", ("made-up", None), member="made-up"), version)
        side.ask(leave(group), 5)
        side.ask(leave(group, ("", "i"), ("a", "b"), ("", None)), 5)
        for version in range(7):
            side.ask(DescribeGroupsRequest(groups=[group, ""], include_authorized_operations=version >= 3), version)
        for version in range(3):
            side.ask(DeleteGroupsRequest(groups_names=[group, group, ""]), version)
        side.ask(delete_offsets(group, (TOPIC, 0)), 0)
        side.ask(delete_offsets("", (TOPIC, 0)), 0)

    both.agree(script)


def test_offsets_of_a_group_that_is_not_there(both: SideBySide, group: str) -> None:
    def script(side: Side) -> None:
        for version in range(1, 8):
            side.ask(fetch(group, 0, 7), version)
            side.ask(fetch("", 0), version)
            if version >= 2:
                side.ask(fetch(group, everything=True), version)
        for version in (8, 9, 10):
            side.ask(fetch_groups(group, topic_id=side.topic_id(TOPIC)), version)
            side.ask(fetch_groups(group, "", everything=True), version)
        side.ask(fetch_groups(group, topic_id=b"x" * 16), 10)
        side.ask(fetch_groups(), 10)
        for version in range(2, 11):
            side.ask(
                commit(group, (TOPIC, 0, 5, "n"), member="m", generation=3, topic_id=side.topic_id(TOPIC)), version
            )
        side.ask(commit(group, (TOPIC, 0, 5, "n"), topic_id=b"x" * 16), 10)
        side.ask(commit(group), 9)

    both.agree(script)


# Lives.


@pytest.mark.parametrize("version", range(10))
def test_the_life_of_a_member(both: SideBySide, group: str, version: int) -> None:
    def script(side: Side) -> None:
        joined = side.ask(join(group), version)
        assert isinstance(joined, JoinGroupResponse)
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            joined = side.ask(join(group, joined.member_id), version)
            assert isinstance(joined, JoinGroupResponse)
        member = joined.member_id
        side.ask(join(group, member), version)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)
        side.ask(commit(group, (TOPIC, 0, 5, "n"), member=member, generation=1), 9)
        side.ask(beat(group, member, 1), BEAT)
        sync_version = min(version, SYNC)
        side.ask(sync(group, member, 0, member), sync_version)
        side.ask(sync(group, "other", 1, member), sync_version)
        side.ask(sync(group, member, 1, member, kind="connect"), sync_version)
        side.ask(sync(group, member, 1, member), sync_version)
        side.ask(sync(group, member, 1), sync_version)
        side.ask(beat(group, member, 1), min(version, BEAT))
        side.ask(beat(group, member, 2), min(version, BEAT))
        side.ask(DescribeGroupsRequest(groups=[group], include_authorized_operations=version >= 3), min(version, 6))
        commit_version = max(2, version)
        side.ask(commit(group, (TOPIC, 0, 5, "note"), member=member, generation=1), commit_version)
        side.ask(commit(group, (TOPIC, 0, 6, "note"), member=member, generation=0), commit_version)
        side.ask(commit(group, (TOPIC, 0, 6, "note"), member="other", generation=1), commit_version)
        side.ask(commit(group, (TOPIC, 0, 6, "note")), commit_version)
        if version >= 7:
            side.ask(commit(group, (TOPIC, 0, 6, ""), member=member, generation=1, instance="i"), commit_version)
        side.ask(fetch(group, 0, 1), max(1, min(version, 7)))
        side.ask(delete_offsets(group, (TOPIC, 0), (OTHER, 0), (OTHER, 9), ("nope", 0)), 0)
        side.ask(DeleteGroupsRequest(groups_names=[group]), 2)
        side.ask(leave(group, (member, None), member=member), min(version, LEAVE))
        side.ask(beat(group, member, 2), BEAT)
        side.ask(join(group, member), version)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)
        side.ask(delete_offsets(group, (TOPIC, 1)), 0)
        side.ask(DeleteGroupsRequest(groups_names=[group]), 2)
        side.ask(fetch(group, 0, 1), 7)

    both.agree(script)


def test_two_members_and_the_generations_between(both: SideBySide, group: str) -> None:
    def script(side: Side) -> None:
        first = enter(side, group).member_id
        given = side.ask(join(group), JOIN, "second")
        assert isinstance(given, JoinGroupResponse)
        second = given.member_id
        side.send(join(group, second), JOIN, "second")
        side.ask(beat(group, first, 1), BEAT, "first")
        while True:  # the other join may not have been looked at yet
            answer = side.ask(beat(group, first, 1), BEAT, "first")
            side.said.pop()
            if getattr(answer, "error_code", 0):
                break
        side.said[-1] = "a heartbeat"
        side.ask(sync(group, first, 1), SYNC, "first")
        side.ask(commit(group, (TOPIC, 0, 5, ""), member=first, generation=1), 9)
        side.ask(beat(group, second, 1), BEAT, "third")
        side.ask(DescribeGroupsRequest(groups=[group]), 6)
        side.ask(join(group, first), JOIN, "first")
        side.receive(join(group), JOIN, "second")
        side.send(sync(group, second, 2), SYNC, "second")
        side.ask(commit(group, (TOPIC, 0, 6, ""), member=first, generation=2), 9)
        side.ask(sync(group, first, 2, first, second, "stranger"), SYNC, "first")
        side.receive(sync(group, second, 2), SYNC, "second")
        side.ask(DescribeGroupsRequest(groups=[group]), 5)
        side.ask(join(group, second), JOIN, "second")
        side.ask(leave(group, (first, None), (second, None), ("stranger", None)), LEAVE, "first")
        side.ask(DescribeGroupsRequest(groups=[group]), 4)

    both.agree(script)


@pytest.mark.parametrize("version", [5, 8, 9])
def test_static_members(both: SideBySide, group: str, version: int) -> None:
    def script(side: Side) -> None:
        first = side.ask(join(group, instance="i"), version, "first")
        assert isinstance(first, JoinGroupResponse)
        side.ask(sync(group, first.member_id, 1, first.member_id, instance="i"), SYNC, "first")
        second = side.ask(join(group, instance="i"), version, "second")
        assert isinstance(second, JoinGroupResponse)
        side.ask(beat(group, first.member_id, 1, "i"), BEAT)
        side.ask(beat(group, first.member_id, 1), BEAT)
        side.ask(beat(group, second.member_id, 1, "i"), BEAT)
        side.ask(beat(group, second.member_id, 1, "j"), BEAT)
        side.ask(sync(group, first.member_id, 1, instance="i"), SYNC)
        side.ask(sync(group, second.member_id, 1, instance="i"), SYNC)
        side.ask(join(group, first.member_id, instance="i"), version)
        side.ask(commit(group, (TOPIC, 0, 1, ""), member=first.member_id, generation=1, instance="i"), 9)
        side.ask(commit(group, (TOPIC, 0, 1, ""), member=second.member_id, generation=1, instance="i"), 9)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)
        side.ask(leave(group, (first.member_id, "i")), LEAVE)
        side.ask(leave(group, ("", "i")), LEAVE)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)

    both.agree(script)


@pytest.mark.parametrize("kind", ["connect", "sr", "\N{SNOWMAN}"])
def test_groups_of_other_types(both: SideBySide, group: str, kind: str) -> None:
    def script(side: Side) -> None:
        protocols = {"v0": b"\xff\xff", "v1": b""}
        member = enter(side, group, kind=kind, protocols=protocols).member_id
        side.ask(join(group, kind="consumer"), JOIN)
        side.ask(join(group, kind=kind, protocols={"v2": b""}), JOIN)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)
        side.ask(delete_offsets(group, (TOPIC, 0)), 0)
        side.ask(leave(group, (member, None)), LEAVE)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)

    both.agree(script)


@pytest.mark.parametrize(
    "offers",
    [
        ({"range": b"1", "sticky": b"2"}, {"sticky": b"3", "range": b"4"}),
        ({"roundrobin": b"1", "range": b"2"}, {"range": b"3", "roundrobin": b"4"}),
        ({"a": b"", "b": b"", "c": b""}, {"c": b"", "b": b""}),
    ],
)
def test_which_protocol_is_chosen(both: SideBySide, group: str, offers: tuple[dict[str, bytes], ...]) -> None:
    def script(side: Side) -> None:
        first = enter(side, group, protocols=offers[0]).member_id
        given = side.ask(join(group, protocols=offers[1]), JOIN, "second")
        assert isinstance(given, JoinGroupResponse)
        side.send(join(group, given.member_id, protocols=offers[1]), JOIN, "second")
        side.ask(join(group, first, protocols=offers[0]), JOIN, "first")
        side.receive(join(group), JOIN, "second")
        side.ask(leave(group, (first, None), (given.member_id, None)), LEAVE)

    both.agree(script)


# Offsets.


def test_offsets_in_every_version(both: SideBySide, group: str) -> None:
    def script(side: Side) -> None:
        topic_id = side.topic_id(TOPIC)
        for version in range(2, 11):
            side.ask(
                commit(group, (TOPIC, version % PARTITIONS, version, f"note {version}"), topic_id=topic_id), version
            )
        side.ask(commit(group, (OTHER, 0, 2**40, None)), 9)
        for version in range(1, 8):
            side.ask(fetch(group, 0, 1, 2, 3), version)
            side.ask(fetch(group, 0, topic="nope"), version)
            if version >= 2:
                side.ask(fetch(group, everything=True), version)
        for version in (8, 9, 10):
            side.ask(fetch_groups(group, "nope", topic_id=topic_id, require_stable=True), version)
            side.ask(fetch_groups(group, everything=True), version)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)
        side.ask(delete_offsets(group, (TOPIC, 0), (TOPIC, 7), ("nope", 0), (OTHER, 0)), 0)
        side.ask(fetch(group, everything=True), 7)
        side.ask(DeleteGroupsRequest(groups_names=[group]), 2)
        side.ask(fetch(group, everything=True), 7)

    both.agree(script)


@pytest.mark.parametrize("version", [2, 7, 9])
def test_offsets_that_cannot_be_committed(both: SideBySide, group: str, version: int) -> None:
    def script(side: Side) -> None:
        side.ask(
            commit(
                group,
                (TOPIC, 0, 1, "x" * 4096),
                (TOPIC, 1, 1, "x" * 4097),
                (TOPIC, 2, 1, "\N{SNOWMAN}" * 4000),
                (TOPIC, 9, 1, ""),
                (TOPIC, -1, 1, ""),
                ("nope", 0, 1, ""),
                (OTHER, 0, -1, ""),
                (OTHER, 0, -5, ""),
            ),
            version,
        )
        side.ask(fetch(group, everything=True), 7)

    both.agree(script)


def test_an_empty_group_id_keeps_offsets_too(both: SideBySide) -> None:
    def script(side: Side) -> None:
        side.ask(commit("", (TOPIC, 0, 3, "")), 5)
        side.ask(fetch("", 0), 5)
        side.ask(DescribeGroupsRequest(groups=[""]), 6)
        side.ask(DeleteGroupsRequest(groups_names=[""]), 2)
        side.ask(fetch("", 0), 5)

    both.agree(script)


# Hostile names.

HOSTILE = ["x" * 30_000, "\0", "../../etc/passwd", "a\nb", "\N{SNOWMAN}" * 10, " ", "%s%n", "\ufeff"]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names(both: SideBySide, group: str, name: str) -> None:
    def script(side: Side) -> None:
        side.ask(join(group, name), JOIN)
        side.ask(sync(group, name, 1, name), SYNC)
        side.ask(beat(group, name, 1, name), BEAT)
        side.ask(leave(group, (name, name), ("", name)), LEAVE)
        side.ask(commit(group, (TOPIC, 0, 1, ""), member=name, generation=1, instance=name), 9)
        side.ask(join(group, protocols={name: b"x"}), JOIN)
        side.ask(DescribeGroupsRequest(groups=[f"{group}{name}"[:32_000]]), 6)
        named = side.ask(join(group, instance=name, protocols={name: b"x"}), JOIN)
        assert isinstance(named, JoinGroupResponse)
        side.ask(sync(group, named.member_id, 1, named.member_id, instance=name, protocol=name), SYNC)
        side.ask(DescribeGroupsRequest(groups=[group]), 6)
        side.ask(leave(group, ("", name)), LEAVE)

    both.agree(script)


# Lists.


@pytest.mark.parametrize("version", range(6))
def test_listed_groups(both: SideBySide, version: int) -> None:
    prefix = f"listed-{secrets.token_hex(4)}"
    names = {f"{prefix}-{name}" for name in ("stable", "simple", "empty")}
    filters: list[tuple[list[str], list[str]]] = [([], [])]
    if version >= 4:
        filters += [(["Stable"], []), (["stable", " EMPTY "], []), (["Dead"], []), (["nonsense"], [])]
    if version >= 5:
        filters += [([], ["classic"]), ([], ["Classic", "consumer"]), (["Empty"], ["consumer"]), ([], ["nonsense"])]

    def listed(
        side: Side, states: list[str], types: list[str]
    ) -> tuple[list[str], list[str], int, list[tuple[str, ...]]]:
        answer = side.ask(ListGroupsRequest(states_filter=states, types_filter=types), version)
        side.said.pop()
        assert isinstance(answer, ListGroupsResponse)
        found = [
            (group.group_id, group.protocol_type, group.group_state, group.group_type)
            for group in answer.groups
            if group.group_id in names
        ]
        return states, types, answer.error_code, sorted(found)

    def script(side: Side) -> None:
        enter(side, f"{prefix}-stable")
        side.ask(commit(f"{prefix}-simple", (TOPIC, 0, 1, "")), 9)
        side.ask(join(f"{prefix}-empty"), JOIN)
        # Kafka lists what its log holds: a group that was just made comes a moment later.
        wait_for(lambda: len(listed(side, [], [])[3]) == len(names), "all groups to be listed")
        side.said += [listed(side, states, types) for states, types in filters]

    both.agree(script)


# Coordinators.


@pytest.mark.parametrize("version", range(7))
def test_finding_coordinators(both: SideBySide, version: int) -> None:
    def script(side: Side) -> None:
        for kind in (0,) if version == 0 else (0, 3, -1):
            for key in ("g", ""):
                side.ask(FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key, "other"]), version)

    both.agree(script)
