"""Fetch (key 1), versions 4 to 18.

v5 log start offset; v7 incremental sessions; v9 leader epochs; v12 flexible, diverging epochs; v13 topic ids; v15 replica state;
v16 node endpoints; v17 directory ids; v18 the follower's high watermark. Followers do not exist here, so their fields are ignored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.fields import Blob
from barnabas.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from barnabas.wire.struct import maker
from core_broker.context import RequestContext
from core_broker.deferred import Deferred
from core_broker.fetch_sessions import Fetch, Target
from core_broker.log.reader import ColdRead
from core_broker.partition import Partition
from core_broker.request_log import TROUBLE
from core_broker.security.authorizer import Operation, ResourceType
from core_broker.traffic import Traffic

if TYPE_CHECKING:
    from core_broker.broker import Broker

logger = logging.getLogger(__name__)

READ_COMMITTED = 1
NO_RECORDS = b""
RESPONSE_HEAD_BYTES = 20
RESPONSE_PARTITION_BYTES = 60
"""What a quota counts of an answer beside its records, about."""
_partition_data = maker(PartitionData)


def handle(broker: Broker, context: RequestContext, request: FetchRequest) -> FetchResponse | Deferred[FetchResponse]:
    try:
        fetch = broker.fetch_sessions.resolve(request, context.version)
    except KafkaError as error:
        return FetchResponse(error_code=error.code, session_id=0, responses=[])
    return FetchWork(broker, context, request, fetch).start()


class FetchWork:
    """One fetch request: looked at once, and if there is too little to read, parked on its partitions until there is more."""

    __slots__ = (
        "_broker",
        "_bytes",
        "_cold",
        "_context",
        "_deferred",
        "_fetch",
        "_left",
        "_min_bytes",
        "_parked_on",
        "_request",
        "_results",
        "_timer",
    )

    def __init__(self, broker: Broker, context: RequestContext, request: FetchRequest, fetch: Fetch) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._fetch = fetch
        self._bytes = 0
        self._left = min(request.max_bytes, broker.fetch_max_bytes)
        if context.observation is not None:
            self._left = context.observation.fetch_max_bytes(self._left)
        self._min_bytes = min(request.min_bytes, self._left)
        self._cold: list[tuple[Partition, ColdRead]] = []
        self._results: list[tuple[Target, PartitionData, Traffic | None]] = []
        self._parked_on: list[Partition] = []
        self._deferred: Deferred[FetchResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> FetchResponse | Deferred[FetchResponse]:
        enough = self.look()
        if self._cold:
            return self._warm()
        if enough or self._request.max_wait_ms <= 0 or not self._fetch.targets:
            return self.conclude()
        return self.park(self._request.max_wait_ms)

    def look(self, *, wait: bool = False) -> bool:
        """Reads every partition; whether there is enough to answer: the bytes asked for, or an error to tell.

        What would have to come from the disk is noted in `_cold` instead, unless the caller can `wait`.
        """
        self._bytes = 0
        self._cold = []
        results = self._results = []
        left = self._left
        certain = False
        for target in self._fetch.targets:
            traffic: Traffic | None = None
            try:
                partition = self._find(target)
                traffic = partition.traffic
                data = self._read(partition, target, left, wait)
                size = len(data.records or NO_RECORDS)
                self._bytes += size
                left = max(0, left - size)
                certain = certain or data.diverging_epoch.epoch >= 0
            except KafkaError as error:
                certain = True
                data = PartitionData(
                    partition_index=target.index,
                    error_code=error.code,
                    high_watermark=-1,
                    aborted_transactions=[] if self._request.isolation_level == READ_COMMITTED else None,
                    records=NO_RECORDS,
                )
            results.append((target, data, traffic))
        return certain or self._bytes >= self._min_bytes

    def conclude(self) -> FetchResponse:
        """The answer; an empty one if the client is over its quota and must pause."""
        observation = self._context.observation
        if observation is not None:
            size_bytes = self._bytes + RESPONSE_HEAD_BYTES + RESPONSE_PARTITION_BYTES * len(self._results)
            throttle_ms = observation.fetch_throttle_ms(size_bytes)
            if throttle_ms > 0:
                session_id = self._broker.fetch_sessions.throttled(self._fetch)
                return FetchResponse(throttle_time_ms=throttle_ms, session_id=session_id, responses=[])
        return self.response()

    def response(self) -> FetchResponse:
        session = self._fetch.session
        topics: list[FetchableTopicResponse] = []
        by_id = session.uses_topic_ids if session is not None else self._context.version >= 13
        current: str | bytes | None = None
        for target, data, traffic in self._results:
            if traffic is not None:
                traffic.fetches += 1
                if data.records:
                    traffic.bytes_out += len(data.records)
            if data.error_code:
                self._count_failure(data.error_code, traffic)
            if session is not None:
                news = target.is_news(data)
                if self._fetch.incremental and not news:
                    continue
                if data.records:
                    session.rotate(target)
            if target.topic != current or not topics:
                current = target.topic
                topic = FetchableTopicResponse(partitions=[])
                if by_id:
                    assert isinstance(current, bytes)
                    topic.topic_id = current
                else:
                    assert isinstance(current, str)
                    topic.topic = current
                topics.append(topic)
            topics[-1].partitions.append(data)
        return FetchResponse(session_id=session.id if session is not None else 0, responses=topics)

    def _count_failure(self, code: int, traffic: Traffic | None) -> None:
        self._broker.traffic.errors[self._context.api_key, code] += 1
        if traffic is not None:
            traffic.fetch_failed(code)
        if code in TROUBLE:
            self._broker.request_log.tell_failure(self._context, KafkaError(ErrorCode(code)))

    # Waiting for the disk.

    def _warm(self) -> Deferred[FetchResponse]:
        """Has another thread read what is not in memory, so that nobody else waits for this client's old records."""
        self._deferred = Deferred()
        cold, self._cold = self._cold, []
        left = len(cold)

        def warmed(partition: Partition, read: ColdRead) -> Callable[[object], None]:
            def done(_: object) -> None:
                nonlocal left
                partition.log.end_warming(read)
                left -= 1
                if left == 0 and self._deferred is not None:
                    deferred, self._deferred = self._deferred, None
                    self.look(wait=True)
                    deferred.resolve(self.conclude())

            return done

        for partition, read in cold:
            self._broker.in_background(partition.log.begin_warming(read), warmed(partition, read))
        return self._deferred

    # Waiting for data.

    def park(self, max_wait_ms: int) -> Deferred[FetchResponse]:
        for target in self._fetch.targets:
            partition = self._find(target)
            partition.watchers[self] = None
            self._parked_on.append(partition)
        self._timer = self._broker.loop.call_later(max_wait_ms / 1000, self._answer)
        self._deferred = Deferred()
        self._deferred.abandon = self._unpark
        return self._deferred

    def arrived(self, partition: Partition, size_bytes: int) -> None:
        self._bytes += size_bytes
        # One small marker may set free for readers of committed data all that came before it.
        certain = size_bytes == 0 or self._request.isolation_level == READ_COMMITTED
        if (certain or self._bytes >= self._min_bytes) and self.look(wait=True):
            self._answer_now()

    def _answer(self) -> None:
        self.look(wait=True)
        self._answer_now()

    def _answer_now(self) -> None:
        self._unpark()
        deferred, self._deferred = self._deferred, None
        assert deferred is not None
        deferred.resolve(self.conclude())

    def _unpark(self) -> None:
        for partition in self._parked_on:
            partition.watchers.pop(self, None)
        self._parked_on = []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Reading.

    def _find(self, target: Target) -> Partition:
        topic = target.topic
        if isinstance(topic, bytes):
            name = self._broker.topic_name(topic)
            if name is None:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "there is no topic with this id; it may have been deleted")
            topic = name
        if not self._broker.authorizer.allows(self._context, Operation.READ, ResourceType.TOPIC, topic):
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, f"not allowed to read topic {topic}")
        partition = self._broker.partition(topic, target.index)
        if partition is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {target.index} of topic {topic}"
            )
        return partition

    def _read(self, partition: Partition, target: Target, left: int, wait: bool) -> PartitionData:
        wanted = target.request
        partition.check_leader_epoch(wanted.current_leader_epoch)
        committed = self._request.isolation_level == READ_COMMITTED
        stable = partition.last_stable_offset
        data = _partition_data(
            partition_index=target.index,
            high_watermark=partition.high_watermark,
            last_stable_offset=stable,
            log_start_offset=partition.log.log_start_offset,
            aborted_transactions=[] if committed else None,
            records=NO_RECORDS,
        )
        if wanted.last_fetched_epoch >= 0:
            end = partition.log.end_offset_for_epoch(wanted.last_fetched_epoch)
            if end is None:
                raise KafkaError(
                    ErrorCode.OFFSET_OUT_OF_RANGE, f"{partition} has no leader epoch {wanted.last_fetched_epoch}"
                )
            if end.epoch < wanted.last_fetched_epoch or end.end_offset < wanted.fetch_offset:
                data.diverging_epoch = EpochEndOffset(epoch=end.epoch, end_offset=end.end_offset)
                return data
        limit = stable if committed else partition.high_watermark
        max_bytes = min(wanted.partition_max_bytes, left)
        try:
            piece = partition.log.stream(
                wanted.fetch_offset, max_bytes, limit=limit, min_one=self._bytes == 0, wait=wait
            )
        except ColdRead as cold:
            self._cold.append((partition, cold))
            return data
        except OSError as problem:
            logger.error("cannot read %s: %s", partition, problem)
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {partition} cannot be read: {problem}"
            ) from None
        # A FileRange is no blob, but has a length, which is all that the encoder asks of a large one before it hands it on.
        data.records = cast("Blob", piece.data)
        if committed and piece.data:
            data.aborted_transactions = [
                AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
                for aborted in partition.log.aborted_transactions(wanted.fetch_offset, piece.next_offset)
            ]
        return data
