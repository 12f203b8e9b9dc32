"""Where a request of the leader is done: here, at the leader, or as soon as there is one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from starlette.responses import Response

from barnabas.kernel.http.request import Request
from barnabas.kernel.leadership.forwarding import Forwarder, NoLeader, Unreachable
from barnabas.kernel.leadership.routing import lead_or_forward, settle_s
from tests.kernel.leadership.test_forwarding import request

LEADER, OTHER = "http://leader", "http://other"


@dataclass
class Group:
    is_leader: bool = False
    leader_url: str | None = LEADER

    async def settle(self, timeout_s: float) -> bool:
        return True


@dataclass
class Leaders(Forwarder):
    """Leaders that do not listen, until `change` makes one of them do."""

    change: Callable[[], None]
    listens: str = OTHER
    called: list[str] = field(default_factory=list)

    async def forward(self, request: Request, url: str | None) -> Response:
        if url is None:
            raise NoLeader
        self.called.append(url)
        if url != self.listens:
            self.change()
            raise Unreachable
        return Response(b"there")


async def done(group: Group, leaders: Leaders, settle_s: float = 60.0) -> tuple[bytes, list[bytes]]:
    """What answers, and the forwarded responses that this instance caught up with."""
    known: list[bytes] = []

    async def here() -> Response:
        return Response(b"here")

    async def catch_up(response: Response) -> None:
        known.append(bytes(response.body))

    response = await lead_or_forward(request(), here, group, leaders, settle_s, catch_up)
    return bytes(response.body), known


def test_the_leader_acts_and_a_follower_catches_up_with_it() -> None:
    leaders = Leaders(lambda: None)
    assert asyncio.run(done(Group(is_leader=True), leaders)) == (b"here", [])
    assert leaders.called == []
    assert asyncio.run(done(Group(leader_url=OTHER), leaders)) == (b"there", [b"there"])


def test_a_request_waits_for_the_leader_that_follows_a_crashed_one() -> None:
    group = Group()

    def elect_another() -> None:
        group.leader_url = OTHER

    leaders = Leaders(elect_another)
    assert asyncio.run(done(group, leaders)) == (b"there", [b"there"])
    assert leaders.called == [LEADER, OTHER]

    group = Group()

    def elect_this_one() -> None:
        group.is_leader = True

    assert asyncio.run(done(group, Leaders(elect_this_one))) == (b"here", [])


@pytest.mark.parametrize(("group", "failure"), [(Group(), Unreachable), (Group(leader_url=None), NoLeader)])
def test_a_request_does_not_wait_for_ever(group: Group, failure: type[Exception]) -> None:
    with pytest.raises(failure):
        asyncio.run(done(group, Leaders(lambda: None), settle_s=0))


def test_a_request_waits_longer_than_the_session_of_a_crashed_leader() -> None:
    assert settle_s(10_000) > 10
