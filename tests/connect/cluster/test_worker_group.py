"""A worker's part in its group, as its coordinator leads it through generations."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from barnabas.wire.client import Client
from barnabas.wire.membership import Generation, MemberOffer
from connect.cluster import worker_group as worker_group_module
from connect.cluster.plan import NO_WORK, Offer, Piece, Work
from connect.cluster.worker_group import PROTOCOL, Identity, WorkerGroup, WorkerGroupSettings
from tests.waiting import wait_for_async

OWN, OTHER = "127.0.0.1:1", "127.0.0.1:2"
SESSION_MS = 50


@dataclass
class RecordedListener:
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


def group_of(listener: RecordedListener) -> WorkerGroup:
    settings = WorkerGroupSettings("g", session_timeout_ms=SESSION_MS)
    return WorkerGroup(Client("127.0.0.1:9"), Identity(OWN, f"http://{OWN}"), settings, listener)


def generation(group: WorkerGroup, leader: str) -> Generation:
    """A settled round with another worker, which shares the work out as this one would."""
    own = group.protocols()[0][1]
    other = Offer(OTHER, f"http://{OTHER}", 1).encode()
    assigned = group.assign(PROTOCOL, [MemberOffer("own", OWN, own), MemberOffer("other", OTHER, other)])
    return Generation(1, "own", leader, PROTOCOL, assigned["own"])


def test_a_leader_is_ready_when_it_has_prepared_itself_and_not_any_more_when_another_leads() -> None:
    async def scenario() -> None:
        listener = RecordedListener(fails=1)
        group = group_of(listener)
        await group.on_assigned(generation(group, "own"))
        assert (group.is_leader, len(listener.taken)) == (False, 2)
        await group.settle(30)
        assert (group.is_leader, group.error, listener.asked) == (True, None, ["lead", "lead"])
        (moved,) = (piece for piece in listener.work if piece.is_task and piece not in listener.taken)
        assert group.owner_url(moved) == f"http://{OTHER}"
        await group.on_assigned(generation(group, "other"))
        assert (group.is_leader, listener.asked[-1]) == (False, "resign")
        await group.stop()

    asyncio.run(scenario())


def test_a_worker_that_is_elected_while_it_steps_down_leads() -> None:
    async def scenario() -> None:
        listener = RecordedListener()
        group = group_of(listener)
        settled = generation(group, "own")
        await group.on_assigned(settled)
        await group.settle(30)
        await group.on_revoked(settled)
        while "drop" not in listener.asked:  # noqa: ASYNC110 - only in this very step has the worker not stepped down yet
            await asyncio.sleep(0)
        await group.on_assigned(generation(group, "own"))
        assert await group.settle(30)
        assert (group.is_leader, listener.asked) == (True, ["lead", "drop", "resign", "lead"])
        await group.stop()
        assert (group.is_leader, listener.asked[-1]) == (False, "resign")

    asyncio.run(scenario())


def test_a_worker_that_hears_nothing_of_its_group_drops_its_work_when_the_session_is_over() -> None:
    async def scenario() -> None:
        listener = RecordedListener()
        group = group_of(listener)
        settled = generation(group, "other")
        await group.on_assigned(settled)
        await group.on_revoked(settled)

        async def dropped() -> bool:
            return listener.asked == ["drop"]

        await wait_for_async(dropped, "the work to be dropped")
        assert "does not answer" in str(group.error)
        await group.on_assigned(generation(group, "other"))
        assert (group.error, len(listener.taken)) == (None, 2)
        await group.stop()

    asyncio.run(scenario())


def test_the_leader_asks_again_for_work_that_moves_when_nobody_tells_that_it_has_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_group_module, "MOVING_MAX_MS", 10)

    async def scenario() -> None:
        group = group_of(RecordedListener())
        rejoined = asyncio.Event()
        monkeypatch.setattr(group, "rejoin", rejoined.set)
        other = Offer(OTHER, f"http://{OTHER}", 1, releasing=frozenset({Piece("c", 0)})).encode()
        offers = [MemberOffer("own", OWN, group.protocols()[0][1]), MemberOffer("other", OTHER, other)]
        plan = group.assign(PROTOCOL, offers)["own"]
        await group.on_assigned(Generation(1, "own", "own", PROTOCOL, plan))
        assert group.plan is not None
        assert Piece("c", 0) in group.plan.moving
        async with asyncio.timeout(60):
            await rejoined.wait()
        await group.stop()

    asyncio.run(scenario())


def test_the_leader_tells_what_waits_for_whom_and_until_when(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        group = group_of(RecordedListener())
        await group.on_assigned(generation(group, "own"))
        alone = group.assign(PROTOCOL, [MemberOffer("own", OWN, group.protocols()[0][1])])
        await group.on_assigned(Generation(2, "own", "own", PROTOCOL, alone["own"]))
        await group.stop()

    asyncio.run(scenario())
    (told,) = (record.getMessage() for record in caplog.records if "has gone" in record.getMessage())
    found = re.fullmatch(
        rf"worker {OTHER} has gone: task c-\d wait for its return until (\S+), and are shared out then "
        r"\(scheduled.rebalance.max.delay.ms=300000\)",
        told,
    )
    assert found is not None, told
    assert timedelta(minutes=4) < datetime.fromisoformat(found[1]) - datetime.now(UTC) <= timedelta(minutes=5)
