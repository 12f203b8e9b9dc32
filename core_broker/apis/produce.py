"""Produce (key 0), versions 3 to 13 (0 to 2 are advertised, as Kafka does for old librdkafka, and cannot be decoded).

v5 log start offset; v7 zstd; v8 record errors and messages; v9 flexible; v10 current leader; v11 TRANSACTION_ABORTABLE;
v12 partitions join the transaction when they are produced to; v13 topic ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.batch import HEADER_BYTES, TRANSACTIONAL, BatchHeader, parse_header
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
from core_broker.apis.transaction_errors import JOINING_VERSION, produce_error
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.decisions import Admission
from core_broker.coordinators.transactions.transaction import Producer
from core_broker.deferred import CLOSE, Deferred
from core_broker.dispatch import CloseConnection
from core_broker.metadata.topic_names import INTERNAL_TOPICS
from core_broker.partition import Append, Partition
from core_broker.request_log import TROUBLE
from core_broker.security.authorizer import Operation, ResourceType
from core_broker.validation import RejectedRecords, check_batch, check_request, open_batch

if TYPE_CHECKING:
    from core_broker.broker import Broker

ACKS_NONE, ACKS_LEADER, ACKS_ALL = 0, 1, -1
TOPIC_ID_VERSION = 13
ABORTABLE_VERSION = 11

_response = maker(ProduceResponse)
_topic_response = maker(TopicProduceResponse)
_partition_response = maker(PartitionProduceResponse)


def handle(
    broker: Broker, context: RequestContext, request: ProduceRequest
) -> ProduceResponse | Deferred[ProduceResponse] | None:
    work = ProduceWork(broker, context, request)
    work.start()
    return work.outcome()


class Joining:
    """A partition on its way into a transaction."""

    __slots__ = ("_work", "done", "error", "slot", "waiting")

    def __init__(self, work: ProduceWork, slot: int) -> None:
        self._work = work
        self.slot = slot
        self.done = False
        self.error: KafkaError | None = None
        self.waiting = False

    def __call__(self, error: KafkaError | None) -> None:
        """It is durable, or failed to be."""
        self.done = True
        self.error = error
        if self.waiting:
            self._work.joined(self)


class ProduceWork:
    """One produce request: its batches go to their partitions side by side, and each fails or succeeds alone."""

    __slots__ = (
        "_acks",
        "_broker",
        "_context",
        "_deferred",
        "_failed",
        "_joining",
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
        self._joining: list[Joining] = []
        self._deferred: Deferred[ProduceResponse] | None = None
        self._response = _response(responses=[])
        self._unpublished = 0
        self._unfinished = 0
        self.partitions: list[PartitionProduceResponse] = []

    def start(self) -> None:
        by_id = self._context.version >= TOPIC_ID_VERSION
        mixed = None if self._request.transactional_id is None else self._check_producers()
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
                    if mixed is not None:
                        raise mixed
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
        late = {joining.slot for joining in self._joining if not joining.done}
        for slot, answer in enumerate(self.partitions):
            if answer.error_code == ErrorCode.NONE and (answer.base_offset < 0 or slot in late):
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
        if topic in INTERNAL_TOPICS:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"only the broker itself writes to {topic}")
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
        if header.attributes & TRANSACTIONAL:
            self._unpublished += 1
            self._unfinished += 1
            self._place(partition, records, header, slot, now_ms)
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
                self._place(partition, result, header, slot, now_ms)
                return
            if not isinstance(result, KafkaError):
                result = KafkaError(ErrorCode.INVALID_RECORD, f"the records cannot be read: {result}")
            self._give_up(slot, result)

        self._broker.in_background(lambda: open_batch(records, header, partition.rules, now_ms), opened)

    def _place(self, partition: Partition, records: memoryview, header: BatchHeader, slot: int, now_ms: int) -> None:
        """Appends a batch that counts as unpublished and unfinished already, once its transaction allows it."""
        if header.attributes & TRANSACTIONAL:
            try:
                self._join(partition, header, slot)
            except KafkaError as error:
                if error.code is ErrorCode.CONCURRENT_TRANSACTIONS and self._may_retry():
                    transactions = self._broker.transactions
                    transactions.timers.after(
                        transactions.settings.retry_interval_ms,
                        lambda: self._place(partition, records, header, slot, now_ms),
                    )
                else:
                    self._give_up(slot, produce_error(error, self._context.version))
                return
        append = Append(self, slot, records, header, now_ms, self._acks != ACKS_NONE)
        append.waiting = True
        partition.append(append)

    def _give_up(self, slot: int, error: KafkaError) -> None:
        self._fail(self.partitions[slot], error)
        self._published_one()
        self._finished_one()

    # Transactions.

    def _check_producers(self) -> KafkaError | None:
        """What is wrong with a request of a transactional producer as a whole."""
        producers = set()
        for topic in self._request.topic_data:
            for data in topic.partition_data:
                if data.records is not None and len(data.records) >= HEADER_BYTES:
                    header = parse_header(data.records, 0)
                    if header.attributes & TRANSACTIONAL and header.producer_id >= 0:
                        producers.add((header.producer_id, header.producer_epoch))
        if len(producers) > 1:
            return KafkaError(
                ErrorCode.INVALID_PRODUCER_ID_MAPPING,
                f"the request has batches of {len(producers)} transactional producers, and one transactional id",
            )
        return None

    def _join(self, partition: Partition, header: BatchHeader, slot: int) -> None:
        """Sees to it that the partition is in the producer's transaction; KafkaError if it may not be."""
        transactional_id = self._request.transactional_id
        if transactional_id is None or not self._broker.authorizer.allows(
            self._context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
        ):
            raise KafkaError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                f"not allowed to write as transactional id {transactional_id!r}",
            )
        if header.producer_id < 0:
            return  # as Kafka has it: nobody's transaction is none
        joining = Joining(self, slot)
        producer = Producer(header.producer_id, header.producer_epoch)
        self._broker.transactions.admit(
            transactional_id, partition, producer, _admission(self._context.version), joining
        )
        if not joining.done:
            joining.waiting = True
            self._joining.append(joining)
            self._unfinished += 1
        elif joining.error is not None:
            raise joining.error
        if (
            self._context.version >= JOINING_VERSION
            and header.base_sequence != 0
            and header.producer_id not in partition.log.producers.by_id
        ):
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {header.producer_id}, of which {partition} knows nothing, begins with sequence "
                f"{header.base_sequence} and not with 0: batches before it were lost",
            )

    def joined(self, joining: Joining) -> None:
        if joining.error is not None:
            self._fail(self.partitions[joining.slot], produce_error(joining.error, self._context.version))
        self._finished_one()

    def _may_retry(self) -> bool:
        """Whether to look again, since the transaction before ends at any moment: cheaper than to have the batch sent again."""
        waited_ms = self._broker.clock_ms() - self._now_ms
        return self._context.version >= JOINING_VERSION and waited_ms < self._broker.transactions.settings.retry_max_ms

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
        self._count_failure(answer, error.code)
        if error.code in TROUBLE:
            self._broker.request_log.tell_failure(self._context, error, self._broker.clock_ms() - self._now_ms)
        answer.error_code = error.code
        answer.error_message = error.message
        answer.base_offset = -1
        if isinstance(error, RejectedRecords):
            answer.record_errors = [
                BatchIndexAndErrorMessage(batch_index=position, batch_index_error_message=why)
                for position, why in error.records
            ]

    def _count_failure(self, answer: PartitionProduceResponse, code: int) -> None:
        self._broker.traffic.errors[self._context.api_key, code] += 1
        for topic, asked in zip(self._response.responses, self._request.topic_data, strict=False):
            for position, partition in enumerate(topic.partition_responses):
                if partition is answer:
                    found = self._broker.topics.find(topic.name or self._broker.topic_name(topic.topic_id) or "")
                    if found is not None:
                        found.traffic.produce_failed(code, len(asked.partition_data[position].records or b""))

    def _complaint(self) -> str:
        return "; ".join(answer.error_message or "" for answer in self.partitions if answer.error_code)


def _admission(version: int) -> Admission:
    if version >= JOINING_VERSION:
        return Admission.JOIN
    return Admission.VERIFY if version >= ABORTABLE_VERSION else Admission.VERIFY_OLD
