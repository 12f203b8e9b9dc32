"""Records on their way into topics: batches go to librdkafka at once, and only failures are reported."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple, TypeAlias

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from barnabas.kernel.kafka_clients.librdkafka import BYTES_PER_KB
from connect.errors import ConnectError
from connect.tasks.clients import ClientKind, client_settings
from connect.tasks.spec import WorkerConfig

logger = logging.getLogger(__name__)

BUFFER_BYTES: Final = 32 * 1024 * 1024
"""What may wait in a producer, as in Java's."""
BUFFER_RECORDS: Final = 200_000
CHUNK_RECORDS: Final = 10_000
"""Records that are handed over before the buffer is looked at again."""
POLL_S: Final = 0.05
BUFFER_KEY: Final = "queue.buffering.max.kbytes"
NO_LIMIT_KB: Final = 2_097_151

PRODUCER_DEFAULTS: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable.idempotence": True,
    # Kafka may be away for as long as it likes: nothing is given up.
    "message.timeout.ms": 0,
    # Keys land where Java's clients would put them.
    "partitioner": "murmur2_random",
    "linger.ms": 5,
}

ProducerMessage: TypeAlias = dict[str, Any]
"""What librdkafka's batches are made of: `value` and `key`, perhaps `partition` and `timestamp`, here `headers` too."""
SIZE_SAMPLES: Final = 64
"""Records of a batch from which its size is estimated."""

BAD_RECORD: Final = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.INVALID_RECORD,
        KafkaError.INVALID_TIMESTAMP,
    }
)
"""Errors that are the record's own fault; all others would meet the next record as well."""


FENCED: Final = frozenset({KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH})
SHUT_OUT: Final = "another process runs this task now and has shut this one out; nothing of it is lost"


class DeliveryFailure(NamedTuple):
    topic: str
    key: bytes | None
    value: bytes | None
    error: KafkaError


class TopicMessages(NamedTuple):
    """Messages for one topic, in order."""

    topic: str
    messages: Sequence[ProducerMessage]
    has_headers: bool = False


class RecordProducer:
    """One producer of a task. Used from one thread.

    The buffer is bounded here and not by librdkafka: when its own limit is met in the middle of a batch, it would take a later record
    of the same key before an earlier one. `check` is called while it waits, and may raise to give up.
    """

    def __init__(self, settings: Mapping[str, Any], check: Callable[[], None]) -> None:
        made = dict(settings)
        self._buffer_bytes = int(made.pop(BUFFER_KEY, BUFFER_BYTES // BYTES_PER_KB)) * BYTES_PER_KB
        self.check = check
        self._undelivered: list[DeliveryFailure] = []
        self._record_bytes = 1.0
        own = {
            "delivery.report.only.error": True,
            "on_delivery": self._note,
            "queue.buffering.max.messages": 0,
            BUFFER_KEY: NO_LIMIT_KB,
        }
        self.client = Producer({**made, **own})

    def send(self, outgoing: TopicMessages) -> None:
        topic, messages, has_headers = outgoing
        for start in range(0, len(messages), CHUNK_RECORDS):
            chunk = list(messages[start : start + CHUNK_RECORDS])
            self._make_room(chunk)
            if has_headers:
                self._send_one_by_one(topic, chunk)
            elif self.client.produce_batch(topic, chunk) < len(chunk):
                self._note_refused(topic, chunk)

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything is acknowledged; False when it is not within the time."""
        deadline = monotonic() + timeout_s
        while self._serve(self.client.flush, POLL_S):
            if monotonic() > deadline:
                return False
        return True

    def poll(self) -> None:
        """Let failures be reported."""
        self._serve(self.client.poll, 0)

    def take_undelivered(self) -> list[DeliveryFailure]:
        """Records that Kafka did not take, by their own fault. ConnectError when it was not theirs."""
        found, self._undelivered = self._undelivered, []
        for each in found:
            if each.error.code() not in BAD_RECORD:
                raise ConnectError(_explained(each)) from KafkaException(each.error)
        return found

    def raise_undelivered(self) -> None:
        """ConnectError when anything was not taken, whosever fault it was."""
        if self._undelivered:
            raise ConnectError(_explained(self._undelivered[0]))

    def forget_undelivered(self) -> None:
        self._undelivered = []

    def close(self) -> None:
        """Forget what is not delivered yet; a clean end flushes before."""
        self.client.purge()
        # What ended the task is known by now; that the producer cannot go on is no news.
        with contextlib.suppress(ConnectError):
            self._serve(self.client.flush, POLL_S)

    def _serve(self, serve: Callable[[float], int], timeout_s: float) -> int:
        """Let librdkafka report. What has ended the whole producer is raised by whichever call comes next: ConnectError."""
        try:
            return serve(timeout_s)
        except KafkaException as problem:
            raise refusal(problem.args[0]) from problem

    def _make_room(self, chunk: Sequence[ProducerMessage]) -> None:
        samples = chunk[:: len(chunk) // SIZE_SAMPLES + 1]
        size = sum(len(message["value"] or b"") + len(message["key"] or b"") for message in samples)
        self._record_bytes = max((self._record_bytes + size / len(samples)) / 2, 1.0)
        waiting_max = min(BUFFER_RECORDS, max(self._buffer_bytes / self._record_bytes, 1))
        self.poll()
        while len(self.client) >= waiting_max:
            self._serve(self.client.poll, POLL_S)
            self.check()

    def _send_one_by_one(self, topic: str, chunk: Sequence[ProducerMessage]) -> None:
        """librdkafka's batches have no headers."""
        produce = self.client.produce
        for message in chunk:
            try:
                produce(topic, **message)
            except KafkaException as problem:
                self._undelivered.append(DeliveryFailure(topic, message["key"], message["value"], problem.args[0]))

    def _note_refused(self, topic: str, chunk: Sequence[ProducerMessage]) -> None:
        self._undelivered += [
            DeliveryFailure(topic, message["key"], message["value"], message["_error"])
            for message in chunk
            if "_error" in message
        ]

    def _note(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._undelivered.append(DeliveryFailure(message.topic() or "", message.key(), message.value(), error))


def producer_settings(
    worker: WorkerConfig, config: Mapping[str, str], client_id: str, transactional_id: str | None = None
) -> dict[str, Any]:
    defaults = dict(PRODUCER_DEFAULTS)
    if transactional_id is not None:
        # A record may not wait for longer than its transaction.
        del defaults["message.timeout.ms"]
        defaults["transactional.id"] = transactional_id
    return client_settings(worker, config, ClientKind.PRODUCER, client_id, defaults)


def refusal(error: KafkaError) -> ConnectError:
    """What to say of an error that ends a producer."""
    return ConnectError(SHUT_OUT if error.code() in FENCED else f"the producer cannot go on: {error.str()}")


def _explained(undelivered: DeliveryFailure) -> str:
    if undelivered.error.code() in (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART):
        return (
            f"the topic {undelivered.topic} does not exist, and the brokers do not create it: create it, or let the connector do so "
            "with topic.creation.default.partitions and topic.creation.default.replication.factor"
        )
    if undelivered.error.code() in FENCED:
        return SHUT_OUT
    return f"Kafka refused a record for the topic {undelivered.topic}: {undelivered.error.str()}"
