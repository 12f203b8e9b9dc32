"""Electing the one instance that writes, with Kafka's group protocol; registries of Confluent's and Karapace's take part in the same way."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson

from barnabas.kernel.leadership.assignment import DUPLICATE_URLS, NO_ERROR, Assignment, elect
from barnabas.kernel.leadership.identity import Identity
from barnabas.kernel.leadership.participation import Participation
from barnabas.kernel.leadership.term import Term
from barnabas.wire.client import Client
from barnabas.wire.membership import Generation, GroupSettings, MemberOffer
from barnabas.wire.recovery import Recovery

PROTOCOL: Final = "v0"
STOP_TIMEOUT_S: Final = 5.0
WATCHES_PER_SESSION: Final = 20
"""How often a leader looks whether its session lasts."""
GIVEN_UP_SHARE: Final = 0.3
"""Of a session: a leader that hears nothing steps down so long before another one can be elected."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ElectionSettings:
    """The group that elects, and its timing. `sticky`: a leader stays until it leaves, whoever joins."""

    group_id: str
    protocol_type: str
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 300_000
    heartbeat_interval_ms: int = 3_000
    sticky: bool = False


class Election:
    """This instance's part in the group, for as long as it runs; no failure ends it.

    `on_elected` prepares this instance to write, and is called again if it fails; only when it has returned does the
    instance lead. `on_deposed` ends that; it may come while `on_elected` still works, which is cancelled then. `fenced` is what
    `on_elected` raises when another instance has become the leader meanwhile.
    """

    def __init__(
        self,
        client: Client,
        identity: Identity,
        settings: ElectionSettings,
        *,
        on_elected: Callable[[], Awaitable[None]],
        on_deposed: Callable[[], Awaitable[None]],
        fenced: type[Exception],
    ) -> None:
        self.leader: Identity | None = None
        """Who takes writes now; None while that is not settled, or when no instance may lead."""
        self._identity = identity
        self._settings = settings
        group = GroupSettings(
            settings.group_id,
            settings.protocol_type,
            settings.session_timeout_ms,
            settings.rebalance_timeout_ms,
            settings.heartbeat_interval_ms,
        )
        self._recovery = Recovery(f"electing a leader in group {settings.group_id}", _logger)
        self._participation = Participation(client, group, self, self._recovery.after)
        self._term = Term(on_elected, on_deposed, self._lead, logger=_logger, fenced=fenced, on_fenced=self.rejoin)
        self._watching: asyncio.Task[None] | None = None
        self._assignment: Assignment | None = None
        self._refused = False

    @property
    def is_leader(self) -> bool:
        return self._term.is_leader

    @property
    def leader_url(self) -> str | None:
        """The address of the leader, if it is another instance and known."""
        return None if self.leader is None or self.is_leader else self.leader.url

    @property
    def session_ends_s(self) -> float:
        """Until when, of the monotonic clock, no other instance can have been elected in place of this one if it leads now."""
        return self._participation.session_ends_s

    @property
    def healthy(self) -> bool:
        """Whether this instance takes part in the group, and the group has settled."""
        takes_part = self._participation.is_running and self._assignment is not None
        return takes_part and self._term.is_settled and self.error is None

    @property
    def error(self) -> str | None:
        if self._assignment is not None and self._assignment.error != NO_ERROR:
            return _meaning(self._assignment.error)
        return self._recovery.error

    def start(self) -> None:
        self._participation.start()
        self._watching = asyncio.create_task(self._watch(), name="watch the session")

    async def stop(self) -> None:
        """Leave the group, so that another instance can lead at once."""
        if self._watching is None:
            return
        # The watch may be stepping down: that must be finished before another instance can lead.
        await self._step_down()
        self._watching.cancel()
        await self._participation.stop(STOP_TIMEOUT_S if self._recovery.error is None else 0)
        # A rebalance may have elected this instance once more.
        await self._step_down()

    def rejoin(self) -> None:
        """Step down and start another election, as when the log has rejected this instance."""
        self._refused = True
        self._participation.rejoin()

    async def settle(self, timeout_s: float) -> bool:
        """Wait until the group has settled; False when it has not in time."""
        return await self._term.settle(timeout_s)

    # --- what the group asks of its members ---

    def protocols(self) -> Sequence[tuple[str, bytes]]:
        leads = self._settings.sticky and self._term.has_begun
        return [(PROTOCOL, replace(self._identity, leads=leads).encode())]

    def assign(self, protocol: str, members: Sequence[MemberOffer]) -> Mapping[str, bytes]:
        identities = {}
        for member in members:
            try:
                identities[member.member_id] = Identity.from_json(orjson.loads(member.metadata))
            except ValueError as error:
                _logger.warning("member %s of the group cannot lead: %s", member.member_id, error)
        assignment = elect(identities, sticky=self._settings.sticky).encode()
        return {member.member_id: assignment for member in members}

    async def on_assigned(self, generation: Generation) -> None:
        assignment = Assignment.parse(generation.assignment)
        self._assignment = assignment
        self._recovery.succeeded()
        if assignment.error != NO_ERROR:
            _logger.error("no leader: %s", _meaning(assignment.error))
            await self._step_down()
        elif assignment.leader_id == generation.member_id:
            self._term.begin()
        else:
            await self._step_down()
            self.leader = assignment.leader
            self._term.follow()
            self._report()

    async def on_revoked(self, generation: Generation) -> None:
        self._assignment = None
        # A sticky leader goes on through the rebalance, as the others expect it to, unless they may have given it up.
        if not self._settings.sticky or self._refused or not self._term.has_begun or self._is_given_up():
            await self._step_down()

    async def _watch(self) -> None:
        """A leader that the coordinator does not hear, or that was asleep for long, steps down before another one is elected."""
        while True:
            await asyncio.sleep(self._settings.session_timeout_ms / 1000 / WATCHES_PER_SESSION)
            if self._term.has_begun and self._is_given_up():
                _logger.warning(
                    "the coordinator of group %s has not answered for long: resigning", self._settings.group_id
                )
                await self._step_down()
                self.rejoin()

    def _is_given_up(self) -> bool:
        session_ms, heartbeat_ms = self._settings.session_timeout_ms, self._settings.heartbeat_interval_ms
        early_ms = min(GIVEN_UP_SHARE * session_ms, (session_ms - heartbeat_ms) / 2)
        return time.monotonic() > self.session_ends_s - early_ms / 1000

    # --- leading ---

    def _lead(self) -> None:
        self.leader = replace(self._identity, leads=True)
        self._report()

    async def _step_down(self) -> None:
        self.leader = None
        self._refused = False
        await self._term.end()

    def _report(self) -> None:
        if self.leader is None:
            _logger.warning("no instance of group %s may lead: reads work, writes do not", self._settings.group_id)
        else:
            _logger.info("group %s is led by %s", self._settings.group_id, self.leader.url)


def _meaning(error: int) -> str:
    if error == DUPLICATE_URLS:
        return (
            "several instances of the group have the same URL, so that writes cannot be forwarded; "
            "give each a host.name and listeners of its own"
        )
    return f"the group's leader reports error {error}, which is not known"
