"""Records as live streams show them: a line of JSON each, in the shape in which v3 takes records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from confluent_kafka import Message

from barnabas.kernel.http.schema import ANYTHING, DATE_TIME, INT32, INT64, Shape, enum, nullable, open_object
from rest_proxy.formats.failure import Undecodable
from rest_proxy.formats.formats import Formats
from rest_proxy.formats.schema_choice import AUTO, BINARY
from rest_proxy.record_headers import HEADERS, record_headers, shown_headers
from rest_proxy.v3.receipts import iso_date
from rest_proxy.v3.record_reader import TYPES

NO_TIMESTAMP: Final = 0

_SIDE: Final = nullable(open_object({"type": enum(*TYPES), "data": ANYTHING}))
STREAMED_RECORD: Final = Shape(
    "StreamedRecord",
    open_object(
        {"partition_id": INT32, "offset": INT64, "key": _SIDE, "value": _SIDE},
        {"timestamp": DATE_TIME, "headers": HEADERS},
    ),
)


@dataclass(frozen=True, slots=True)
class RecordForm:
    """The formats of keys and of values; AUTO leaves it to each of them. What cannot be read so is shown in base64. Each says its type."""

    key: str
    value: str

    async def lines(self, formats: Formats, messages: Sequence[Message]) -> list[bytes]:
        """One line for each record, without its end."""
        headers = [record_headers(message) for message in messages]
        keys = await _shown(
            formats, self.key, [(message.key(), each) for message, each in zip(messages, headers, strict=True)], True
        )
        values = await _shown(
            formats,
            self.value,
            [(message.value(), each) for message, each in zip(messages, headers, strict=True)],
            False,
        )
        times = Times()
        return [
            b'{"partition_id":%d,"offset":%d%b%b,"key":%b,"value":%b}'
            % (
                message.partition() or 0,
                message.offset() or 0,
                times.shown(message.timestamp()),
                _shown_headers(each) if each else b"",
                key,
                value,
            )
            for message, each, key, value in zip(messages, headers, keys, values, strict=True)
        ]


class Times:
    """Timestamps of records, most of which came within the millisecond of the one before."""

    __slots__ = ("_shown", "_timestamp")

    def __init__(self) -> None:
        self._timestamp = NO_TIMESTAMP, 0
        self._shown = b""

    def shown(self, timestamp: tuple[int, int]) -> bytes:
        """Nothing for a record that has none."""
        if timestamp != self._timestamp:
            self._timestamp = kind, timestamp_ms = timestamp
            self._shown = b"" if kind == NO_TIMESTAMP else f',"timestamp":"{iso_date(timestamp_ms)}"'.encode()
        return self._shown


_Data = tuple[bytes | None, Sequence[tuple[str, bytes | None]]]


def _shown_headers(headers: Sequence[tuple[str, bytes | None]]) -> bytes:
    return b',"headers":' + orjson.dumps(shown_headers(headers))


async def _shown(formats: Formats, form: str, data: Sequence[_Data], is_key: bool) -> list[bytes]:
    """Texts with their type."""
    if form == AUTO:
        return [_typed(found, text) for found, text in await formats.guessed(data, is_key=is_key)]
    try:
        texts = await formats.texts(form, data, is_key=is_key)
    except Undecodable:
        return [await _shown_one(formats, form, each, is_key) for each in data]
    return [_typed(form, text) for text in texts]


async def _shown_one(formats: Formats, form: str, data: _Data, is_key: bool) -> bytes:
    try:
        (text,) = await formats.texts(form, [data], is_key=is_key)
    except Undecodable:
        form = BINARY
        (text,) = await formats.texts(form, [data], is_key=is_key)
    return _typed(form, text)


def _typed(form: str, text: bytes | None) -> bytes:
    return b"null" if text is None else b'{"type":"%b","data":%b}' % (form.upper().encode(), text)
