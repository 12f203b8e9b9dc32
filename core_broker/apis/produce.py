"""Produce (key 0), versions 3 to 13 (0 to 2 are advertised, as Kafka does for old librdkafka, and cannot be decoded).

v5 log start offset; v7 zstd; v8 record errors and messages; v9 flexible; v10 current leader; v13 topic ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.batch import BatchHeader
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from barnabas.wire.struct import maker
from core_broker.context import RequestContext
from core_broker.deferred import CLOSE, Deferred
from core_broker.dispatch import CloseConnection
from core_broker.partition import Append, Partition
from core_broker.security.authorizer import Operation, ResourceType
from core_broker.validation import RejectedRecords, check_batch, check_request, open_batch

if TYPE_CHECKING:
    from core_broker.broker import Broker

ACKS_NONE, ACKS_LEADER, ACKS_ALL = 0, 1, -1
TOPIC_ID_VERSION = 13

_response = maker(ProduceResponse)
_topic_response = maker(TopicProduceResponse)
_partition_response = maker(PartitionProduceResponse)


def handle(
    broker: Broker, context: RequestContext, request: ProduceRequest
) -> ProduceResponse | Deferred[ProduceResponse] | None:
    work = ProduceWork(broker, context, request)
    work.start()
    return work.outcome()


class ProduceWork:
    """One produce request: its batches go to their partitions side by side, and each fails or succeeds alone."""

    __slots__ = (
        "_acks",
        "_broker",
        "_context",
        "_deferred",
        "_failed",
        "_now_ms",
        "_request",
        "_response",
        "_unfinished",
        "_unpublished",
        "partitions",
    )

    def __init__(self, broker: Broker, context: RequestContext, request: ProduceRequest) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._acks = request.acks
        self._now_ms = broker.clock_ms()
        self._failed = False
        self._deferred: Deferred[ProduceResponse] | None = None
        self._response = _response(responses=[])
        self._unpublished = 0
        self._unfinished = 0
        self.partitions: list[PartitionProduceResponse] = []

    def start(self) -> None:
        by_id = self._context.version >= TOPIC_ID_VERSION
        for topic in self._request.topic_data:
            answers: list[PartitionProduceResponse] = []
            self._response.responses.append(
                _topic_response(name=topic.name, topic_id=topic.topic_id, partition_responses=answers)
            )
            name = self._broker.topic_name(topic.topic_id) if by_id else topic.name
            for data in topic.partition_data:
                answer = _partition_response(index=data.index, base_offset=-1)
                answers.append(answer)
                self.partitions.append(answer)
                try:
                    self._begin(name, data, len(self.partitions) - 1)
                except KafkaError as error:
                    self._fail(answer, error)

    def outcome(self) -> ProduceResponse | Deferred[ProduceResponse] | None:
        """The answer if it is ready, else a promise of it."""
        if self._unfinished == 0:
            if self._acks != ACKS_NONE:
                return self._response
            if self._failed:
                raise CloseConnection(self._complaint())
            return None
        self._deferred = Deferred()
        if self._unpublished == 0:
            self._deferred.release()
        self._broker.timeouts.watch(self._request.timeout_ms, self)
        return self._deferred

    # What the partitions call.

    def published(self, append: Append) -> None:
        self._published_one()

    def finished(self, append: Append) -> None:
        self._record(append)
        self._finished_one()

    def _record(self, append: Append) -> None:
        answer = self.partitions[append.slot]
        if append.error is not None:
            self._fail(answer, append.error)
        elif answer.error_code == ErrorCode.NONE:
            answer.base_offset = append.base_offset
            answer.log_append_time_ms = append.log_append_time_ms
            answer.log_start_offset = append.log_start_offset

    def expired(self) -> None:
        """The client's timeout has passed: what is not durable by now may still become so, and the client is told as much."""
        if self._deferred is None or self._unfinished == 0 or self._unpublished:
            return  # while the writer thread reads the batch from the receive buffer, that buffer cannot be given back
        for answer in self.partitions:
            if answer.error_code == ErrorCode.NONE and answer.base_offset < 0:
                self._fail(
                    answer,
                    KafkaError(
                        ErrorCode.REQUEST_TIMED_OUT,
                        f"not stored safely within {self._request.timeout_ms} ms: the disk is slow or stuck",
                    ),
                )
        self._unfinished = 0
        self._resolve(self._deferred)

    # The steps of one batch.

    def _begin(self, topic: str | None, data: PartitionProduceData, slot: int) -> None:
        if self._acks not in (ACKS_NONE, ACKS_LEADER, ACKS_ALL):
            raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={self._acks} is none of 0, 1 and -1 (all)")
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "there is no topic with this id; it may have been deleted")
        if not self._broker.authorizer.allows(self._context, Operation.WRITE, ResourceType.TOPIC, topic):
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, f"not allowed to write to topic {topic}")
        partition = self._broker.partition(topic, data.index)
        if partition is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {data.index} of topic {topic}"
            )
        records = data.records
        assert records is None or isinstance(records, memoryview), "the codec leaves records in the receive buffer"
        header = check_request(records, self._context.version)
        assert records is not None
        now_ms = self._now_ms
        header = check_batch(records, header, partition.rules, now_ms)
        if partition.rules.wants_records(header):
            self._unpublished += 1
            self._unfinished += 1
            self._open(partition, records, header, slot, now_ms)
            return
        append = Append(self, slot, records, header, now_ms, self._acks != ACKS_NONE)
        partition.append(append)
        if append.finished:
            self._record(append)
            return
        append.waiting = True
        self._unfinished += 1
        if not append.published:
            self._unpublished += 1

    def _open(self, partition: Partition, records: memoryview, header: BatchHeader, slot: int, now_ms: int) -> None:
        """Has a worker thread look at the records one by one, and store them in another codec where the topic says so."""

        def opened(result: memoryview | Exception) -> None:
            if isinstance(result, memoryview):
                header = check_request(result, self._context.version)
                append = Append(self, slot, result, header, now_ms, self._acks != ACKS_NONE)
                append.waiting = True
                partition.append(append)
                return
            if not isinstance(result, KafkaError):
                result = KafkaError(ErrorCode.INVALID_RECORD, f"the records cannot be read: {result}")
            self._fail(self.partitions[slot], result)
            self._published_one()
            self._finished_one()

        self._broker.in_background(lambda: open_batch(records, header, partition.rules, now_ms), opened)

    # Counting.

    def _published_one(self) -> None:
        self._unpublished -= 1
        if self._unpublished == 0 and self._deferred is not None:
            self._deferred.release()

    def _finished_one(self) -> None:
        if self._unfinished == 0:
            return  # the client's timeout came first, and it has its answer
        self._unfinished -= 1
        if self._unfinished == 0 and self._deferred is not None:
            self._resolve(self._deferred)

    def _resolve(self, deferred: Deferred[ProduceResponse]) -> None:
        self._broker.timeouts.forget(self)
        self._deferred = None
        if self._acks != ACKS_NONE:
            deferred.resolve(self._response)
        else:
            deferred.resolve(CLOSE if self._failed else None)

    def _fail(self, answer: PartitionProduceResponse, error: KafkaError) -> None:
        self._failed = True
        answer.error_code = error.code
        answer.error_message = error.message
        answer.base_offset = -1
        if isinstance(error, RejectedRecords):
            answer.record_errors = [
                BatchIndexAndErrorMessage(batch_index=position, batch_index_error_message=why)
                for position, why in error.records
            ]

    def _complaint(self) -> str:
        return "; ".join(answer.error_message or "" for answer in self.partitions if answer.error_code)
