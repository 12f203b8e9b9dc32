"""Clients do what they like, time passes, the broker crashes: the coordinator does what a simple model says, and its log tells all.

The model knows the offsets, and which members have settled: their last sync was answered, and nothing has happened since that
could disturb them. Of the rest it knows that every question is answered once, and that what the log comes to is what there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.join_group import JoinGroupResponse
from barnabas.wire.messages.sync_group import SyncGroupResponse
from core_broker.coordinators.groups.classic_group import ClassicGroup, State
from core_broker.coordinators.groups.group_offsets import Member
from core_broker.coordinators.groups.shard_state import GroupShardState
from tests.core_broker.coordinators.groups.classic_context import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    ClassicContext,
    Heard,
    Joiner,
)

TOPICS = ("t", "u")
PRODUCERS = (1, 2)
INSTANCES = (None, "i", "j")
OFFERS: tuple[dict[str, bytes], ...] = (
    {"range": b"1", "sticky": b"2"},
    {"sticky": b"3", "range": b"4"},
    {"range": b"5"},
)


@dataclass
class Client:
    """Somebody who wants to be in the group."""

    instance_id: str | None
    protocols: dict[str, bytes]
    member_id: str = ""
    generation: int = -1
    joining: Heard[JoinGroupResponse] | None = None
    syncing: Heard[SyncGroupResponse] | None = None
    heard_ms: int = 0

    @property
    def joiner(self) -> Joiner:
        return Joiner(self.member_id, self.instance_id, self.protocols)

    def hear(self) -> None:
        """Takes note of the answers that have come."""
        if self.joining:
            answer = self.joining.answer
            self.member_id = answer.member_id
            if answer.error_code == ErrorCode.NONE:
                self.generation = answer.generation_id
            elif answer.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = ""
            self.joining = None


@dataclass
class Offsets:
    """What committed offsets come to: the plain ones, and those that wait for the end of a transaction."""

    written: int = 0
    committed: dict[str, tuple[int, int]] = field(default_factory=dict)
    pending: dict[int, dict[str, tuple[int, int]]] = field(default_factory=dict)

    def commit(self, topic: str, offset: int) -> None:
        self.written += 1
        self.committed[topic] = (self.written, offset)

    def prepare(self, producer: int, topic: str, offset: int) -> None:
        self.written += 1
        self.pending.setdefault(producer, {})[topic] = (self.written, offset)

    def end(self, producer: int, commits: bool) -> None:
        for topic, entry in self.pending.pop(producer, {}).items():
            if commits and self.committed.get(topic, (0, 0)) < entry:
                self.committed[topic] = entry

    def forget(self) -> None:
        self.committed.clear()
        self.pending.clear()

    def expected(self, topic: str) -> int:
        return self.committed[topic][1] if topic in self.committed else -1


class Coordinator(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.context = ClassicContext()
        self.clients: list[Client] = []
        self.asked: list[Heard[JoinGroupResponse] | Heard[SyncGroupResponse]] = []
        self.settled: set[str] = set()
        self.offsets = Offsets()

    @property
    def group(self) -> ClassicGroup | None:
        group = self.context.shard.state.groups.get(GROUP)
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def unsettle(self) -> None:
        self.settled.clear()

    def idle(self) -> Iterator[Client]:
        """Clients that wait for nothing, as they would be: one question at a time."""
        for client in self.clients:
            client.hear()
            if client.joining is None and not (client.syncing is not None and not client.syncing):
                yield client

    def some(self, data: st.DataObject) -> Client | None:
        clients = list(self.idle())
        return data.draw(st.sampled_from(clients)) if clients else None

    # What clients do.

    @rule(instance=st.sampled_from(INSTANCES), protocols=st.sampled_from(OFFERS))
    def appear(self, instance: str | None, protocols: dict[str, bytes]) -> None:
        self.clients.append(Client(instance, protocols))

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def join(self, data: st.DataObject) -> None:
        client = self.some(data)
        if client is None:
            return
        self.unsettle()
        heard = self.context.join(client.joiner)
        client.joining = heard
        self.asked.append(heard)

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def sync(self, data: st.DataObject) -> None:
        client = self.some(data)
        if client is None or not client.member_id:
            return
        members = {other.member_id: b"to " + other.member_id.encode() for other in self.clients if other.member_id}
        heard = self.context.sync(client.member_id, client.generation, members, instance_id=client.instance_id)
        client.syncing = heard
        self.asked.append(heard)
        for other in self.clients:
            if other.syncing and other.syncing.error == ErrorCode.NONE:
                other.syncing = None
                other.heard_ms = self.context.time.now_ms()
                self.settled.add(other.member_id)

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def heartbeat(self, data: st.DataObject) -> None:
        client = self.some(data)
        if client is None:
            return
        error = self.context.heartbeat(client.member_id, client.generation, client.instance_id)
        if client.member_id in self.settled:
            assert error == ErrorCode.NONE
            client.heard_ms = self.context.time.now_ms()

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        client = self.some(data)
        if client is None:
            return
        self.unsettle()
        heard = self.context.leave((client.member_id, client.instance_id))
        assert len(heard) == 1
        client.member_id, client.generation = "", -1

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), topic=st.sampled_from(TOPICS), offset=st.integers(0, 100))
    def commit(self, data: st.DataObject, topic: str, offset: int) -> None:
        client = self.some(data)
        if client is None:
            return
        member = Member(client.member_id, client.instance_id, client.generation)
        error = self.context.commit(topic, 0, offset, member)
        if error == ErrorCode.NONE:
            self.offsets.commit(topic, offset)
            client.heard_ms = self.context.time.now_ms()
        assert client.member_id not in self.settled or error == ErrorCode.NONE

    @rule(producer=st.sampled_from(PRODUCERS), topic=st.sampled_from(TOPICS), offset=st.integers(0, 100))
    def commit_in_transaction(self, producer: int, topic: str, offset: int) -> None:
        if self.context.commit(topic, 0, offset, producer_id=producer) == ErrorCode.NONE:
            self.offsets.prepare(producer, topic, offset)
        else:
            assert self.context.shard.is_broken

    @rule(producer=st.sampled_from(PRODUCERS), commits=st.booleans())
    def end_transaction(self, producer: int, commits: bool) -> None:
        self.context.shard.mark(producer, commits=commits)
        self.offsets.end(producer, commits)

    @rule()
    def delete_group(self) -> None:
        group = self.group
        if group is not None and group.is_empty:
            self.unsettle()
            heard: list[KafkaError | None] = []
            self.context.shard.state.commits.delete_group(GROUP, heard.append)
            if heard == [None]:
                self.offsets.forget()
            else:
                assert self.context.shard.is_broken

    # What happens to them.

    @rule(duration_ms=st.sampled_from((1, 1500, 3000, SESSION_MS - 1, REBALANCE_MS)))
    def time_passes(self, duration_ms: int) -> None:
        self.context.time.pass_ms(duration_ms)
        now_ms = self.context.time.now_ms()
        if any(client.heard_ms + SESSION_MS <= now_ms for client in self.clients if client.member_id in self.settled):
            self.unsettle()

    @rule(broken=st.booleans())
    def the_disk_fails_or_heals(self, broken: bool) -> None:
        """Only requests that need the disk fail; everything else goes on."""
        self.context.shard.is_broken = broken
        if broken:
            self.unsettle()

    @rule()
    def crash(self) -> None:
        """Whoever waited hears nothing any more; who has settled does not notice."""
        self.context.shard.is_broken = False
        was_stable = self.group is not None and self.group.state is State.STABLE
        if not was_stable:
            self.unsettle()
        self.context.shard.state.deactivate()
        self.context.shard.reload()
        for client in self.clients:
            client.hear()
            client.joining = client.syncing = None
            client.heard_ms = self.context.time.now_ms()

    # What is always true.

    @invariant()
    def offsets_are_as_the_model_says(self) -> None:
        for topic in TOPICS:
            assert self.context.committed(topic) == self.offsets.expected(topic)
            pending = any(topic in entries for entries in self.offsets.pending.values())
            assert (self.context.committed(topic, stable=True) == "UNSTABLE_OFFSET_COMMIT") == pending

    @invariant()
    def nobody_is_answered_twice(self) -> None:
        assert all(len(heard) <= 1 for heard in self.asked)

    @invariant()
    def the_group_is_consistent(self) -> None:
        group = self.group
        if group is None:
            return
        assert group.joined_count == sum(member.joining is not None for member in group.members.values())
        assert group.metadata_bytes == sum(member.metadata_bytes for member in group.members.values())
        assert set(group.static.values()) <= set(group.members)
        assert not group.pending.keys() & group.members.keys()
        if group.members:
            assert group.leader in group.members
        if group.state is State.EMPTY:
            assert not group.members

    @invariant()
    def the_log_tells_what_there_is(self) -> None:
        live, rebuilt = self.context.shard.state, self.context.shard.rebuilt()
        assert offsets_of(live) == offsets_of(rebuilt)
        assert live.groups.keys() == rebuilt.groups.keys()
        group, again = self.group, rebuilt.groups.get(GROUP)
        if group is None:
            return
        assert isinstance(again, ClassicGroup)
        if group.state is State.STABLE or (group.state is State.EMPTY and not self.context.shard.is_broken):
            assert persistent(group) == persistent(again) or was_broken(group, again)

    def teardown(self) -> None:
        """In the end everybody is silent: all questions have been answered, and no timer is left but for nothing."""
        self.context.shard.is_broken = False
        for _ in range(4):
            self.context.time.pass_ms(400_000)
        group = self.group
        assert group is None or (group.is_empty and not group.pending)
        assert all(len(heard) == 1 for heard in self.asked)
        assert self.context.time.pending_count == 0


def offsets_of(state: GroupShardState) -> object:
    return state.offsets.of_group(GROUP), set(state.offsets.pending(GROUP))


def persistent(group: ClassicGroup) -> object:
    """What the log tells of a settled group."""
    members = {
        member_id: (member.instance_id, member.assignment, member.protocols.get(group.protocol or ""))
        for member_id, member in group.members.items()
    }
    return group.state, group.generation, group.protocol_type, group.protocol, group.leader, members


def was_broken(group: ClassicGroup, again: ClassicGroup) -> bool:
    """A group became empty while the disk failed: the log still has its last members, whose sessions will end."""
    return group.state is State.EMPTY and again.generation < group.generation


TestCoordinator = Coordinator.TestCase
TestCoordinator.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
