"""Membership of a classic group, whatever its protocol type: consumers, Connect workers, elections.

A `GroupMember` joins, and when the coordinator makes it leader it asks its `Participant` to assign work to everyone. The
participant hears of each assignment, and of its end before the next rebalance begins. Between rebalances heartbeats keep
the membership alive; lost coordinators, lost sessions and unknown member ids are healed by joining again.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from barnabas.wire.client import Client, Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from barnabas.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

DEFAULT_SESSION_TIMEOUT_MS: Final = 45_000
DEFAULT_REBALANCE_TIMEOUT_MS: Final = 60_000
DEFAULT_HEARTBEAT_INTERVAL_MS: Final = 3_000
RETRY_BACKOFF_MS: Final = 100
RETRY_BACKOFF_MAX_MS: Final = 2_000
LEAVE_TIMEOUT_S: Final = 2.0
# A join is answered when the rebalance ends, which may take the whole rebalance timeout.
JOIN_SLACK_MS: Final = 5_000

_NEW_MEMBER: Final = ""
_BATCHED_LEAVE_VERSION: Final = 3
_REJOIN: Final = frozenset({ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID})


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Which group, and its timing. `instance_id` makes the membership static: it survives short absences, and a `stop` unless the member
    `leaves` then."""

    group_id: str
    protocol_type: str
    session_timeout_ms: int = DEFAULT_SESSION_TIMEOUT_MS
    rebalance_timeout_ms: int = DEFAULT_REBALANCE_TIMEOUT_MS
    heartbeat_interval_ms: int = DEFAULT_HEARTBEAT_INTERVAL_MS
    instance_id: str | None = None
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class MemberOffer:
    """What one member told the group when it joined; the leader sees everyone's."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class Generation:
    """One settled round of the group, seen from one member."""

    number: int
    member_id: str
    leader_id: str
    protocol: str
    assignment: bytes

    @property
    def is_leader(self) -> bool:
        return self.member_id == self.leader_id


class Participant(Protocol):
    """What the owner of a membership provides."""

    def protocols(self) -> Sequence[tuple[str, bytes]]:
        """Names and metadata that the member offers, best first; asked anew for each join."""

    def assign(self, protocol: str, members: Sequence[MemberOffer]) -> Mapping[str, bytes]:
        """Called on the leader: the assignment of every member id."""

    async def on_assigned(self, generation: Generation) -> None:
        """The group has settled. A slow answer delays heartbeats, so keep it within the session timeout."""

    async def on_revoked(self, generation: Generation) -> None:
        """The generation is over: a rebalance begins, the membership was lost, or it ends."""


class GroupMember:
    """One member of one group; `run` it as a task and `stop` it to leave."""

    def __init__(
        self,
        client: Client,
        settings: GroupSettings,
        participant: Participant,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.generation: Generation | None = None
        self._client = client
        self._settings = settings
        self._participant = participant
        self._clock_s = clock_s
        self._member_id = _NEW_MEMBER
        self._connection: Connection | None = None
        self._session_ends_s = 0.0
        self._is_joining = False
        self._backoff_ms = RETRY_BACKOFF_MS
        self._stopping = asyncio.Event()
        self._wanted_rejoin = asyncio.Event()

    @property
    def session_ends_s(self) -> float:
        """Until when nobody else can have taken this member's place, by its own clock; in the past when it was told that it is none."""
        if self._is_joining and self._connection is not None and self._connection.is_open:
            # The coordinator keeps those whose joins it has not answered.
            return self._session_end(self._clock_s())
        return self._session_ends_s

    async def run(self) -> None:
        """Takes part until `stop` or cancellation; KafkaError when the coordinator refuses for good."""
        try:
            while not self._stopping.is_set():
                try:
                    await self._take_part()
                except KafkaError as error:
                    if error.code is ErrorCode.UNKNOWN_MEMBER_ID:
                        self._session_ends_s = 0.0
                    await self._end_generation()
                    await self._recover(error)
        finally:
            try:
                await self._end_generation()
            finally:
                await self._leave()
                await self._disconnect()

    def stop(self) -> None:
        """Asks `run` to end: the generation is revoked, and a dynamic member leaves the group."""
        self._stopping.set()

    def rejoin(self) -> None:
        """Starts a rebalance, as after a change of what the member offers."""
        self._wanted_rejoin.set()

    async def _recover(self, error: KafkaError) -> None:
        """Prepares the next join, or raises `error` again when joining anew would not help."""
        if error.code not in _REJOIN:
            if not error.code.retriable:
                raise error
            await self._disconnect()
        if error.code is ErrorCode.UNKNOWN_MEMBER_ID:
            self._member_id = _NEW_MEMBER
        await self._pause(self._backoff_ms)
        self._backoff_ms = min(self._backoff_ms * 2, RETRY_BACKOFF_MAX_MS)

    async def _take_part(self) -> None:
        """One generation from join to its end."""
        self._wanted_rejoin.clear()
        connection = await self._coordinator()
        self._is_joining = True
        try:
            joined = await self._join(connection)
            if joined is None:
                return
            joined_s = self._clock_s()
            generation = await self._sync(connection, joined)
            self._session_ends_s = self._session_end(joined_s)
        finally:
            self._is_joining = False
        self.generation = generation
        self._backoff_ms = RETRY_BACKOFF_MS
        await self._participant.on_assigned(generation)
        await self._heartbeat(connection, generation)
        await self._end_generation()

    async def _join(self, connection: Connection) -> JoinGroupResponse | None:
        """The answer that ends the join phase; None when the member was stopped meanwhile."""
        settings = self._settings
        while True:
            request = JoinGroupRequest(
                group_id=settings.group_id,
                session_timeout_ms=settings.session_timeout_ms,
                rebalance_timeout_ms=settings.rebalance_timeout_ms,
                member_id=self._member_id,
                group_instance_id=settings.instance_id,
                protocol_type=settings.protocol_type,
                protocols=[
                    JoinGroupRequestProtocol(name=name, metadata=metadata)
                    for name, metadata in self._participant.protocols()
                ],
            )
            sending = asyncio.ensure_future(
                connection.send(request, JoinGroupResponse, timeout_ms=settings.rebalance_timeout_ms + JOIN_SLACK_MS)
            )
            if not await self._finishes(sending):
                # The coordinator answers one request at a time, so this connection is of no use until the join is over.
                await self._disconnect()
                return None
            answer = sending.result()
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self._member_id = answer.member_id
                continue
            self._check(answer.error_code, "join")
            self._member_id = answer.member_id
            return answer

    async def _sync(self, connection: Connection, joined: JoinGroupResponse) -> Generation:
        settings = self._settings
        protocol = joined.protocol_name or ""
        assignments: list[SyncGroupRequestAssignment] = []
        if joined.leader == joined.member_id and not joined.skip_assignment:
            offers = [
                MemberOffer(member.member_id, member.group_instance_id, member.metadata) for member in joined.members
            ]
            assignments = [
                SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
                for member_id, assignment in self._participant.assign(protocol, offers).items()
            ]
        request = SyncGroupRequest(
            group_id=settings.group_id,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id=settings.instance_id,
            protocol_type=settings.protocol_type,
            protocol_name=protocol,
            assignments=assignments,
        )
        answer = await connection.send(
            request, SyncGroupResponse, timeout_ms=settings.rebalance_timeout_ms + JOIN_SLACK_MS
        )
        self._check(answer.error_code, "sync")
        return Generation(joined.generation_id, joined.member_id, joined.leader, protocol, answer.assignment)

    async def _heartbeat(self, connection: Connection, generation: Generation) -> None:
        """Beats until the member is stopped or wants to rejoin; KafkaError when the generation is over."""
        settings = self._settings
        request = HeartbeatRequest(
            group_id=settings.group_id,
            generation_id=generation.number,
            member_id=generation.member_id,
            group_instance_id=settings.instance_id,
        )
        while not self._stopping.is_set() and not self._wanted_rejoin.is_set():
            await self._pause(settings.heartbeat_interval_ms)
            if self._stopping.is_set() or self._wanted_rejoin.is_set():
                return
            sent_s = self._clock_s()
            left_ms = int((self._session_ends_s - sent_s) * 1000)
            if left_ms <= 0:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, "the session ended before a heartbeat was answered")
            answer = await connection.send(request, HeartbeatResponse, timeout_ms=left_ms)
            self._check(answer.error_code, "heartbeat")
            # The coordinator counts from when it heard of the member, which was later.
            self._session_ends_s = self._session_end(sent_s)

    def _session_end(self, heard_s: float) -> float:
        return heard_s + self._settings.session_timeout_ms / 1000

    async def _leave(self) -> None:
        """Leave the group, so that the others need not wait for the session to end."""
        settings = self._settings
        if not self._member_id or (settings.instance_id and not (settings.leaves and self._stopping.is_set())):
            return
        member_id, self._member_id = self._member_id, _NEW_MEMBER
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                await self._send_leave(await self._coordinator(), member_id)
        except (KafkaError, TimeoutError):
            return  # the session timeout does the same, only later

    async def _send_leave(self, connection: Connection, member_id: str) -> None:
        group_id = self._settings.group_id
        version = connection.version_of(LeaveGroupRequest)
        if version >= _BATCHED_LEAVE_VERSION:
            member = MemberIdentity(member_id=member_id, group_instance_id=self._settings.instance_id)
            request = LeaveGroupRequest(group_id=group_id, members=[member])
        else:
            request = LeaveGroupRequest(group_id=group_id, member_id=member_id)
        await connection.send(request, LeaveGroupResponse, version=version)

    async def _end_generation(self) -> None:
        generation, self.generation = self.generation, None
        if generation is not None:
            await self._participant.on_revoked(generation)

    async def _coordinator(self) -> Connection:
        if self._connection is None or not self._connection.is_open:
            address = await self._client.find_coordinator(self._settings.group_id)
            self._connection = await self._client.connect(address)
        return self._connection

    async def _disconnect(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _pause(self, delay_ms: int) -> None:
        """Waits, unless the member is stopped or wants to rejoin before."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._stopping, self._wanted_rejoin)]
        try:
            await asyncio.wait(waits, timeout=delay_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _finishes(self, sending: "asyncio.Future[JoinGroupResponse]") -> bool:
        """Whether the join was answered; False when the member was stopped first."""
        stopped = asyncio.ensure_future(self._stopping.wait())
        waits: list[asyncio.Future[Any]] = [sending, stopped]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            if not sending.done():
                sending.cancel()
        return not sending.cancelled() and sending.done()

    def _check(self, code: int, step: str) -> None:
        if code:
            error = ErrorCode(code)
            raise KafkaError(error, f"{step} of group {self._settings.group_id!r}: {error.message}")
