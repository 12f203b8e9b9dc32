"""Records of a source to the bytes of messages, batch by batch."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, repeat
from operator import itemgetter
from typing import Any

from connect.api.record import Record
from connect.converters.converter import Converter
from connect.data.schema import Schema
from connect.tasks.dead_letter_queue import Origin, Stage
from connect.tasks.record_producer import ProducerMessage, TopicMessages
from connect.tasks.retries import Retries
from connect.tasks.task_converters import Converters
from connect.tasks.tolerance import Tolerance
from connect.tasks.transform_chain import TransformChain

logger = logging.getLogger(__name__)


class RecordEncoder:
    """Transforms, then converters. Whole batches at once; one after the other only in a batch that holds a bad record."""

    def __init__(self, chain: TransformChain, converters: Converters, tolerance: Tolerance, retries: Retries) -> None:
        self._chain = chain
        self._converters = converters
        self._tolerance = tolerance
        self._retries = retries

    def encode(self, records: Sequence[Record]) -> list[TopicMessages]:
        changed, _ = self._chain.apply(records, lambda place: origin_of(records[place]))
        return [self._outgoing(topic, group) for topic, group in _by_topic(changed)]

    def _outgoing(self, topic: str, records: Sequence[Record]) -> TopicMessages:
        try:
            messages = self._messages(topic, records)
        except Exception:
            logger.debug("a converter failed; the records of the batch are tried one by one", exc_info=True)
            messages = [message for record in records for message in self._one(topic, record)]
        return TopicMessages(topic, messages, has_headers=any(record.headers for record in records))

    def _messages(self, topic: str, records: Sequence[Record]) -> list[ProducerMessage]:
        _, values, value_schemas, keys, key_schemas, partitions, timestamps, headers, _ = zip(*records, strict=True)
        key_bytes = self._column(self._converters.key, topic, key_schemas, keys)
        value_bytes = self._column(self._converters.value, topic, value_schemas, values)
        messages = [{"key": key, "value": value} for key, value in zip(key_bytes, value_bytes, strict=True)]
        _add(messages, "partition", partitions)
        _add(messages, "timestamp", timestamps)
        if any(headers):
            _add(messages, "headers", [self._headers(topic, record) or None for record in records])
        return messages

    def _column(
        self, converter: Converter, topic: str, schemas: Sequence[Schema | None], values: Sequence[Any]
    ) -> Iterable[bytes | None]:
        """The bytes of all keys or all values; most often they have one schema."""
        count = len(values)
        if schemas.count(schemas[0]) == count:
            if schemas[0] is None and values.count(None) == count:
                return repeat(None, count)
            return self._encoded(converter, topic, schemas[0], values)
        encoded: list[bytes | None] = []
        for schema, run in groupby(zip(schemas, values, strict=True), key=itemgetter(0)):
            encoded += self._encoded(converter, topic, schema, [value for _, value in run])
        return encoded

    def _encoded(
        self, converter: Converter, topic: str, schema: Schema | None, values: Sequence[Any]
    ) -> list[bytes | None]:
        return self._retries.call(lambda: converter.encode_all(topic, schema, values))

    def _headers(self, topic: str, record: Record) -> list[tuple[str, bytes | None]]:
        encode = self._converters.headers.encode
        return [(name, encode(topic, name, schema, value)) for name, value, schema in record.headers]

    def _one(self, topic: str, record: Record) -> Iterator[ProducerMessage]:
        """The message of one record; none if it is rejected."""
        keys, values, headers = self._converters
        steps: list[tuple[str, Stage, object, Callable[[], Any]]] = [
            ("key", Stage.KEY_CONVERTER, keys, partial(keys.encode, topic, record.key_schema, record.key)),
            ("value", Stage.VALUE_CONVERTER, values, partial(values.encode, topic, record.value_schema, record.value)),
        ]
        if record.headers:
            steps.append(("headers", Stage.HEADER_CONVERTER, headers, partial(self._headers, topic, record)))
        message: ProducerMessage = {}
        for name, stage, executor, step in steps:
            try:
                message[name] = self._retries.call(step)
            except Exception as error:  # noqa: BLE001 - Kafka Connect tolerates every error of a converter
                self._tolerance.reject(origin_of(record), stage, executor, error)
                return
        _add([message], "partition", [record.partition])
        _add([message], "timestamp", [record.timestamp_ms])
        yield message


def origin_of(record: Record) -> Origin:
    """A record that has no bytes yet, as a dead letter: its key and value as text."""
    return Origin(record.topic, _text(record.key), _text(record.value), timestamp_ms=record.timestamp_ms)


def _text(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False).encode()


def _add(messages: Sequence[ProducerMessage], name: str, values: Sequence[Any]) -> None:
    if values.count(None) < len(values):
        for message, value in zip(messages, values, strict=True):
            if value is not None:
                message[name] = value


def _by_topic(records: Sequence[Record]) -> Iterable[tuple[str, Sequence[Record]]]:
    if not records:
        return ()
    topics = [record.topic for record in records]
    if topics.count(topics[0]) == len(topics):
        return ((topics[0], records),)
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.topic, []).append(record)
    return groups.items()
