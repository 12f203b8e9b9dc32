"""Membership by heartbeats alone (KIP-848): the coordinator assigns, the member gives up and takes what it is told."""

import asyncio
import base64
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.client.consumer.group_membership import PartitionOwner, Place
from barnabas.wire.client import Client, Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
LEAVE_STATIC_EPOCH: Final = -2
RETRY_BACKOFF_MS: Final = 100
MEMBER_ID_BYTES: Final = 16

_LOST: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH})


class TopicIds(Protocol):
    """Where names of topics come from."""

    async def topic_name(self, topic_id: bytes) -> str | None:
        """None for a topic that nobody knows (any more)."""

    def topic_id(self, topic: str) -> bytes: ...


def new_member_id() -> str:
    """A random id, written as the Java client writes them."""
    return base64.urlsafe_b64encode(secrets.token_bytes(MEMBER_ID_BYTES)).rstrip(b"=").decode()


class HeartbeatMembership:
    """One member."""

    def __init__(
        self,
        client: Client,
        settings: ConsumerSettings,
        owner: PartitionOwner,
        topics: TopicIds,
        *,
        make_member_id: Callable[[], str] = new_member_id,
    ) -> None:
        assert settings.group_id is not None, "a membership needs a group"
        self._group_id = settings.group_id
        self._client = client
        self._settings = settings
        self._owner = owner
        self._topics = topics
        self._member_id = make_member_id()
        self._epoch = JOIN_EPOCH
        self._told: Mapping[str, Any] = {}
        self._interval_ms = 0
        self._connection: Connection | None = None
        self._stopping = False
        self._wake = asyncio.Event()

    @property
    def place(self) -> Place:
        return Place(self._member_id, self._epoch, self._settings.instance_id)

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()

    def rejoin(self) -> None:
        """Tell the coordinator of the new subscription at once."""
        self._wake.set()

    async def run(self) -> None:
        try:
            while not self._stopping:
                await self._beat_or_recover()
                self._wake.clear()
                if not self._stopping:
                    await self._pause(self._interval_ms)
        finally:
            await self._owner.give_up(self._owner.assignment)
            await self._leave()
            if self._connection is not None:
                await self._connection.close()

    async def _beat_or_recover(self) -> None:
        try:
            await self._apply(await self._beat())
        except KafkaError as error:
            if error.code in _LOST:
                await self._lose()
            elif error.code.retriable:
                await self._forget_coordinator()
                self._interval_ms = RETRY_BACKOFF_MS
            else:
                raise

    async def _beat(self) -> ConsumerGroupHeartbeatResponse:
        told, self._told = self._told, {}
        current = self._current()
        changed = {name: value for name, value in current.items() if told.get(name, self) != value}
        answer = await (await self._coordinator()).send(self._request(**changed), ConsumerGroupHeartbeatResponse)
        if answer.error_code:
            code = ErrorCode(answer.error_code)
            raise KafkaError(code, answer.error_message or code.message)
        # Only what is known to have arrived need not be told again.
        self._told = current
        return answer

    def _current(self) -> dict[str, Any]:
        """What the coordinator must know: everything when joining, later on only what has changed."""
        settings = self._settings
        owned: dict[bytes, list[int]] = {}
        for topic, number in sorted(self._owner.assignment):
            owned.setdefault(self._topics.topic_id(topic), []).append(number)
        return {
            "rebalance_timeout_ms": settings.max_poll_interval_ms,
            "subscribed_topic_names": sorted(self._owner.wanted_topics),
            "server_assignor": settings.remote_assignor,
            "rack_id": settings.rack or None,
            "topic_partitions": [TopicPartitions(topic_id=key, partitions=numbers) for key, numbers in owned.items()],
        }

    def _request(self, **changed: Any) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id=self._group_id,
            member_id=self._member_id,
            member_epoch=self._epoch,
            instance_id=self._settings.instance_id,
            **changed,
        )

    async def _apply(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        self._epoch = answer.member_epoch
        self._member_id = answer.member_id or self._member_id
        self._interval_ms = answer.heartbeat_interval_ms
        if answer.assignment is None:
            return
        assigned = set()
        for entry in answer.assignment.topic_partitions:
            name = await self._topics.topic_name(entry.topic_id)
            if name is not None:
                assigned |= {TopicPartition(name, number) for number in entry.partitions}
        owned = self._owner.assignment
        if owned - assigned:
            await self._owner.give_up(owned - assigned)
        if assigned != owned:
            await self._owner.take(assigned, assigned - owned)
            # The coordinator hands on what was given up as soon as it hears of it.
            self._interval_ms = 0

    async def _lose(self) -> None:
        self._epoch = JOIN_EPOCH
        self._told = {}
        self._interval_ms = 0
        await self._owner.give_up(self._owner.assignment)

    async def _leave(self) -> None:
        if self._epoch == JOIN_EPOCH:
            return
        self._epoch = LEAVE_STATIC_EPOCH if self._settings.instance_id else LEAVE_EPOCH
        try:
            await (await self._coordinator()).send(self._request(), ConsumerGroupHeartbeatResponse)
        except KafkaError:
            return  # the session timeout does the same, only later

    async def _coordinator(self) -> Connection:
        if self._connection is None or not self._connection.is_open:
            self._connection = await self._client.connect(await self._client.find_coordinator(self._group_id))
        return self._connection

    async def _forget_coordinator(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _pause(self, delay_ms: int) -> None:
        try:
            async with asyncio.timeout(delay_ms / 1000):
                await self._wake.wait()
        except TimeoutError:
            return
