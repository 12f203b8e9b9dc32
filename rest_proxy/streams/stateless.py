"""Records of one partition from any place on, in one request: no consumer instance, no session that must stick to a proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

import orjson
from confluent_kafka import Message
from starlette.responses import Response

from barnabas.kernel.http import schema
from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from rest_proxy.formats.formats import Formats
from rest_proxy.formats.schema_choice import AUTO, BINARY, STRING
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.problems import OFFSET_OUT_OF_RANGE, PARTITION_NOT_FOUND, TOPIC_NOT_FOUND, not_acceptable
from rest_proxy.proxy import Proxy
from rest_proxy.streams.moment import moment_ms
from rest_proxy.streams.offsets import Offsets
from rest_proxy.streams.parameters import BEGINNING, END, SYNONYMS, check_parameters, number
from rest_proxy.streams.readers import Readers
from rest_proxy.streams.record_list import RECORDS, readable
from rest_proxy.v2.media import EMBEDDED_TYPES, V2
from rest_proxy.v2.operation import MAX_BYTES, READ_ERRORS, TIMEOUT
from rest_proxy.v2.partition_number import partition_number

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
MS_PER_S: Final = 1000
LIMIT_NONE: Final = 2**31
"""More than one answer ever holds."""
POLL_S: Final = 1.0
"""How long one of the few readers may wait for records. Who waits for longer only looks whether there are any."""
LOOK_AGAIN_S: Final = 0.1

_FORMATS: Final = {
    "application/json": AUTO,
    V2: BINARY,
    **{essence: form for form, essence in EMBEDDED_TYPES.items()},
    f"application/vnd.kafka.{STRING}.v2+json": STRING,
}
_OFFERS: Final = [Offer(media_type) for text in _FORMATS if (media_type := parse_media_type(text)) is not None]

_PARAMETERS: Final = (
    Parameter(
        "offset",
        schema.STRING,
        "Where to begin: a number, `beginning` (`earliest`) or `end` (`latest`). Either this or a timestamp is needed.",
    ),
    Parameter(
        "timestamp",
        schema.STRING,
        "When to begin: a date such as 2026-01-31 or 2026-01-31T12:00:00Z, or milliseconds since 1970.",
    ),
    TIMEOUT,
    Parameter("limit", schema.INT32, "Records after which the response ends."),
    MAX_BYTES,
)
_NAMES: Final = [parameter.name for parameter in _PARAMETERS]
_OPERATION: Final = Operation(
    "readRecords",
    "Records (v2)",
    "Read records of a partition from any position on, without a consumer instance",
    {200: content(RECORDS, *_FORMATS), **READ_ERRORS},
    _PARAMETERS,
)


def routes(proxy: Proxy) -> Iterator[Route]:
    yield Route("GET", "/topics/{topic}/partitions/{partition}/records", PartitionRecords(proxy).get, _OPERATION)


class PartitionRecords:
    """Answers as soon as there is a record, or with an empty list when the time is up."""

    def __init__(self, proxy: Proxy) -> None:
        self._formats: Formats = proxy.formats
        self._offsets = Offsets(proxy.clients.admin)
        self._readers = Readers(proxy.settings, proxy.clients)
        self._stopping = proxy.stopping
        self._timeout_ms = proxy.settings.integer("consumer.request.timeout.ms")
        self._timeout_max_ms = max(proxy.settings.integer("request.timeout.ms") // 2, self._timeout_ms)
        self._max_bytes = proxy.settings.integer("consumer.request.max.bytes")

    async def get(self, request: Request) -> Response:
        chosen = choose(request.headers.get("accept", ""), _OFFERS)
        if chosen is None:
            raise not_acceptable(_FORMATS)
        check_parameters(request, _NAMES)
        topic, partition = request.path_value("topic"), partition_number(request)
        timeout_ms = self._timeout(request)
        request.waits = True
        limit = _number(request, "limit", LIMIT_NONE)
        max_bytes = min(_number(request, "max_bytes", self._max_bytes), self._max_bytes)
        await self._check(topic, partition)
        start = await self._start(request, topic, partition)
        messages = await self._read(topic, partition, start, timeout_ms)
        shown = await readable(self._formats, _FORMATS[chosen.essence], _up_to(messages[:limit], max_bytes))
        return Response(orjson.dumps(shown), media_type=chosen.essence)

    def _timeout(self, request: Request) -> int:
        timeout_ms = _number(request, "timeout", self._timeout_ms)
        if timeout_ms > self._timeout_max_ms:
            raise HttpError(
                BAD_REQUEST,
                f"timeout={timeout_ms} is more than the {self._timeout_max_ms} ms that a read may wait "
                "(half of request.timeout.ms); ask again when it is up",
            )
        return timeout_ms

    async def _start(self, request: Request, topic: str, partition: int) -> int:
        offset, timestamp = request.query_value("offset"), request.query_value("timestamp")
        offset = SYNONYMS.get(offset, offset)
        if bool(offset) == bool(timestamp):
            raise HttpError(
                BAD_REQUEST, "Say where to begin, either with offset=… (a number, beginning or end) or with timestamp=…"
            )
        if offset.isdecimal():
            return number("offset", offset)
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
        raise HttpError(
            BAD_REQUEST, f"offset={offset!r} is neither a number nor {BEGINNING} (earliest) nor {END} (latest)"
        )

    async def _read(self, topic: str, partition: int, start: int, timeout_ms: int) -> Sequence[Message]:
        clock_s = asyncio.get_running_loop().time
        deadline_s = clock_s() + timeout_ms / MS_PER_S
        positions = {partition: start}
        while True:
            left_s = max(deadline_s - clock_s(), 0.0)
            try:
                portion = await self._readers.read(topic, positions, min(left_s, POLL_S))
            except KafkaFailure as failure:
                if failure.name != "_AUTO_OFFSET_RESET":
                    raise
                raise await self._out_of_range(topic, partition, start) from None
            if portion.messages or left_s == 0 or self._stopping.is_set():
                return portion.messages
            positions = dict(portion.positions)
            await self._wait(topic, partition, positions[partition], deadline_s)

    async def _wait(self, topic: str, partition: int, position: int, deadline_s: float) -> None:
        """Until there is something at a position, or the time is up."""
        clock_s = asyncio.get_running_loop().time
        while (left_s := deadline_s - clock_s()) > 0 and not self._stopping.is_set():
            if (await self._offsets.latest(topic, [partition]))[partition] > position:
                break
            await asyncio.sleep(min(left_s, LOOK_AGAIN_S))

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
    return number(name, text) if text else default
