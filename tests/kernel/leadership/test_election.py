"""Elections among instances of one group: one leads at a time, and somebody leads again after every loss."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial

import orjson

from barnabas.kernel.leadership.assignment import Assignment
from barnabas.kernel.leadership.election import Election, ElectionSettings
from barnabas.kernel.leadership.identity import Identity
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode
from barnabas.wire.membership import Generation, GroupMember, GroupSettings, MemberOffer
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from schema_registry.store.failures import Fenced
from tests.broker import BrokerProcess
from tests.conftest import StartBroker
from tests.schema_registry.eventually import eventually
from tests.schema_registry.faults import FaultyClient
from tests.waiting import wait_for_async
from tests.wire.scripted_broker import ScriptedBroker

SHORT_SESSION_TIMEOUT_MS = 1_500
HEARTBEAT_INTERVAL_MS = 50


class Instance:
    """An instance that remembers how it was elected and deposed; `failures` are raised by its next elections."""

    def __init__(
        self,
        client: Client,
        group: str,
        name: str,
        *,
        sticky: bool = False,
        eligible: bool = True,
        session_timeout_ms: int = 10_000,
    ) -> None:
        self.identity = Identity("http", name, 8081, eligible)
        self.events: list[str] = []
        self.failures: list[Exception] = []
        settings = ElectionSettings(
            group, "sr", session_timeout_ms, heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS, sticky=sticky
        )
        self.election = Election(
            client,
            self.identity,
            settings,
            on_elected=self._on_elected,
            on_deposed=self._on_deposed,
            fenced=Fenced,
        )
        self.election.start()

    async def follows(self, leader: "Instance | None") -> None:
        """Return when this instance says that `leader` leads."""
        wanted = leader and leader.identity.url
        election = self.election
        await eventually(
            lambda: election.healthy and (election.leader and election.leader.url) == wanted,
            f"{self.identity.host} to follow {wanted}",
        )

    async def _on_elected(self) -> None:
        self.events.append("elected")
        if self.failures:
            raise self.failures.pop(0)

    async def _on_deposed(self) -> None:
        self.events.append("deposed")


async def stop(*instances: Instance) -> None:
    await asyncio.gather(*(instance.election.stop() for instance in instances))


def test_leaders_come_and_go(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            b = Instance(client, topic, "b")
            assert await b.election.settle(10)
            assert b.election.is_leader
            a = Instance(client, topic, "a")
            await asyncio.gather(a.follows(a), b.follows(a))
            assert (a.election.is_leader, b.election.is_leader) == (True, False)
            assert b.events == ["elected", "deposed"]
            await stop(a)
            await b.follows(b)
            assert a.events == ["elected", "deposed"]
            assert not a.election.healthy
            await stop(b)
            assert b.events == ["elected", "deposed"] * 2

    asyncio.run(scenario())


def test_a_sticky_leader_stays_when_a_smaller_url_joins(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            b = Instance(client, topic, "b", sticky=True)
            await b.follows(b)
            a = Instance(client, topic, "a", sticky=True)
            await asyncio.gather(a.follows(b), b.follows(b))
            assert (a.events, b.events) == ([], ["elected"])
            # A leader that the log has refused gives up, sticky or not.
            b.election.rejoin()
            await asyncio.gather(a.follows(a), b.follows(a))
            assert b.events == ["elected", "deposed"]
            await stop(a, b)

    asyncio.run(scenario())


def test_an_election_outlives_failures(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            a = Instance(client, topic, "a")
            a.failures = [RuntimeError("not yet"), Fenced("somebody else leads"), OSError("not yet")]
            await a.follows(a)
            assert a.events == ["elected", "elected", "deposed", "elected", "elected"]
            await stop(a)

    asyncio.run(scenario())


def test_two_instances_with_one_url_do_not_lead(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            one = Instance(client, topic, "same")
            await one.follows(one)
            other = Instance(client, topic, "same")
            for instance in (one, other):
                await eventually(partial(sees_one_url_twice, instance), "the error to be seen")
                assert (instance.election.leader, instance.election.healthy) == (None, False)
            await stop(other)
            await one.follows(one)
            await stop(one)

    asyncio.run(scenario())


def sees_one_url_twice(instance: Instance) -> bool:
    return "same URL" in (instance.election.error or "")


def test_nobody_leads_when_nobody_may(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            reader = Instance(client, topic, "reader", eligible=False)
            await reader.follows(None)
            assert reader.events == []
            await stop(reader)

    asyncio.run(scenario())


class Stranger:
    """A member as Confluent, Karapace or nobody knows who would send it; as the group's leader it elects nobody."""

    def __init__(self, metadata: bytes) -> None:
        self.metadata = metadata
        self.assignment = b""

    def protocols(self) -> Sequence[tuple[str, bytes]]:
        return [("v0", self.metadata)]

    def assign(self, protocol: str, members: Sequence[MemberOffer]) -> Mapping[str, bytes]:
        return {member.member_id: b"nonsense" for member in members}

    async def on_assigned(self, generation: Generation) -> None:
        self.assignment = generation.assignment

    async def on_revoked(self, generation: Generation) -> None:
        self.assignment = b""


def test_instances_of_other_makes_share_the_group(kafka: BrokerProcess, topic: str) -> None:
    confluent = b'{"host":"c","port":8081,"master_eligibility":true,"scheme":"http","version":1,"leader":false}'
    karapace = b'{"version":2,"karapace_version":"4","host":"k","port":8081,"scheme":"http","master_eligibility":true}'
    strangers = [Stranger(confluent), Stranger(karapace), Stranger(b"\xff")]

    async def scenario() -> None:
        async with Client(kafka.address) as client:
            b = Instance(client, topic, "b")
            await b.follows(b)
            settings = GroupSettings(topic, "sr", heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS)
            members = [GroupMember(client, settings, stranger) for stranger in strangers]
            runs = [asyncio.create_task(member.run()) for member in members]

            async def everyone_follows_b() -> bool:
                return all(
                    stranger.assignment and Assignment.parse(stranger.assignment).leader == b.identity
                    for stranger in strangers
                )

            await wait_for_async(everyone_follows_b, "all members to follow b")
            assert orjson.loads(strangers[0].assignment)["error"] == 0
            for member in members:
                member.stop()
            await asyncio.gather(*runs)
            await stop(b)

    asyncio.run(scenario())


def test_a_leader_that_is_cut_off_is_replaced_and_comes_back(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker(group_initial_rebalance_delay_ms=0, group_min_session_timeout_ms=SHORT_SESSION_TIMEOUT_MS)

    async def scenario() -> None:
        async with FaultyClient(broker.address) as lonely, Client(broker.address) as client:
            a = Instance(lonely, topic, "a", session_timeout_ms=SHORT_SESSION_TIMEOUT_MS)
            await a.follows(a)
            b = Instance(client, topic, "b", session_timeout_ms=SHORT_SESSION_TIMEOUT_MS)
            await asyncio.gather(a.follows(a), b.follows(a))
            await lonely.cut_off()
            await b.follows(b)
            assert (a.election.leader, a.election.healthy) == (None, False)
            lonely.mend()
            await asyncio.gather(a.follows(a), b.follows(a))
            assert b.events[-2:] == ["elected", "deposed"]
            await stop(a, b)

    asyncio.run(scenario())


def test_a_sticky_leader_resigns_before_another_is_elected_and_follows_it(
    start_broker: StartBroker, topic: str
) -> None:
    broker = start_broker(group_initial_rebalance_delay_ms=0, group_min_session_timeout_ms=SHORT_SESSION_TIMEOUT_MS)

    async def scenario() -> None:
        async with FaultyClient(broker.address) as lonely, Client(broker.address) as client:
            a = Instance(lonely, topic, "a", sticky=True, session_timeout_ms=SHORT_SESSION_TIMEOUT_MS)
            await a.follows(a)
            assert a.election.session_ends_s > time.monotonic()
            b = Instance(client, topic, "b", sticky=True, session_timeout_ms=SHORT_SESSION_TIMEOUT_MS)
            await asyncio.gather(a.follows(a), b.follows(a))
            await lonely.cut_off()
            await eventually(lambda: a.events == ["elected", "deposed"], "the lonely one to resign")
            assert b.events == []
            await b.follows(b)
            lonely.mend()
            await asyncio.gather(a.follows(b), b.follows(b))
            assert (a.events, b.events) == (["elected", "deposed"], ["elected"])
            await stop(a, b)

    asyncio.run(scenario())


def test_a_broker_that_restarts_elects_again(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker(group_initial_rebalance_delay_ms=0)

    async def scenario() -> None:
        async with Client(broker.address) as client:
            a = Instance(client, topic, "a")
            await a.follows(a)
            broker.kill()
            await eventually(lambda: not a.election.healthy, "the instance to notice")
            assert not a.election.is_leader
            await asyncio.to_thread(broker.start)
            await a.follows(a)
            assert a.events == ["elected", "deposed", "elected"]
            await stop(a)

    asyncio.run(scenario())


def test_a_refusal_for_good_is_tried_again_and_told() -> None:
    def refuse(request: JoinGroupRequest) -> JoinGroupResponse:
        return JoinGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)

    async def scenario() -> None:
        async with ScriptedBroker({JoinGroupRequest: refuse}) as broker, Client(broker.address) as client:
            a = Instance(client, "group", "a")
            await broker.wait_for(JoinGroupRequest, 3)
            assert "GROUP_AUTHORIZATION_FAILED" in (a.election.error or "")
            assert not a.election.healthy
            assert not await a.election.settle(0.001)
            await stop(a)

    asyncio.run(scenario())
