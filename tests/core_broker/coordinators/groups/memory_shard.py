"""A shard whose log is a list: it keeps the bytes of each record, and can be slow or broken when a test wants it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.framing import decode_key, decode_versioned, encode_key, encode_versioned
from barnabas.wire.records.group_offsets import KEYS, VALUES
from barnabas.wire.struct import Message
from core_broker.coordinators.groups.settings import GroupSettings
from core_broker.coordinators.groups.shard_state import GroupShardState
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import NOT_TRANSACTIONAL, CoordinatorRecord, EncodedRecord, TransactionalWriter
from core_broker.coordinators.shard import Shard, Then
from tests.core_broker.coordinators.virtual_time import VirtualTime


class Written(NamedTuple):
    producer_id: int
    key: bytes
    value: bytes | None


class Marked(NamedTuple):
    producer_id: int
    commits: bool


DEFAULTS = GroupSettings(
    initial_rebalance_delay_ms=3000,
    session_timeout_min_ms=6000,
    session_timeout_max_ms=1_800_000,
    members_max=2**31 - 1,
    members_and_pending_max=10_000,
    connection_members_max=10_000,
    metadata_max_bytes=100 << 20,
    offset_metadata_max_characters=4096,
    offsets_retention_ms=7 * 24 * 3_600_000,
)


class MemoryShard:
    """What a `Shard` is to its state. `slow` keeps what is written from becoming durable until `sync` is called."""

    def __init__(self, time: VirtualTime, settings: GroupSettings = DEFAULTS) -> None:
        self.time = time
        self.settings = settings
        self.log: list[Written | Marked] = []
        self.is_slow = False
        self.is_broken = False
        self._waiting: list[Then] = []
        self._ids = 0
        self.state = self._new_state()

    def _new_state(self) -> GroupShardState:
        surroundings = Surroundings(self.settings, self.time, self.time.now_ms, self.time.now_ms, self._new_id)
        return GroupShardState(cast("Shard[GroupShardState]", self), surroundings)

    def _new_id(self) -> str:
        self._ids += 1
        return f"{self._ids}"

    def write(
        self, records: Sequence[CoordinatorRecord], then: Then, *, writer: TransactionalWriter = NOT_TRANSACTIONAL
    ) -> None:
        if self.is_broken and records:
            then(KafkaError(ErrorCode.NOT_COORDINATOR, "the disk is broken"))
            return
        for key, value, version in records:
            offset = len(self.log)
            encoded = None if value is None else encode_versioned(value, version)
            self.log.append(Written(writer.producer_id, encode_key(key), encoded))
            self.state.replay(offset, writer.producer_id, key, value)
        self._settle(then)

    def write_ready(
        self,
        records: Sequence[EncodedRecord],
        replay: Callable[[int], None],
        then: Then,
        *,
        writer: TransactionalWriter = NOT_TRANSACTIONAL,
    ) -> None:
        if self.is_broken and records:
            then(KafkaError(ErrorCode.NOT_COORDINATOR, "the disk is broken"))
            return
        base_offset = len(self.log)
        self.log += [Written(writer.producer_id, record.key, record.value) for record in records]
        replay(base_offset)
        self._settle(then)

    def _settle(self, then: Then) -> None:
        if self.is_slow:
            self._waiting.append(then)
        else:
            then(None)

    def sync(self, error: KafkaError | None = None) -> None:
        """What was written becomes durable, or fails to."""
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then(error)

    def mark(self, producer_id: int, *, commits: bool) -> None:
        self.log.append(Marked(producer_id, commits))
        self.state.replay_marker(producer_id, commits)

    def reload(self) -> None:
        """Starts again from the log, as after a crash."""
        self._waiting = []
        self.state = self.rebuilt()
        self.state.activate()

    def rebuilt(self, until: int | None = None) -> GroupShardState:
        """What the log comes to, or its beginning."""
        state = self._new_state()
        for offset, entry in enumerate(self.log[:until]):
            if isinstance(entry, Marked):
                state.replay_marker(entry.producer_id, entry.commits)
            else:
                state.replay(offset, entry.producer_id, *decoded(entry))
        return state


def decoded(entry: Written) -> tuple[Message, Message | None]:
    key = decode_key(entry.key, KEYS)
    return key, None if entry.value is None else decode_versioned(VALUES[key.API_KEY], entry.value)
