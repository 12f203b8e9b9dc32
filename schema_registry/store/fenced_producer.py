"""Writing to the log as its only writer.

Kafka gives every holder of a transactional id the same producer id with a higher epoch, and a partition that has seen an
epoch refuses batches of lower ones. The registry uses just that, without transactions: each new leader takes an epoch, and
its first batch shuts the log to every leader before it, however late their batches arrive.

Brokers forget transactional ids that are not used for a week, and producers that are silent in a partition for a day; a
forgotten epoch would fence nobody. So a grant is renewed well before that, and nothing is written with an older one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.wire.batch import Record as WireRecord
from barnabas.wire.batch import build_batch
from barnabas.wire.client import TRANSACTION_COORDINATOR, Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from barnabas.wire.recovery import Recovery
from schema_registry.store.failures import Fenced, RecordsTooLarge, StoreFailed
from schema_registry.store.leader_link import PARTITION, LeaderLink
from schema_registry.store.record import Record

GRANT_MAX_S: Final = 12 * 3600.0
PRODUCE_TIMEOUT_MS: Final = 30_000

_ALL_REPLICAS: Final = -1
_SEQUENCE_MASK: Final = 0x7FFFFFFF
# Kafka wants one, though no transaction is ever begun.
_TRANSACTION_TIMEOUT_MS: Final = 60_000
_FENCED: Final = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED})
_TOO_LARGE: Final = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE})

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Grant:
    """The right to write, and the number of the next record under it.

    A batch whose fate stays unknown may or may not have used its numbers. The grant is then `in_doubt`, and a new epoch, in
    which numbers begin at 0 again, must come before the next batch: it would else be taken for the lost one sent again.
    """

    producer_id: int
    epoch: int
    renew_at_s: float
    sequence: int = 0
    in_doubt: bool = False


class FencedProducer:
    """Appends batches one at a time, under the newest grant that this instance took."""

    def __init__(
        self,
        client: Client,
        topic: str,
        fencing_id: str,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._topic = topic
        self._fencing_id = fencing_id
        self._clock_s = clock_s
        self._link = LeaderLink(client, topic)
        self._recovery = Recovery(f"writing to topic {topic}", _logger)
        self._grant: _Grant | None = None

    @property
    def error(self) -> str | None:
        return self._recovery.error

    async def take_over(self) -> None:
        """Take the next epoch, whoever has the one before. Tries until the coordinator answers."""
        self._grant = None
        self._grant = await self._granted(None)

    def give_up(self) -> None:
        """Write no more until the next `take_over`."""
        self._grant = None
        self._recovery.forget()

    async def renew_if_due(self) -> None:
        """Take a further epoch before brokers may forget this one; Fenced when somebody else took it."""
        grant = self._grant
        if grant is not None and (grant.in_doubt or self._clock_s() >= grant.renew_at_s):
            self._grant = await self._granted(grant)

    async def append(self, records: Sequence[Record]) -> int:
        """Write the records as one batch and return the offset of the first; all of them are written, or none.

        A batch whose fate is unknown is sent again until the broker tells it. It carries the same sequence numbers, so the
        broker keeps one copy.
        """
        await self.renew_if_due()
        grant = self._grant
        if grant is None:
            raise Fenced("this instance does not lead, so it must not write")
        batch = self._batch(records, grant)
        grant.in_doubt = True
        offset = await self._send_until_told(batch)
        grant.in_doubt = False
        grant.sequence = (grant.sequence + len(records)) & _SEQUENCE_MASK
        return offset

    async def close(self) -> None:
        await self._link.close()

    async def _granted(self, former: _Grant | None) -> _Grant:
        while True:
            try:
                grant = await self._ask_for_grant(former)
            except KafkaError as error:
                self._refuse(error)
                await self._recovery.after(error)
            else:
                self._recovery.succeeded()
                return grant

    async def _ask_for_grant(self, former: _Grant | None) -> _Grant:
        address = await self._client.find_coordinator(self._fencing_id, TRANSACTION_COORDINATOR)
        connection = await self._client.connect(address)
        try:
            request = InitProducerIdRequest(
                transactional_id=self._fencing_id, transaction_timeout_ms=_TRANSACTION_TIMEOUT_MS
            )
            if former is not None:
                request.producer_id, request.producer_epoch = former.producer_id, former.epoch
            asked_s = self._clock_s()
            answer = await connection.send(request, InitProducerIdResponse)
        finally:
            await connection.close()
        if answer.error_code:
            error = ErrorCode(answer.error_code)
            raise KafkaError(error, f"transactional id {self._fencing_id!r}: {error.message}")
        return _Grant(answer.producer_id, answer.producer_epoch, asked_s + GRANT_MAX_S)

    def _batch(self, records: Sequence[Record], grant: _Grant) -> bytes:
        now_ms = time.time_ns() // 1_000_000
        return bytes(
            build_batch(
                [WireRecord(number, now_ms, record.key, record.value) for number, record in enumerate(records)],
                producer_id=grant.producer_id,
                producer_epoch=grant.epoch,
                base_sequence=grant.sequence,
            )
        )

    async def _send_until_told(self, batch: bytes) -> int:
        while True:
            try:
                offset = await self._send(batch)
            except KafkaError as error:
                self._refuse(error)
                await self._recovery.after(error)
            else:
                self._recovery.succeeded()
                return offset

    async def _send(self, batch: bytes) -> int:
        async with self._link.use() as (connection, lead):
            topic = TopicProduceData(
                name=self._topic,
                topic_id=lead.topic_id,
                partition_data=[PartitionProduceData(index=PARTITION, records=batch)],
            )
            request = ProduceRequest(acks=_ALL_REPLICAS, timeout_ms=PRODUCE_TIMEOUT_MS, topic_data=[topic])
            answer = await connection.send(request, ProduceResponse)
            result = answer.responses[0].partition_responses[0]
            if result.error_code:
                error = ErrorCode(result.error_code)
                raise KafkaError(error, result.error_message or error.message)
            return result.base_offset

    def _refuse(self, error: KafkaError) -> None:
        """Raise what the caller must hear of; return when another attempt may help."""
        if error.code in _FENCED:
            self._grant = None
            raise Fenced("another instance has become the leader; send the request again") from error
        if error.code in _TOO_LARGE:
            if self._grant is not None:
                self._grant.in_doubt = False
            raise RecordsTooLarge(f"the records are larger than topic {self._topic} takes: {error.message}") from error
        if not error.code.retriable or error.code is ErrorCode.CORRUPT_MESSAGE:
            raise StoreFailed(f"topic {self._topic} cannot be written to: {error}") from error
