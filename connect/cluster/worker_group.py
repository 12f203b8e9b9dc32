"""The membership of this worker in its group: what it offers, what is assigned to it, and whether it leads."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from barnabas.kernel.leadership.participation import Participation
from barnabas.kernel.leadership.term import Term
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.membership import Generation, GroupSettings, MemberOffer
from barnabas.wire.recovery import Recovery
from connect.cluster.assignment import share_out
from connect.cluster.group import RebalanceListener
from connect.cluster.plan import Departure, Offer, Piece, Plan

PROTOCOL_TYPE: Final = "connect"
PROTOCOL: Final = "barnabas-1"
STOP_TIMEOUT_S: Final = 2.0
"""For each step of leaving: a coordinator that is there answers in a moment, and without one the session ends by itself."""
TWIN_PAUSE_S: Final = 30.0
"""Two workers of one name that join again at once would shut out each other for ever."""
MOVING_MAX_MS: Final = 15_000
"""How long the leader waits to hear that work that moves has stopped; then it asks everybody."""
MS_PER_S: Final = 1000
PIECES_TOLD_MAX: Final = 20

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerGroupSettings:
    group_id: str
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 3_000
    max_delay_ms: int = 300_000
    """How long the work of a worker that has gone waits for its return."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A worker's name in its group, HOST:PORT, and where the others reach it."""

    worker_id: str
    url: str


class WorkerGroup:
    """A group of workers, joined by Kafka's group protocol for as long as the worker runs; no failure ends the membership.

    The membership is static: a worker that starts again within the session is given the same work at once, and the others do not notice. One
    that stops leaves at once, so that another can lead.
    """

    def __init__(
        self, client: Client, identity: Identity, settings: WorkerGroupSettings, listener: RebalanceListener
    ) -> None:
        self.plan: Plan | None = None
        """What was decided last; other workers may have gone since."""
        self._identity = identity
        self._settings = settings
        self._listener = listener
        group = GroupSettings(
            settings.group_id,
            PROTOCOL_TYPE,
            settings.session_timeout_ms,
            settings.rebalance_timeout_ms,
            settings.heartbeat_interval_ms,
            instance_id=identity.worker_id,
            leaves=True,
        )
        self._recovery = Recovery(f"taking part in group {settings.group_id}", _logger)
        self._participation = Participation(client, group, self, self._on_failure)
        self._term = Term(listener.lead, listener.resign, self.consider, logger=_logger)
        self._problem: str | None = None
        self._generation: Generation | None = None
        self._planned_s = 0.0
        self._stepping_down: asyncio.Task[None] | None = None
        self._timers: dict[Callable[[], None], asyncio.TimerHandle] = {}

    @property
    def error(self) -> str | None:
        """Why this worker takes no part in its group, as long as that is so."""
        if self._problem is None and self._term.error is not None:
            return f"it cannot lead the group: {self._term.error}"
        return self._problem

    @property
    def is_leader(self) -> bool:
        """Whether this worker decides for the group, and is ready to."""
        return self._term.is_leader

    @property
    def leader_url(self) -> str | None:
        """Where the leader is; None while that is in doubt, or when this worker is just about to lead."""
        plan = self.plan
        if plan is None or self._generation is None or plan.leader == self._identity.worker_id:
            return None
        return plan.urls.get(plan.leader)

    def owner_url(self, piece: Piece) -> str | None:
        """Where a piece of work is done, if that is another worker."""
        if self.plan is None or piece in self.plan.of(self._identity.worker_id):
            return None
        return self.plan.owner_url(piece)

    async def settle(self, timeout_s: float) -> bool:
        """Wait until it is known who leads. False if it is not in time."""
        return await self._term.settle(timeout_s)

    def start(self) -> None:
        self._participation.start()

    async def stop(self) -> None:
        """Leave the group, so that another worker can lead at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await self._term.end()
        await self._participation.stop(STOP_TIMEOUT_S)
        self._cancel_timers()
        # A rebalance may have made this worker the leader once more.
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await self._term.end()

    def rejoin(self) -> None:
        self._participation.rejoin()

    def consider(self) -> None:
        """Rebalance if the plan lacks some of the work, or has work that is gone."""
        plan = self.plan
        if plan is None or self._generation is None:
            return
        if self._listener.config_position > plan.config_position and self._listener.wanted() != plan.everything:
            self.rejoin()

    # --- what the group asks of its members ---

    def protocols(self) -> Sequence[tuple[str, bytes]]:
        # The coordinator answers, so the work is not lost as long as the others are waited for.
        self._set_timer(self._lose, self._settings.rebalance_timeout_ms)
        held, releasing = self._listener.held()
        plan = None if self.plan is None else self.plan.aged(int((time.monotonic() - self._planned_s) * MS_PER_S))
        identity = self._identity
        offer = Offer(identity.worker_id, identity.url, self._listener.config_position, held, releasing, plan)
        return [(PROTOCOL, offer.encode())]

    def assign(self, protocol: str, members: Sequence[MemberOffer]) -> Mapping[str, bytes]:
        offers = {member.member_id: Offer.parse(member.metadata) for member in members}
        (own,) = (offer for offer in offers.values() if offer.worker_id == self._identity.worker_id)
        plan = share_out(list(offers.values()), self._listener.wanted(), own, self._settings.max_delay_ms).encode()
        return dict.fromkeys(offers, plan)

    async def on_assigned(self, generation: Generation) -> None:
        plan = Plan.parse(generation.assignment)
        self._cancel_timers()
        if self._stepping_down is not None:
            # It would end the time as the leader that may begin here.
            await asyncio.wait([self._stepping_down])
        self._recovery.succeeded()
        self.plan, self._planned_s, self._generation, self._problem = plan, time.monotonic(), generation, None
        _logger.info(
            "group %s, generation %d: led by %s; %d pieces of work here, %d in the group",
            self._settings.group_id, generation.number, plan.leader,
            len(plan.of(self._identity.worker_id)), len(plan.everything),
        )  # fmt: skip
        if generation.is_leader:
            self._term.begin()
            waits_ms = [each.left_ms for each in plan.departed.values()]
            if plan.departed:
                self._tell_waiting(plan.departed)
            if plan.moving:
                # Its worker rejoins when it has stopped. One that was killed before does not, and gets the same plan when it is back.
                waits_ms.append(MOVING_MAX_MS)
            if waits_ms:
                # When the first wait is over, what waits is shared out.
                self._set_timer(self.rejoin, min(waits_ms))
        else:
            await self._term.end()
            self._term.follow()
        self._listener.take(plan.of(self._identity.worker_id), generation.number)
        self.consider()

    async def on_revoked(self, generation: Generation) -> None:
        self._generation = None
        self._term.suspend()
        self._set_timer(self._lose, self._settings.session_timeout_ms)

    # --- taking part ---

    async def _on_failure(self, failure: Exception) -> None:
        self._problem = str(failure) or type(failure).__name__
        is_twin = isinstance(failure, KafkaError) and failure.code is ErrorCode.FENCED_INSTANCE_ID
        if is_twin:
            self._problem = (
                f"another worker of the group says that it is {self._identity.worker_id}, too; "
                "give each a rest.advertised.host.name or listeners of its own"
            )
            self._lose()
        await self._term.end()
        await self._recovery.after(failure)
        if is_twin:
            await asyncio.sleep(TWIN_PAUSE_S)

    def _lose(self) -> None:
        self._problem = self._problem or "the group's coordinator does not answer"
        _logger.error("all work stops here, since others may do it by now: %s", self._problem)
        self.plan = None
        self._stepping_down = asyncio.create_task(self._term.end(), name="step down")
        self._listener.drop()

    def _tell_waiting(self, departed: Mapping[str, Departure]) -> None:
        for worker, departure in sorted(departed.items()):
            until = datetime.now(UTC) + timedelta(milliseconds=departure.left_ms)
            pieces = list(map(str, sorted(departure.work)))
            more = f" and {len(pieces) - PIECES_TOLD_MAX} more" if len(pieces) > PIECES_TOLD_MAX else ""
            _logger.warning(
                "worker %s has gone: %s%s wait for its return until %s, and are shared out then (scheduled.rebalance.max.delay.ms=%d)",
                worker, ", ".join(pieces[:PIECES_TOLD_MAX]), more, until.isoformat(timespec="seconds"), self._settings.max_delay_ms,
            )  # fmt: skip

    # --- timers ---

    def _set_timer(self, act: Callable[[], None], delay_ms: int) -> None:
        former = self._timers.pop(act, None)
        if former is not None:
            former.cancel()
        self._timers[act] = asyncio.get_running_loop().call_later(delay_ms / MS_PER_S, act)

    def _cancel_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
