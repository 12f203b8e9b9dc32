"""Records as live streams show them: a line of JSON each, in the shape in which v3 takes records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from confluent_kafka import Message

from rest_proxy.formats.failure import Undecodable
from rest_proxy.formats.formats import Formats
from rest_proxy.formats.schema_choice import BINARY
from rest_proxy.streams.record_headers import record_headers, shown_headers
from rest_proxy.v3.receipts import iso_date

NO_TIMESTAMP: Final = 0


@dataclass(frozen=True, slots=True)
class RecordForm:
    """The formats of keys and of values. What cannot be read so is shown in base64; each says its type."""

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
        dates = Dates()
        return [
            _line(message, each, key, value, dates)
            for message, each, key, value in zip(messages, headers, keys, values, strict=True)
        ]


class Dates:
    """Dates of records, most of which came within the millisecond of the one before."""

    __slots__ = ("_date", "_timestamp_ms")

    def __init__(self) -> None:
        self._timestamp_ms = -1
        self._date = ""

    def date(self, timestamp_ms: int) -> str:
        if timestamp_ms != self._timestamp_ms:
            self._timestamp_ms = timestamp_ms
            self._date = iso_date(timestamp_ms)
        return self._date


_Data = tuple[bytes | None, Sequence[tuple[str, bytes | None]]]


def _line(
    message: Message,
    headers: Sequence[tuple[str, bytes | None]],
    key: dict[str, Any] | None,
    value: dict[str, Any] | None,
    dates: Dates,
) -> bytes:
    line: dict[str, Any] = {"partition_id": message.partition(), "offset": message.offset()}
    kind, timestamp_ms = message.timestamp()
    if kind != NO_TIMESTAMP:
        line["timestamp"] = dates.date(timestamp_ms)
    if headers:
        line["headers"] = shown_headers(headers)
    line["key"] = key
    line["value"] = value
    return orjson.dumps(line)


async def _shown(formats: Formats, form: str, data: Sequence[_Data], is_key: bool) -> list[dict[str, Any] | None]:
    name = form.upper()
    try:
        decoded = await formats.decode_all(form, data, is_key=is_key)
    except Undecodable:
        return [await _shown_one(formats, form, each, is_key) for each in data]
    return [None if each is None else {"type": name, "data": each} for each in decoded]


async def _shown_one(formats: Formats, form: str, data: _Data, is_key: bool) -> dict[str, Any] | None:
    if data[0] is None:
        return None
    try:
        return {"type": form.upper(), "data": await formats.decode(form, *data, is_key=is_key)}
    except Undecodable:
        return {"type": BINARY.upper(), "data": await formats.decode(BINARY, *data, is_key=is_key)}
