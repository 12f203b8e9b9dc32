"""Records of one partition from any place on, in one request: no consumer instance, no session that must stick to a proxy."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson
from confluent_kafka import Message
from starlette.responses import Response

from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from rest_proxy.formats.formats import Formats
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.problems import PARTITION_NOT_FOUND, TOPIC_NOT_FOUND
from rest_proxy.proxy import Proxy
from rest_proxy.streams.moment import moment_ms
from rest_proxy.streams.offsets import Offsets
from rest_proxy.streams.readers import Readers
from rest_proxy.streams.record_headers import record_headers, shown_headers
from rest_proxy.v2.media import EMBEDDED_TYPES
from rest_proxy.v2.partition_number import partition_number

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
NOT_ACCEPTABLE: Final = 406
OFFSET_OUT_OF_RANGE: Final = 40002
NUMBER_MAX: Final = 2**63 - 1
MS_PER_S: Final = 1000

BEGINNING: Final = "beginning"
END: Final = "end"

_NUMBER: Final = re.compile("[0-9]{1,19}")
_OFFERS: Final = [
    Offer(media_type)
    for text in (*EMBEDDED_TYPES.values(), "application/vnd.kafka.v2+json", "application/json")
    if (media_type := parse_media_type(text)) is not None
]
_FORMATS: Final = {essence: form for form, essence in EMBEDDED_TYPES.items()}


def routes(proxy: Proxy) -> Iterator[Route]:
    yield Route("GET", "/topics/{topic}/partitions/{partition}/records", PartitionRecords(proxy).get)


class PartitionRecords:
    """Answers as soon as there is a record, or with an empty list when the time is up."""

    def __init__(self, proxy: Proxy) -> None:
        self._formats: Formats = proxy.formats
        self._offsets = Offsets(proxy.clients.admin)
        self._readers = Readers(proxy.settings, proxy.clients.threads)
        self._timeout_ms = proxy.settings.integer("consumer.request.timeout.ms")
        self._max_bytes = proxy.settings.integer("consumer.request.max.bytes")

    async def get(self, request: Request) -> Response:
        chosen = choose(request.headers.get("accept", ""), _OFFERS)
        if chosen is None:
            raise HttpError(NOT_ACCEPTABLE, "HTTP 406 Not Acceptable")
        form = _FORMATS.get(chosen.essence, "binary")
        topic, partition = request.path_value("topic"), partition_number(request)
        timeout_ms = min(_number(request, "timeout", self._timeout_ms), self._timeout_ms)
        max_bytes = min(_number(request, "max_bytes", self._max_bytes), self._max_bytes)
        await self._check(topic, partition)
        start = await self._start(request, topic, partition)
        messages = await self._read(topic, partition, start, timeout_ms)
        records = await self._shown(form, _up_to(messages, max_bytes))
        return Response(orjson.dumps(records), media_type=chosen.essence)

    async def _start(self, request: Request, topic: str, partition: int) -> int:
        offset, timestamp = request.query_value("offset"), request.query_value("timestamp")
        if bool(offset) == bool(timestamp):
            raise HttpError(
                BAD_REQUEST, "Say where to begin, either with offset=… (a number, beginning or end) or with timestamp=…"
            )
        if _NUMBER.fullmatch(offset) and int(offset) <= NUMBER_MAX:
            return int(offset)
        if timestamp:
            moment = moment_ms(timestamp)
            if moment is None:
                raise HttpError(
                    BAD_REQUEST,
                    f"timestamp={timestamp!r} is neither a date such as 2026-01-31T12:00:00Z nor milliseconds since 1970",
                )
            return (await self._offsets.at_time(topic, [partition], moment))[partition]
        if offset == BEGINNING:
            return (await self._offsets.earliest(topic, [partition]))[partition]
        if offset == END:
            return (await self._offsets.latest(topic, [partition]))[partition]
        raise HttpError(BAD_REQUEST, f"offset={offset!r} is neither a number nor {BEGINNING} nor {END}")

    async def _read(self, topic: str, partition: int, start: int, timeout_ms: int) -> Sequence[Message]:
        deadline = asyncio.get_running_loop().time() + timeout_ms / MS_PER_S
        positions = {partition: start}
        while True:
            left_s = max(deadline - asyncio.get_running_loop().time(), 0.0)
            try:
                portion = await self._readers.read(topic, positions, left_s)
            except KafkaFailure as failure:
                if failure.name != "_AUTO_OFFSET_RESET":
                    raise
                raise await self._out_of_range(topic, partition, start) from None
            if portion.messages or left_s == 0:
                return portion.messages
            positions = portion.positions

    async def _check(self, topic: str, partition: int) -> None:
        try:
            partitions = await self._offsets.partitions(topic)
        except KafkaFailure as failure:
            if failure.name in ("UNKNOWN_TOPIC_OR_PART", "TOPIC_EXCEPTION"):
                raise HttpError(NOT_FOUND, "Topic not found.", code=TOPIC_NOT_FOUND) from None
            raise
        if partition not in partitions:
            raise HttpError(NOT_FOUND, "Partition not found.", code=PARTITION_NOT_FOUND)

    async def _out_of_range(self, topic: str, partition: int, offset: int) -> HttpError:
        first = (await self._offsets.earliest(topic, [partition]))[partition]
        end = (await self._offsets.latest(topic, [partition]))[partition]
        return HttpError(
            BAD_REQUEST,
            f"offset={offset} is out of range: partition {partition} of {topic} has records from {first} on, "
            f"and the next one will be {end}",
            code=OFFSET_OUT_OF_RANGE,
        )

    async def _shown(self, form: str, messages: Sequence[Message]) -> list[dict[str, Any]]:
        headers = [record_headers(message) for message in messages]
        keys = await self._formats.decode_all(
            form, [(message.key(), each) for message, each in zip(messages, headers, strict=True)], is_key=True
        )
        values = await self._formats.decode_all(
            form, [(message.value(), each) for message, each in zip(messages, headers, strict=True)]
        )
        return [
            {
                "topic": message.topic(),
                "key": key,
                "value": value,
                "partition": message.partition(),
                "offset": message.offset(),
                "timestamp": message.timestamp()[1],
                "headers": shown_headers(each),
            }
            for message, each, key, value in zip(messages, headers, keys, values, strict=True)
        ]


def _up_to(messages: Sequence[Message], max_bytes: int) -> Sequence[Message]:
    """As many as fit, and at least one, so that a reader always comes on."""
    total = 0
    for index, message in enumerate(messages):
        total += len(message.key() or b"") + len(message.value() or b"")
        if total > max_bytes:
            return messages[: max(index, 1)]
    return messages


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_value(name)
    if not text:
        return default
    if not _NUMBER.fullmatch(text):
        raise HttpError(BAD_REQUEST, f"{name}={text!r} is not a number from 0 on")
    return int(text)
