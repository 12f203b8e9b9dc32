"""Producing in v2: any number of records in one request, one place in the answer for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import orjson
from starlette.responses import Response

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from rest_proxy.formats.failure import InvalidData
from rest_proxy.formats.formats import Formats
from rest_proxy.formats.schema_choice import PLAIN_FORMATS, SchemaChoice
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import ANY_PARTITION, Delivered, OutgoingRecord, SharedProducer
from rest_proxy.kafka.topic_name import invalid_topic
from rest_proxy.problems import (
    AUTHENTICATION_FAILED,
    AUTHORIZATION_FAILED,
    BAD_REQUEST,
    FORBIDDEN,
    KEY_SCHEMA_MISSING,
    UNAUTHORIZED,
    UNPROCESSABLE,
    VALUE_SCHEMA_MISSING,
    of_record,
)
from rest_proxy.proxy import Proxy
from rest_proxy.v2.media import answer_type, embedded_format
from rest_proxy.v2.partition_number import PARTITION_MAX, partition_number
from rest_proxy.v2.produce_request import ProduceRequest, unrecognized

OK: Final = 200
RECORDS_AT_ONCE: Final = 500
"""Records that are encoded before other requests have their turn."""

_RECORD_FIELDS: Final = frozenset({"key", "value", "partition"})
_STATUS_OF_CODE: Final = {AUTHENTICATION_FAILED: UNAUTHORIZED, AUTHORIZATION_FAILED: FORBIDDEN}


def routes(proxy: Proxy) -> Iterator[Route]:
    produce = Produce(proxy.formats, proxy.clients.producer)
    yield Route("POST", "/topics/{topic}", produce.to_topic)
    yield Route("POST", "/topics/{topic}/partitions/{partition}", produce.to_partition)


class _Part(NamedTuple):
    """The keys or the values of a request: their name, how they become bytes, and the schema that the answer names."""

    name: str
    encode: Callable[[Any], bytes | None]
    schema_id: int | None = None


class Produce:
    def __init__(self, formats: Formats, producer: SharedProducer) -> None:
        self._formats = formats
        self._producer = producer

    async def to_topic(self, request: Request) -> Response:
        return await self._produce(request, ANY_PARTITION)

    async def to_partition(self, request: Request) -> Response:
        return await self._produce(request, partition_number(request))

    async def _produce(self, request: Request, partition: int) -> Response:
        form = embedded_format(request)
        media_type = answer_type(request)
        topic = request.path_value("topic")
        body = ProduceRequest.parse(await request.body())
        key = await self._part(body, topic, form, is_key=True)
        value = await self._part(body, topic, form, is_key=False)
        outgoing: list[OutgoingRecord] = []
        for start in range(0, len(body.records), RECORDS_AT_ONCE):
            if start:
                await asyncio.sleep(0)
            some = enumerate(body.records[start : start + RECORDS_AT_ONCE], start)
            outgoing += _outgoing(some, topic, partition, key, value)
        invalid = invalid_topic(topic)
        offsets = _offsets([invalid] * len(outgoing) if invalid else await self._producer.send(outgoing))
        shape = {"offsets": offsets, "key_schema_id": key.schema_id, "value_schema_id": value.schema_id}
        return Response(orjson.dumps(shape), _status(offsets), media_type=media_type)

    async def _part(self, body: ProduceRequest, topic: str, form: str, *, is_key: bool) -> _Part:
        name = "key" if is_key else "value"
        if form in PLAIN_FORMATS:
            choice: SchemaChoice | None = SchemaChoice(topic, is_key, form)
        else:
            choice = body.choice(topic, form, is_key=is_key)
        if choice is None:
            return _Part(name, _refuse_key if is_key else _refuse_value)
        encoder = await self._formats.encoder(choice)
        return _Part(name, encoder.encode, encoder.schema_id)


def _refuse_key(_key: Any) -> NoReturn:
    raise HttpError(UNPROCESSABLE, "Request includes keys but does not include key schema", code=KEY_SCHEMA_MISSING)


def _refuse_value(_value: Any) -> NoReturn:
    raise HttpError(
        UNPROCESSABLE, "Request includes values but does not include value schema", code=VALUE_SCHEMA_MISSING
    )


def _outgoing(
    records: Iterable[tuple[int, Any]], topic: str, partition: int, key: _Part, value: _Part
) -> Iterator[OutgoingRecord]:
    encode_key, encode_value = key.encode, value.encode
    for place, record in records:
        if type(record) is not dict:
            raise HttpError(BAD_REQUEST, f"records[{place}] must be an object with a value and perhaps a key")
        if not record.keys() <= _RECORD_FIELDS:
            raise unrecognized(record, _RECORD_FIELDS)
        part = key
        try:
            key_bytes = None if (given := record.get("key")) is None else encode_key(given)
            part = value
            value_bytes = None if (given := record.get("value")) is None else encode_value(given)
        except InvalidData as problem:
            raise InvalidData(f"records[{place}].{part.name}: {problem.message}") from None
        own = record.get("partition")
        yield OutgoingRecord(topic, key_bytes, value_bytes, partition if own is None else _checked(own, place))


def _checked(partition: Any, place: int) -> int:
    if type(partition) is int and 0 <= partition <= PARTITION_MAX:
        return partition
    raise HttpError(BAD_REQUEST, f"records[{place}].partition must be a whole number from 0 to {PARTITION_MAX}")


def _offsets(results: Sequence[Delivered | KafkaFailure]) -> list[dict[str, Any]]:
    return [
        _failed(result)
        if isinstance(result, KafkaFailure)
        else {"partition": result.partition, "offset": result.offset, "error_code": None, "error": None}
        for result in results
    ]


def _failed(failure: KafkaFailure) -> dict[str, Any]:
    code, message = of_record(failure)
    return {"partition": None, "offset": None, "error_code": code, "error": message}


def _status(offsets: Sequence[dict[str, Any]]) -> int:
    """Whoever is not let in shall see it at once; every other failure is told in its place alone."""
    return next((_STATUS_OF_CODE[each["error_code"]] for each in offsets if each["error_code"] in _STATUS_OF_CODE), OK)
