"""A broker is killed while groups rebalance and commit: no acknowledged offset is lost, and the members come back."""

from __future__ import annotations

import threading
from random import Random, SystemRandom

from barnabas.wire.errors import ErrorCode
from tests.broker import BarnabasBroker
from tests.conftest import StartBroker
from tests.core_broker.coordinators.groups.group_client import GroupClient
from tests.waiting import wait_for

SEED = SystemRandom().randrange(10**9)
GROUP = "restless"
MEMBERS = 4
KILLS = 3
ACKNOWLEDGED_BEFORE_KILL_MAX = 60
SESSION_MS = 1000
COMMITS_PER_MEMBERSHIP = 10
PAUSE_S = 0.005


class RestlessMember(threading.Thread):
    """Joins, commits to a partition of its own and leaves, over and over, whatever happens to the broker."""

    def __init__(self, broker: BarnabasBroker, partition: int) -> None:
        super().__init__(name=f"member {partition}")
        self._address = broker.address  # which it keeps over restarts
        self.partition = partition
        self._client: GroupClient | None = None
        self._member_id = ""
        self.acknowledged = -1
        self.attempted = -1
        self.memberships = 0
        self.stopping = threading.Event()
        self.problem: Exception | None = None

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                try:
                    self._live()
                except OSError:  # the broker was killed
                    self._hang_up()
                    self.stopping.wait(PAUSE_S)
        except Exception as problem:  # noqa: BLE001 - told to the test
            self.problem = problem
        finally:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._client is not None:
            self._client.socket.close()
            self._client = None

    def _live(self) -> None:
        if self._client is None:
            self._client = GroupClient(self._address)
            self._client.session_ms = SESSION_MS
            if self._client.find(GROUP).error_code:
                return
        client = self._client
        joined = client.join(GROUP, self._member_id)
        self._member_id = "" if joined.error_code else joined.member_id
        if joined.error_code:
            return
        member, generation = joined.member_id, joined.generation_id
        assigned = {other.member_id: b"" for other in joined.members}
        if client.sync(GROUP, member, generation, assigned).error_code:
            return
        self.memberships += 1
        for _ in range(COMMITS_PER_MEMBERSHIP):
            self.attempted += 1
            (error,) = client.commit(GROUP, "t", {self.partition: self.attempted}, member=member, generation=generation)
            if error == ErrorCode.NONE:
                self.acknowledged = self.attempted
            if error or client.heartbeat(GROUP, member, generation):
                return
        client.leave(GROUP, member)
        self._member_id = ""


def test_acknowledged_offsets_and_members_survive_kills(start_broker: StartBroker) -> None:
    random = Random(SEED)
    broker = start_broker(group_initial_rebalance_delay_ms=0, group_min_session_timeout_ms=500)
    with GroupClient(broker.address) as client:
        client.find(GROUP)
        client.create("t", MEMBERS)
    members = [RestlessMember(broker, partition) for partition in range(MEMBERS)]
    for member in members:
        member.start()
    try:
        for _ in range(KILLS):
            wait_for_commits(members, random.randint(1, ACKNOWLEDGED_BEFORE_KILL_MAX))
            broker.kill()
            acknowledged = [member.acknowledged for member in members]
            broker.start()
            check_offsets(broker, acknowledged)
            wait_for_everybody(members)
    finally:
        for member in members:
            member.stopping.set()
        for member in members:
            member.join(90)
    assert [member.problem for member in members] == [None] * MEMBERS
    check_offsets(broker, [member.acknowledged for member in members])
    with GroupClient(broker.address) as client:
        for member in members:
            assert client.committed(GROUP, "t", member.partition) <= member.attempted


def wait_for_commits(members: list[RestlessMember], count: int) -> None:
    def acknowledged() -> int:
        return sum(member.acknowledged for member in members)

    enough = acknowledged() + count
    wait_for(lambda: acknowledged() >= enough, f"members commit (seed {SEED})")


def wait_for_everybody(members: list[RestlessMember]) -> None:
    before = [member.memberships for member in members]

    def are_back() -> bool:
        assert all(member.is_alive() for member in members), [member.problem for member in members]
        return all(member.memberships > count for member, count in zip(members, before, strict=True))

    wait_for(are_back, f"everybody is back in the group (seed {SEED})")


def check_offsets(broker: BarnabasBroker, acknowledged: list[int]) -> None:
    """What was acknowledged before the kill is there; what was only attempted may be."""
    with GroupClient(broker.address) as client:
        wait_for(lambda: client.list_groups().error_code == ErrorCode.NONE, "groups are loaded")
        for partition, offset in enumerate(acknowledged):
            assert client.committed(GROUP, "t", partition) >= offset, f"an acknowledged offset is lost (seed {SEED})"
