"""Offsets of groups: committed, read, deleted, and forgotten with time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.group_offsets import OffsetCommitKey
from core_broker.coordinators.groups.classic_group import ClassicGroup, State
from core_broker.coordinators.groups.group import Group, PartitionCheck
from core_broker.coordinators.groups.offset_record import NO_TOPIC_ID, encode_key, encode_value
from core_broker.coordinators.groups.offset_store import CommittedOffset, OffsetStore, TopicPartition
from core_broker.coordinators.groups.rebalances import Write
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import NOT_TRANSACTIONAL, CoordinatorRecord, EncodedRecord, TransactionalWriter

logger = logging.getLogger(__name__)

DEFAULT_RETENTION: Final = -1
NO_OFFSET: Final = -1
NO_EPOCH: Final = -1
GROUP_NOT_FOUND_VERSION: Final = 9
"""From here on OffsetCommit may be answered with GROUP_ID_NOT_FOUND."""

TOMBSTONES_TOGETHER_MAX_BYTES: Final = 256 * 1024
TOMBSTONE_OVERHEAD_BYTES: Final = 64

Then = Callable[[KafkaError | None], None]


class WriteReady(Protocol):
    """Appends records whose bytes are ready; `replay` makes them true, and `then` hears when they are durable."""

    def __call__(
        self,
        records: Sequence[EncodedRecord],
        replay: Callable[[int], None],
        then: Then,
        *,
        writer: TransactionalWriter = NOT_TRANSACTIONAL,
    ) -> None: ...


Apply = Callable[[int, str, TopicPartition, CommittedOffset], None]
"""Makes an offset true that stands in the log, written by a producer (or nobody) for a group."""


class Commit(NamedTuple):
    """An offset that somebody wants to commit."""

    where: TopicPartition
    offset: int
    leader_epoch: int
    metadata: str | None
    topic_id: bytes = NO_TOPIC_ID


class Member(NamedTuple):
    """Who commits: a member of a generation, or nobody in particular."""

    member_id: str
    instance_id: str | None
    generation: int


class FetchedOffset(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str
    error: ErrorCode


_NOTHING: Final = FetchedOffset(NO_OFFSET, NO_EPOCH, "", ErrorCode.NONE)
_UNSTABLE: Final = FetchedOffset(NO_OFFSET, NO_EPOCH, "", ErrorCode.UNSTABLE_OFFSET_COMMIT)


class GroupOffsets:
    """Serves one shard. `groups` and `store` are changed by replayed records only."""

    def __init__(
        self,
        surroundings: Surroundings,
        groups: dict[str, Group],
        store: OffsetStore,
        write: Write,
        write_ready: WriteReady,
        apply: Apply,
    ) -> None:
        self._clock_ms = surroundings.clock_ms
        self._settings = surroundings.settings
        self._groups = groups
        self._store = store
        self._write = write
        self._write_ready = write_ready
        self._apply = apply

    # Committing.

    def check_commit(self, group_id: str, member: Member, version: int) -> PartitionCheck | None:
        """Whether these offsets may be committed; to do it counts as a sign of life. KafkaError when they may not.

        What it returns, if anything, decides for each partition on its own.
        """
        group = self._groups.get(group_id)
        if group is None:
            if member.generation < 0:
                return None  # somebody who only keeps offsets here: the group comes to be with its first offset
            unknown = version >= GROUP_NOT_FOUND_VERSION
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND if unknown else ErrorCode.ILLEGAL_GENERATION,
                f"there is no group {group_id}: join it again",
            )
        check = group.check_offset_commit(*member, transactional=False, version=version)
        if type(group) is ClassicGroup and (group.state is State.STABLE or group.state is State.PREPARING):
            asking = group.members.get(member.member_id)
            if asking is not None:
                group.hear(asking)
        return check

    def check_transactional_commit(self, group_id: str, member: Member, version: int) -> None:
        """Whether a transaction may commit offsets of the group; older producers do not say for whom."""
        group = self._groups.get(group_id)
        if group is None:
            if member.generation >= 0:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION, f"there is no group {group_id}: join it again")
            return
        try:
            if group.check_offset_commit(*member, transactional=True, version=version) is not None:
                # Transactions are stricter than Kafka's: a member commits what it has in its present epoch.
                raise KafkaError(
                    ErrorCode.STALE_MEMBER_EPOCH, f"epoch {member.generation} of {member.member_id} is over"
                )
        except KafkaError as error:
            if error.code == ErrorCode.STALE_MEMBER_EPOCH:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION, error.message) from None
            raise

    def check_metadata(self, metadata: str | None) -> ErrorCode:
        limit = self._settings.offset_metadata_max_characters
        if metadata is not None and len(metadata) > limit // 2 and len(metadata.encode("utf-16-le")) // 2 > limit:
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        return ErrorCode.NONE

    def commit(
        self,
        group_id: str,
        commits: Sequence[Commit],
        then: Then,
        *,
        retention_ms: int = DEFAULT_RETENTION,
        writer: TransactionalWriter = NOT_TRANSACTIONAL,
    ) -> None:
        """Writes offsets; `then` hears when they are durable. With a writer they count when its transaction commits."""
        now_ms = self._clock_ms()
        expire_ms = None if retention_ms == DEFAULT_RETENTION else now_ms + retention_ms
        records = [
            EncodedRecord(
                encode_key(group_id, where.topic, where.partition),
                encode_value(offset, leader_epoch, metadata or "", now_ms, expire_ms, topic_id),
            )
            for where, offset, leader_epoch, metadata, topic_id in commits
        ]

        def replay(base_offset: int) -> None:
            for record_offset, (where, offset, leader_epoch, metadata, topic_id) in enumerate(commits, base_offset):
                committed = CommittedOffset(
                    record_offset,
                    offset,
                    NO_EPOCH if expire_ms is not None else leader_epoch,
                    metadata or "",
                    now_ms,
                    expire_ms,
                    NO_TOPIC_ID if expire_ms is not None else topic_id,
                )
                self._apply(writer.producer_id, group_id, where, committed)

        self._write_ready(records, replay, then, writer=writer)

    # Reading.

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """Whether somebody may read a group's offsets; of a group that there is not everybody may, and finds nothing."""
        group = self._groups.get(group_id)
        if group is not None:
            group.check_offset_fetch(member_id, member_epoch)

    def fetch(
        self, group_id: str, where: TopicPartition, *, require_stable: bool, topic_id: bytes = NO_TOPIC_ID
    ) -> FetchedOffset:
        """An offset as it is now. With `require_stable` not while a transaction may change it.

        With a topic id it is not that of a topic of the same name before.
        """
        if require_stable and self._store.is_pending(group_id, where):
            return _UNSTABLE
        committed = self._store.get(group_id, where)
        if committed is None or (committed.topic_id != topic_id and NO_TOPIC_ID not in (committed.topic_id, topic_id)):
            return _NOTHING
        return FetchedOffset(committed.offset, committed.leader_epoch, committed.metadata, ErrorCode.NONE)

    def partitions(self, group_id: str) -> list[TopicPartition]:
        """Where a group has offsets."""
        return list(self._store.of_group(group_id))

    # Deleting.

    def check_delete(self, group_id: str) -> Group:
        """The group whose offsets an operator wants to delete; KafkaError when it may not."""
        group = self._groups.get(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group_id}")
        group.check_offset_delete()
        return group

    def delete(self, group_id: str, partitions: Iterable[TopicPartition], then: Then) -> None:
        self._write_all(
            [
                _tombstone(group_id, where)
                for where in partitions
                if self._store.get(group_id, where) is not None or self._store.is_pending(group_id, where)
            ],
            then,
        )

    def delete_group(self, group_id: str, then: Then) -> None:
        """Deletes a group and its offsets. KafkaError when it may not be deleted."""
        group = self._groups.get(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group_id}")
        group.check_delete()
        offsets = {**dict.fromkeys(self._store.of_group(group_id)), **dict.fromkeys(self._store.pending(group_id))}
        self._write_all([_tombstone(group_id, where) for where in offsets] + group.tombstones(), then)

    def forget_topics(self, gone: Callable[[str], bool], then: Then) -> None:
        """Deletes the offsets of topics that are no more."""
        records = [
            _tombstone(group_id, where)
            for group_id in self._groups
            for where in {
                **dict.fromkeys(self._store.of_group(group_id)),
                **dict.fromkeys(self._store.pending(group_id)),
            }
            if gone(where.topic)
        ]
        self._write_all(records, then)

    # Growing old.

    def expire(self, then: Then) -> None:
        """Deletes the offsets that are too old, and the empty groups that have none left."""
        now_ms = self._clock_ms()
        records: list[CoordinatorRecord] = []
        for group_id, group in self._groups.items():
            expired = self._expired(group, now_ms)
            records += [_tombstone(group_id, where) for where in expired]
            is_bare = len(expired) == len(self._store.of_group(group_id)) and not self._store.has_pending(group_id)
            if is_bare and group.is_empty:
                logger.info("group %s is empty, has no offsets left and is deleted", group_id)
                records += group.tombstones()
        self._write_all(records, then)

    def _expired(self, group: Group, now_ms: int) -> list[TopicPartition]:
        base = group.offset_expiry()
        offsets = self._store.of_group(group.group_id)
        if base is None or not offsets:
            return []
        retention_ms = self._settings.offsets_retention_ms

        def is_old(committed: CommittedOffset) -> bool:
            if committed.expire_time_ms is not None:
                return now_ms >= committed.expire_time_ms
            return now_ms - base(committed.commit_time_ms) >= retention_ms

        return [
            where
            for where, committed in offsets.items()
            if is_old(committed)
            and not group.subscribes_to(where.topic)
            and not self._store.is_pending(group.group_id, where)
        ]

    def _write_all(self, records: list[CoordinatorRecord], then: Then) -> None:
        """Writes tombstones in batches that a partition takes; `then` hears once, of the first failure if there is one."""
        batches = _batches(records)
        left = len(batches)
        failure: KafkaError | None = None

        def written(error: KafkaError | None) -> None:
            nonlocal left, failure
            left -= 1
            failure = failure or error
            if left == 0:
                then(failure)

        for batch in batches:
            self._write(batch, written)


def _batches(records: list[CoordinatorRecord]) -> list[list[CoordinatorRecord]]:
    batches: list[list[CoordinatorRecord]] = [[]]
    size_bytes = 0
    for record in records:
        key = record.key
        bytes_more = TOMBSTONE_OVERHEAD_BYTES
        if isinstance(key, OffsetCommitKey):
            bytes_more += len(key.group.encode()) + len(key.topic)
        if size_bytes + bytes_more > TOMBSTONES_TOGETHER_MAX_BYTES and batches[-1]:
            batches.append([])
            size_bytes = 0
        batches[-1].append(record)
        size_bytes += bytes_more
    return batches


def _tombstone(group_id: str, where: TopicPartition) -> CoordinatorRecord:
    return CoordinatorRecord(OffsetCommitKey(group=group_id, topic=where.topic, partition=where.partition), None)
