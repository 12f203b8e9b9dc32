"""Records as v2 shows them, each with its time and its headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import orjson
from confluent_kafka import Message

from barnabas.kernel.http.schema import INTEGER, STRING, Shape, list_of, open_object
from rest_proxy.formats.failure import Undecodable
from rest_proxy.formats.formats import Formats
from rest_proxy.formats.schema_choice import AUTO
from rest_proxy.record_headers import HEADERS, record_headers, shown_headers
from rest_proxy.v2.consuming.answer import RECORD

_Shape: TypeAlias = dict[str, Any]

RECORDS: Final = Shape(
    "PartitionRecords",
    list_of(
        {
            **open_object(
                {**RECORD, "timestamp": INTEGER, "headers": HEADERS}, {"key_type": STRING, "value_type": STRING}
            ),
            "description": "key_type and value_type name the format where the reader leaves it open: application/json.",
        }
    ),
)


async def readable(formats: Formats, form: str, messages: Sequence[Message]) -> list[_Shape]:
    """Those before the first that cannot be read. If that is the very first, Undecodable says which it is and how to go on."""
    try:
        return await _shapes(formats, form, messages)
    except Undecodable:
        found: list[_Shape] = []
    for message in messages:
        try:
            found += await _shapes(formats, form, [message])
        except Undecodable as problem:
            if not found:
                raise _located(problem, message) from None
            break
    return found


def _located(problem: Undecodable, message: Message) -> Undecodable:
    offset = message.offset() or 0
    return Undecodable(
        f"{problem.message} (record {offset} of partition {message.partition()} of topic {message.topic()}; "
        f"to go on behind it, read from offset={offset + 1}, or read it as application/vnd.kafka.binary.v2+json)"
    )


async def _shapes(formats: Formats, form: str, messages: Sequence[Message]) -> list[_Shape]:
    headers = [record_headers(message) for message in messages]
    keys = [(message.key(), each) for message, each in zip(messages, headers, strict=True)]
    values = [(message.value(), each) for message, each in zip(messages, headers, strict=True)]
    shown_keys = await _shown(formats, form, "key", keys)
    shown_values = await _shown(formats, form, "value", values)
    return [
        {
            "topic": message.topic(),
            **key,
            **value,
            "partition": message.partition(),
            "offset": message.offset(),
            "timestamp": message.timestamp()[1],
            "headers": shown_headers(each),
        }
        for message, each, key, value in zip(messages, headers, shown_keys, shown_values, strict=True)
    ]


async def _shown(
    formats: Formats, form: str, name: str, data: Sequence[tuple[bytes | None, Sequence[tuple[str, bytes | None]]]]
) -> list[_Shape]:
    """A key or a value, with its type where the reader has left it open."""
    is_key = name == "key"
    if form != AUTO:
        return [{name: shown} for shown in await formats.decode_all(form, data, is_key=is_key)]
    return [
        {name: None} if text is None else {name: orjson.Fragment(text), f"{name}_type": found.upper()}
        for found, text in await formats.guessed(data, is_key=is_key)
    ]
