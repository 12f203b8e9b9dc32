"""Group membership: with the coordinator of Apache Kafka, and with a scripted one for what goes wrong."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.membership import Generation, GroupMember, GroupSettings, MemberOffer
from barnabas.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from barnabas.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.oracle import ApacheKafka
from tests.wire.scripted_broker import Answer, ScriptedBroker

DEADLINE_S = 90
SETTINGS = GroupSettings("workers", "election", session_timeout_ms=10_000, heartbeat_interval_ms=50)


class Worker:
    """A participant that remembers what it was told; as leader it tells everyone who else is there."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.generation: Generation | None = None
        self.events: list[str] = []
        self._changed = asyncio.Condition()

    def protocols(self) -> Sequence[tuple[str, bytes]]:
        return [("v1", self.name.encode()), ("v0", b"old " + self.name.encode())]

    def assign(self, protocol: str, members: Sequence[MemberOffer]) -> Mapping[str, bytes]:
        everyone = b",".join(sorted(member.metadata for member in members))
        return {member.member_id: protocol.encode() + b":" + everyone for member in members}

    async def on_assigned(self, generation: Generation) -> None:
        await self._change("assigned", generation)

    async def on_revoked(self, generation: Generation) -> None:
        assert generation == self.generation
        await self._change("revoked", None)

    async def wait_for(self, condition: Callable[[Generation], bool]) -> Generation:
        """The first generation that meets the condition."""
        async with asyncio.timeout(DEADLINE_S), self._changed:
            await self._changed.wait_for(lambda: self.generation is not None and condition(self.generation))
            assert self.generation is not None
            return self.generation

    async def _change(self, event: str, generation: Generation | None) -> None:
        async with self._changed:
            self.events.append(event)
            self.generation = generation
            self._changed.notify_all()


def start(client: Client, worker: Worker, settings: GroupSettings) -> tuple[GroupMember, "asyncio.Task[None]"]:
    member = GroupMember(client, settings, worker)
    return member, asyncio.create_task(member.run())


def test_a_group_of_two_on_apache_kafka(apache_kafka: ApacheKafka) -> None:
    async def scenario() -> None:
        async with Client(apache_kafka.address) as client:
            first, second = Worker("first"), Worker("second")
            first_member, first_run = start(client, first, SETTINGS)
            alone = await first.wait_for(lambda generation: generation.assignment == b"v1:first")
            assert alone.is_leader

            second_member, second_run = start(client, second, SETTINGS)
            together = b"v1:first,second"
            ours = await first.wait_for(lambda generation: generation.assignment == together)
            theirs = await second.wait_for(lambda generation: generation.number == ours.number)
            assert theirs.assignment == together
            assert ours.leader_id == theirs.leader_id
            assert ours.is_leader != theirs.is_leader
            assert first.events == ["assigned", "revoked", "assigned"]

            first_member.stop()
            await first_run
            assert first.events[-1] == "revoked"
            last = await second.wait_for(lambda generation: generation.assignment == b"v1:second")
            assert last.is_leader

            second_member.rejoin()
            await second.wait_for(lambda generation: generation.number > last.number)
            second_member.stop()
            await second_run

    asyncio.run(scenario())


def test_a_static_member_keeps_its_place_on_apache_kafka(apache_kafka: ApacheKafka) -> None:
    settings = GroupSettings("static-workers", "election", heartbeat_interval_ms=50, instance_id="one")

    async def scenario() -> None:
        async with Client(apache_kafka.address) as client:
            generations = []
            for _ in range(2):
                worker = Worker("same")
                member, run = start(client, worker, settings)
                generations.append(await worker.wait_for(lambda generation: True))
                member.stop()
                await run
            assert generations[0].assignment == generations[1].assignment == b"v1:same"
            assert generations[0].number == generations[1].number

    asyncio.run(scenario())


class Coordinator(ScriptedBroker):
    """Accepts a single member at once; `refusals` are answered first, one per request of their class."""

    def __init__(self, refusals: Mapping[type[Any], Sequence[ErrorCode]]) -> None:
        self.generation = 0
        self._refusals = {cls: list(codes) for cls, codes in refusals.items()}
        super().__init__(
            {
                JoinGroupRequest: self._join,
                SyncGroupRequest: self._sync,
                HeartbeatRequest: lambda request: HeartbeatResponse(error_code=self._refusal(HeartbeatRequest)),
                LeaveGroupRequest: lambda request: LeaveGroupResponse(),
            }
        )

    def _refusal(self, cls: type[Any]) -> ErrorCode:
        codes = self._refusals.get(cls)
        return codes.pop(0) if codes else ErrorCode.NONE

    def _join(self, request: JoinGroupRequest) -> JoinGroupResponse:
        code = self._refusal(JoinGroupRequest)
        member_id = request.member_id or f"member-{len(self.seen(JoinGroupRequest))}"
        if code:
            return JoinGroupResponse(error_code=code, member_id=member_id)
        self.generation += 1
        offer = JoinGroupResponseMember(member_id=member_id, metadata=request.protocols[0].metadata)
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_name=request.protocols[0].name,
            leader=member_id,
            member_id=member_id,
            members=[offer],
        )

    def _sync(self, request: SyncGroupRequest) -> SyncGroupResponse:
        code = self._refusal(SyncGroupRequest)
        return SyncGroupResponse(error_code=code, assignment=b"" if code else request.assignments[0].assignment)


def run_against(
    refusals: Mapping[type[Any], Sequence[ErrorCode]], until_generation: int, settings: GroupSettings = SETTINGS
) -> tuple[Coordinator, Worker]:
    """One member until it has reached a generation; then it leaves."""

    async def scenario() -> tuple[Coordinator, Worker]:
        async with Coordinator(refusals) as broker, Client(broker.address) as client:
            worker = Worker("w")
            member, run = start(client, worker, settings)
            await worker.wait_for(lambda generation: generation.number == until_generation)
            member.stop()
            await run
            return broker, worker

    return asyncio.run(scenario())


def test_the_member_id_that_the_coordinator_demands_is_used() -> None:
    broker, worker = run_against({JoinGroupRequest: [ErrorCode.MEMBER_ID_REQUIRED]}, until_generation=1)
    assert [request.member_id for request in broker.seen(JoinGroupRequest)] == ["", "member-1"]
    assert worker.events == ["assigned", "revoked"]
    assert broker.seen(LeaveGroupRequest)[0].members[0].member_id == "member-1"


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        (ErrorCode.REBALANCE_IN_PROGRESS, True),
        (ErrorCode.ILLEGAL_GENERATION, True),
        (ErrorCode.UNKNOWN_MEMBER_ID, False),
    ],
)
def test_a_heartbeat_that_ends_the_generation(code: ErrorCode, kept: bool) -> None:
    broker, worker = run_against({HeartbeatRequest: [ErrorCode.NONE, code]}, until_generation=2)
    assert worker.events == ["assigned", "revoked", "assigned", "revoked"]
    assert [request.member_id for request in broker.seen(JoinGroupRequest)] == ["", "member-1" if kept else ""]


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS])
def test_another_coordinator_is_looked_for(code: ErrorCode) -> None:
    broker, worker = run_against({JoinGroupRequest: [code], SyncGroupRequest: [code]}, until_generation=2)
    assert len(broker.seen(JoinGroupRequest)) == 3
    assert worker.events == ["assigned", "revoked"]


def test_a_static_member_does_not_leave() -> None:
    static = GroupSettings("workers", "election", heartbeat_interval_ms=50, instance_id="one")
    broker, _ = run_against({}, until_generation=1, settings=static)
    assert broker.seen(JoinGroupRequest)[0].group_instance_id == "one"
    assert broker.seen(LeaveGroupRequest) == []


def test_a_final_refusal_ends_the_membership() -> None:
    async def scenario() -> None:
        refusals = {JoinGroupRequest: [ErrorCode.INCONSISTENT_GROUP_PROTOCOL]}
        async with Coordinator(refusals) as broker, Client(broker.address) as client:
            with pytest.raises(KafkaError, match="join of group 'workers'") as caught:
                await GroupMember(client, SETTINGS, Worker("w")).run()
            assert caught.value.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL

    asyncio.run(scenario())


def test_a_lost_connection_is_replaced() -> None:
    async def scenario() -> None:
        async with Coordinator({}) as broker, Client(broker.address) as client:
            worker = Worker("w")
            member, run = start(client, worker, SETTINGS)
            await worker.wait_for(lambda generation: generation.number == 1)
            broker.drop_connections()
            await worker.wait_for(lambda generation: generation.number == 2)
            member.stop()
            await run
            assert worker.events == ["assigned", "revoked", "assigned", "revoked"]

    asyncio.run(scenario())


def test_cancelling_leaves_the_group() -> None:
    async def scenario() -> None:
        async with Coordinator({}) as broker, Client(broker.address) as client:
            worker = Worker("w")
            _, run = start(client, worker, SETTINGS)
            await worker.wait_for(lambda generation: True)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            assert worker.events == ["assigned", "revoked"]
            assert len(broker.seen(LeaveGroupRequest)) == 1

    asyncio.run(scenario())


def test_stopping_does_not_wait_for_a_join_that_the_coordinator_holds() -> None:
    async def scenario() -> None:
        answers: dict[type[Any], Answer] = {
            JoinGroupRequest: lambda request: None,
            LeaveGroupRequest: lambda request: LeaveGroupResponse(),
        }
        async with ScriptedBroker(answers) as broker, Client(broker.address) as client:
            member, run = start(client, Worker("w"), SETTINGS)
            await broker.wait_for(JoinGroupRequest, 1)
            member.stop()
            async with asyncio.timeout(DEADLINE_S):
                await run

    asyncio.run(scenario())
