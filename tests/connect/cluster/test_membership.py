"""A worker's part in its group, as its coordinator leads it through generations."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from barnabas.wire.client import Client
from barnabas.wire.membership import Generation, MemberOffer
from connect.cluster import membership as membership_module
from connect.cluster.membership import PROTOCOL, Identity, Membership, MembershipSettings
from connect.cluster.plan import NO_WORK, Offer, Piece, Work
from tests.waiting import wait_for_async

OWN, OTHER = "127.0.0.1:1", "127.0.0.1:2"
SESSION_MS = 50


@dataclass
class RecordedDuties:
    """What the group asks of the worker."""

    config_position: int = 1
    work: Work = frozenset({Piece("c"), Piece("c", 0), Piece("c", 1)})
    asked: list[str] = field(default_factory=list)
    taken: Work = NO_WORK
    fails: int = 0

    def wanted(self) -> Work:
        return self.work

    def held(self) -> tuple[Work, Work]:
        return self.taken, NO_WORK

    def take(self, work: Work, generation: int) -> None:
        self.taken = work

    def drop(self) -> None:
        self.asked.append("drop")

    async def lead(self) -> None:
        self.asked.append("lead")
        if self.fails:
            self.fails -= 1
            raise ConnectionError("not yet")

    async def resign(self) -> None:
        self.asked.append("resign")


def membership_of(duties: RecordedDuties) -> Membership:
    settings = MembershipSettings("g", session_timeout_ms=SESSION_MS)
    return Membership(Client("127.0.0.1:9"), Identity(OWN, f"http://{OWN}"), settings, duties)


def generation(membership: Membership, leader: str) -> Generation:
    """A settled round with another worker, which shares the work out as this one would."""
    own = membership.protocols()[0][1]
    other = Offer(OTHER, f"http://{OTHER}", 1).encode()
    assigned = membership.assign(PROTOCOL, [MemberOffer("own", OWN, own), MemberOffer("other", OTHER, other)])
    return Generation(1, "own", leader, PROTOCOL, assigned["own"])


def test_a_leader_is_ready_when_it_has_prepared_itself_and_not_any_more_when_another_leads() -> None:
    async def scenario() -> None:
        duties = RecordedDuties(fails=1)
        membership = membership_of(duties)
        await membership.on_assigned(generation(membership, "own"))
        assert (membership.is_leader, len(duties.taken)) == (False, 2)
        await membership.settle(30)
        assert (membership.is_leader, membership.error, duties.asked) == (True, None, ["lead", "lead"])
        (moved,) = (piece for piece in duties.work if piece.is_task and piece not in duties.taken)
        assert membership.owner_url(moved) == f"http://{OTHER}"
        await membership.on_assigned(generation(membership, "other"))
        assert (membership.is_leader, duties.asked[-1]) == (False, "resign")
        await membership.stop()

    asyncio.run(scenario())


def test_a_worker_that_hears_nothing_of_its_group_drops_its_work_when_the_session_is_over() -> None:
    async def scenario() -> None:
        duties = RecordedDuties()
        membership = membership_of(duties)
        settled = generation(membership, "other")
        await membership.on_assigned(settled)
        await membership.on_revoked(settled)

        async def dropped() -> bool:
            return duties.asked == ["drop"]

        await wait_for_async(dropped, "the work to be dropped")
        assert "does not answer" in str(membership.error)
        await membership.on_assigned(generation(membership, "other"))
        assert (membership.error, len(duties.taken)) == (None, 2)
        await membership.stop()

    asyncio.run(scenario())


def test_the_leader_asks_again_for_work_that_moves_when_nobody_tells_that_it_has_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(membership_module, "MOVING_MAX_MS", 10)

    async def scenario() -> None:
        membership = membership_of(RecordedDuties())
        rejoined = asyncio.Event()
        monkeypatch.setattr(membership, "rejoin", rejoined.set)
        other = Offer(OTHER, f"http://{OTHER}", 1, releasing=frozenset({Piece("c", 0)})).encode()
        offers = [MemberOffer("own", OWN, membership.protocols()[0][1]), MemberOffer("other", OTHER, other)]
        plan = membership.assign(PROTOCOL, offers)["own"]
        await membership.on_assigned(Generation(1, "own", "own", PROTOCOL, plan))
        assert membership.plan is not None
        assert Piece("c", 0) in membership.plan.moving
        async with asyncio.timeout(60):
            await rejoined.wait()
        await membership.stop()

    asyncio.run(scenario())


def test_the_leader_tells_what_waits_for_whom_and_until_when(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        membership = membership_of(RecordedDuties())
        await membership.on_assigned(generation(membership, "own"))
        alone = membership.assign(PROTOCOL, [MemberOffer("own", OWN, membership.protocols()[0][1])])
        await membership.on_assigned(Generation(2, "own", "own", PROTOCOL, alone["own"]))
        await membership.stop()

    asyncio.run(scenario())
    (told,) = (record.getMessage() for record in caplog.records if "has gone" in record.getMessage())
    found = re.fullmatch(
        rf"worker {OTHER} has gone: task c-\d wait for its return until (\S+), and are shared out then "
        r"\(scheduled.rebalance.max.delay.ms=300000\)",
        told,
    )
    assert found is not None, told
    assert timedelta(minutes=4) < datetime.fromisoformat(found[1]) - datetime.now(UTC) <= timedelta(minutes=5)
