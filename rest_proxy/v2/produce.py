"""Producing in v2: any number of records in one request, one place in the answer for each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import orjson
from starlette.responses import Response

from barnabas.kernel.http.answers import JsonAnswer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import ERROR, Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import INT32, INT64, STRING, Shape, any_of, list_of, nullable, open_object
from rest_proxy.formats.failure import InvalidData
from rest_proxy.formats.plain_formats import PLAIN_ENCODERS
from rest_proxy.formats.schema_choice import SchemaChoice
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import ANY_PARTITION, Delivered, OutgoingRecord
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
    raise_topic_not_found,
    raise_unreachable,
)
from rest_proxy.proxy import Proxy
from rest_proxy.v2.media import ANSWER_TYPES, answer_type, embedded_format
from rest_proxy.v2.operation import WRITE_ERRORS
from rest_proxy.v2.partition_number import PARTITION_MAX, partition_number
from rest_proxy.v2.produce_request import BODY, RECORD_FIELDS, ProduceRequest, unrecognized
from rest_proxy.whole_number import as_integer

OK: Final = 200
RECORDS_AT_ONCE: Final = 500
"""Records that are encoded before other requests have their turn."""

_RECORD_FIELDS: Final = frozenset(RECORD_FIELDS)
_PLACE: Final = b'{"partition":%d,"offset":%d,"error_code":null,"error":null}'
_RECEIPTS: Final = Shape(
    "ProducedRecords",
    open_object(
        {
            "offsets": list_of(
                open_object(
                    {
                        "partition": nullable(INT32),
                        "offset": nullable(INT64),
                        "error_code": nullable(INT32),
                        "error": nullable(STRING),
                    }
                )
            ),
            "key_schema_id": nullable(INT32),
            "value_schema_id": nullable(INT32),
        }
    ),
)
_REQUEST_ID: Final = Parameter(
    "X-Request-ID", STRING, "A name for the request, which its response and the log repeat.", "header"
)
_STATUS_OF_CODE: Final = {AUTHENTICATION_FAILED: UNAUTHORIZED, AUTHORIZATION_FAILED: FORBIDDEN}


def routes(proxy: Proxy) -> Iterator[Route]:
    produce = Produce(proxy)
    yield Route("POST", "/topics/{topic}", produce.to_topic, _operation("produce", "Write records to a topic"))
    yield Route(
        "POST",
        "/topics/{topic}/partitions/{partition}",
        produce.to_partition,
        _operation("produceToPartition", "Write records to a partition"),
    )


def _operation(name: str, summary: str) -> Operation:
    # Clients without access learn so with the results of each record.
    denied = content(any_of(_RECEIPTS, ERROR), *ANSWER_TYPES)
    responses = {**WRITE_ERRORS, OK: content(_RECEIPTS, *ANSWER_TYPES), UNAUTHORIZED: denied, FORBIDDEN: denied}
    return Operation(name, "Records (v2)", summary, responses, (_REQUEST_ID,), BODY)


class _Part(NamedTuple):
    """The keys or the values of a request: their name, how they become bytes, and the schema that the answer names."""

    name: str
    encode: Callable[[Any], bytes | None]
    schema_id: int | None = None


_PLAIN_PARTS: Final = {
    form: (_Part("key", encoder.encode), _Part("value", encoder.encode)) for form, encoder in PLAIN_ENCODERS.items()
}


class Produce:
    def __init__(self, proxy: Proxy) -> None:
        self._formats = proxy.formats
        self._producer = proxy.clients.producer
        self._reachability = proxy.clients.reachability
        self._log = proxy.record_log

    def to_topic(self, request: Request) -> Awaitable[Response]:
        return self._produce(request, ANY_PARTITION)

    async def to_partition(self, request: Request) -> Response:
        return await self._produce(request, partition_number(request))

    async def _produce(self, request: Request, partition: int) -> Response:
        form = embedded_format(request)
        media_type = answer_type(request)
        topic = request.path_value("topic")
        body = ProduceRequest.parse(await request.body())
        if self._reachability.is_known_to_be_away:
            await self._reachability.check()
        key, value = _PLAIN_PARTS.get(form) or await self._parts(body, topic, partition, form)
        outgoing = await _all_outgoing(body, topic, partition, key, value)
        invalid = invalid_topic(topic)
        results: Sequence[Delivered | KafkaFailure] = (
            [invalid] * len(outgoing) if invalid else await self._producer.send(outgoing)
        )
        failures = [each for each in results if isinstance(each, KafkaFailure)]
        if invalid is None and (failures or self._log.tells_places):
            self._log.tell(topic, results)
        if failures:
            raise_unreachable(results)
            raise_topic_not_found(results)
        return JsonAnswer(_answer(results, key, value), _status(failures), media_type)

    async def _parts(self, body: ProduceRequest, topic: str, partition: int, form: str) -> tuple[_Part, _Part]:
        """How keys and values of a format with schemas become bytes. A request that is refused leaves no new schema behind."""
        choices = [body.choice(topic, form, is_key=is_key) for is_key in (True, False)]
        if any(choice is not None and self._formats.is_new(choice) for choice in choices):
            key, value = [await self._part(*each, is_trial=True) for each in zip(_ABSENT, choices, strict=True)]
            await _all_outgoing(body, topic, partition, key, value)
        key, value = [await self._part(*each) for each in zip(_ABSENT, choices, strict=True)]
        return key, value

    async def _part(self, absent: _Part, choice: SchemaChoice | None, *, is_trial: bool = False) -> _Part:
        if choice is None:
            return absent
        is_tried = is_trial and self._formats.is_new(choice)
        encoder = await (self._formats.trial(choice) if is_tried else self._formats.encoder(choice))
        return _Part(absent.name, encoder.encode, encoder.schema_id)


def _refuse_key(_key: Any) -> NoReturn:
    raise HttpError(UNPROCESSABLE, "Request includes keys but does not include key schema", code=KEY_SCHEMA_MISSING)


def _refuse_value(_value: Any) -> NoReturn:
    raise HttpError(
        UNPROCESSABLE, "Request includes values but does not include value schema", code=VALUE_SCHEMA_MISSING
    )


_ABSENT: Final = (_Part("key", _refuse_key), _Part("value", _refuse_value))
"""What there is where a request names no schema."""


async def _all_outgoing(
    body: ProduceRequest, topic: str, partition: int, key: _Part, value: _Part
) -> list[OutgoingRecord]:
    outgoing: list[OutgoingRecord] = []
    for start in range(0, len(body.records), RECORDS_AT_ONCE):
        if start:
            await asyncio.sleep(0)
        some = enumerate(body.records[start : start + RECORDS_AT_ONCE], start)
        outgoing += _outgoing(some, topic, partition, key, value)
    return outgoing


def _outgoing(
    records: Iterable[tuple[int, Any]], topic: str, partition: int, key: _Part, value: _Part
) -> Iterator[OutgoingRecord]:
    encode_key, encode_value = key.encode, value.encode
    for place, record in records:
        if type(record) is not dict:
            raise HttpError(BAD_REQUEST, f"records[{place}] must be an object with a value and perhaps a key")
        if len(record) != ("value" in record) and not record.keys() <= _RECORD_FIELDS:
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
    number = as_integer(partition)
    if number is not None and 0 <= number <= PARTITION_MAX:
        return number
    raise HttpError(BAD_REQUEST, f"records[{place}].partition must be a whole number from 0 to {PARTITION_MAX}")


def _answer(results: Sequence[Delivered | KafkaFailure], key: _Part, value: _Part) -> bytes:
    """Written by hand: a dictionary for each record would take longer than the rest of the answer."""
    offsets = b",".join([_failed(each) if isinstance(each, KafkaFailure) else _PLACE % each[:2] for each in results])
    schemas = orjson.dumps({"key_schema_id": key.schema_id, "value_schema_id": value.schema_id})
    return b'{"offsets":[%b],%b' % (offsets, schemas[1:])


def _failed(failure: KafkaFailure) -> bytes:
    code, message = of_record(failure)
    return orjson.dumps({"partition": None, "offset": None, "error_code": code, "error": message})


def _status(failures: Iterable[KafkaFailure]) -> int:
    """Whoever is not let in shall see it at once; every other failure is told in its place alone."""
    for failure in failures:
        if status := _STATUS_OF_CODE.get(of_record(failure)[0]):
            return status
    return OK
