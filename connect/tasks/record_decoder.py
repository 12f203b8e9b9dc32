"""Messages of topics to the records that a sink takes, batch by batch."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final, NamedTuple

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from connect.api.record import Header, Record
from connect.converters.converter import Converter, DecodedColumn, SchemaAndValue
from connect.tasks.dead_letter_queue import Origin, Stage
from connect.tasks.retries import Retries
from connect.tasks.task_converters import Converters
from connect.tasks.tolerance import Tolerance
from connect.tasks.transform_chain import TransformChain

logger = logging.getLogger(__name__)

# What `Record._make` does, without the check of the length for each of them.
_new_record: Final = partial(tuple.__new__, Record)
_NO_HEADERS: Final[tuple[Header, ...]] = ()


class DecodedBatch(NamedTuple):
    """Records, and the message that each was made from."""

    records: Sequence[Record]
    origins: Sequence[Message]


class RecordDecoder:
    """Converters, then transforms. Whole batches at once; one after the other only in a batch that holds a bad record."""

    def __init__(self, converters: Converters, chain: TransformChain, tolerance: Tolerance, retries: Retries) -> None:
        self._converters = converters
        self._chain = chain
        self._tolerance = tolerance
        self._retries = retries

    def decode(self, messages: Sequence[Message]) -> DecodedBatch:
        records: list[Record] = []
        origins: list[Message] = []
        for topic, group in _by_topic(messages):
            decoded = self._topic(topic, group)
            records += decoded.records
            origins += decoded.origins
        changed, places = self._chain.apply(records, lambda place: origin_of(origins[place]))
        return DecodedBatch(changed, origins if len(places) == len(origins) else [origins[place] for place in places])

    def _topic(self, topic: str, messages: Sequence[Message]) -> DecodedBatch:
        try:
            return DecodedBatch(self._records(topic, messages), messages)
        except Exception:
            logger.debug("a converter failed; the records of the batch are tried one by one", exc_info=True)
        found = [(record, message) for message in messages if (record := self._one(topic, message)) is not None]
        return DecodedBatch([record for record, _ in found], [message for _, message in found])

    def _records(self, topic: str, messages: Sequence[Message]) -> list[Record]:
        values, value_schemas = self._column(self._converters.value, topic, list(map(Message.value, messages)))
        keys, key_schemas = self._column(self._converters.key, topic, list(map(Message.key, messages)))
        headers = list(map(Message.headers, messages))
        columns = (
            repeat(topic),
            values,
            value_schemas,
            keys,
            key_schemas,
            map(Message.partition, messages),
            _timestamps(messages),
            (self._headers(topic, each) for each in headers) if any(headers) else repeat(_NO_HEADERS),
            map(Message.offset, messages),
        )
        return list(map(_new_record, zip(*columns, strict=False)))

    def _column(self, converter: Converter, topic: str, data: Sequence[bytes | None]) -> DecodedColumn:
        """What has no bytes at all is decoded once."""
        if data.count(None) == len(data):
            schema, value = self._retries.call(lambda: converter.decode(topic, None))
            return DecodedColumn(repeat(value, len(data)), repeat(schema, len(data)))
        return self._retries.call(lambda: converter.decode_column(topic, data))

    def _headers(self, topic: str, headers: Any) -> tuple[Header, ...]:
        if not headers:
            return _NO_HEADERS
        decode = self._converters.headers.decode
        found = []
        for name, data in headers:
            schema, value = decode(topic, name, data)
            found.append(Header(name, value, schema))
        return tuple(found)

    def _one(self, topic: str, message: Message) -> Record | None:
        """The record of one message; None if it is rejected."""
        keys, values, headers = self._converters
        steps = (
            (Stage.KEY_CONVERTER, keys, partial(keys.decode, topic, message.key())),
            (Stage.VALUE_CONVERTER, values, partial(values.decode, topic, message.value())),
            (Stage.HEADER_CONVERTER, headers, partial(self._headers, topic, message.headers())),
        )
        found: list[Any] = []
        for stage, executor, step in steps:
            try:
                found.append(self._retries.call(step))
            except Exception as error:  # noqa: BLE001 - Kafka Connect tolerates every error of a converter
                self._tolerance.reject(origin_of(message), stage, executor, error)
                return None
        key: SchemaAndValue = found[0]
        value: SchemaAndValue = found[1]
        return Record(
            topic, value.value, value.schema, key.value, key.schema,
            message.partition(), _timestamps([message])[0], found[2], message.offset(),
        )  # fmt: skip


def origin_of(message: Message) -> Origin:
    headers: Any = message.headers() or ()
    return Origin(
        message.topic() or "", message.key(), message.value(), headers,
        message.partition(), message.offset(), _timestamps([message])[0],
    )  # fmt: skip


def _timestamps(messages: Iterable[Message]) -> list[int | None]:
    found = map(Message.timestamp, messages)
    return [None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds for kind, milliseconds in found]


def _by_topic(messages: Sequence[Message]) -> Iterable[tuple[str, Sequence[Message]]]:
    topics = list(map(Message.topic, messages))
    if topics.count(topics[0]) == len(topics):
        return ((topics[0] or "", messages),)
    groups: dict[str, list[Message]] = {}
    for topic, message in zip(topics, messages, strict=True):
        groups.setdefault(topic or "", []).append(message)
    return groups.items()
