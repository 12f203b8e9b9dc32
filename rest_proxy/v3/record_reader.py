"""From the JSON of a record, as clients of v3 write it, to the record that goes out and the words of its receipt."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.schema import (
    ANYTHING,
    BASE64,
    DATE_TIME,
    INT32,
    NAME,
    STRING,
    Shape,
    closed_object,
    enum,
    list_of,
    nullable,
)
from rest_proxy.formats import json_text
from rest_proxy.formats.encoder import Encoder
from rest_proxy.formats.failure import FormatFailure
from rest_proxy.formats.formats import Formats
from rest_proxy.formats.schema_choice import PLAIN_FORMATS, SCHEMA_FORMATS, SchemaChoice
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import ANY_PARTITION, OutgoingRecord
from rest_proxy.kafka.topic_name import invalid_topic
from rest_proxy.problems import PARTITION_NOT_FOUND, translate
from rest_proxy.whole_number import as_integer

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404

PARTITION_MAX: Final = 2**31 - 1
SHOWN_MAX_CHARS: Final = 200
MS_PER_S: Final = 1000
TIMESTAMP_MAX_MS: Final = 253_402_300_799_999
"""The end of the year 9999, beyond which dates have no four digits."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

SCHEMA_FIELDS: Final = ("schema_id", "schema_version", "schema")
PLAIN_FIELDS_COUNT: Final = 2
"""Data of a format without schemas has a type and the data."""
TYPES: Final = {form.upper(): form for form in (*sorted(PLAIN_FORMATS), *sorted(SCHEMA_FORMATS))}
STRATEGIES: Final = ("TOPIC_NAME", "RECORD_NAME", "TOPIC_RECORD_NAME")

DATA: Final = Shape(
    "RecordData",
    closed_object(
        {"data": ANYTHING},
        {
            "type": enum(*TYPES),
            "subject": NAME,
            "subject_name_strategy": enum(*STRATEGIES),
            "schema_id": INT32,
            "schema_version": INT32,
            "schema": STRING,
        },
    ),
)
_HEADER: Final = Shape("RecordHeader", closed_object({"name": STRING}, {"value": nullable(BASE64)}))
RECORD_MEMBERS: Final = {
    "partition_id": nullable(INT32),
    "headers": list_of(_HEADER),
    "key": nullable(DATA),
    "value": nullable(DATA),
    "timestamp": DATE_TIME,
}
RECORD_EXAMPLE: Final = {"key": {"type": "STRING", "data": "key"}, "value": {"type": "JSON", "data": {"any": "JSON"}}}
RECORD_FIELDS: Final = frozenset({*RECORD_MEMBERS, "partitionId"})
DATA_FIELDS: Final = DATA.members

_Choice = tuple[bool, str | None, str | None, int | None, int | None, str | None, str | None]


class ReadRecord(NamedTuple):
    """A record, and what its receipt says after the offset and the timestamp."""

    outgoing: OutgoingRecord
    receipt_end: str


@dataclass(frozen=True, slots=True)
class _Side:
    """What keys and values have apart: the name, and the encoders that need no schema."""

    is_key: bool
    name: str
    plain: Mapping[str, tuple[Encoder, str]]


class UnknownSchema(Exception):
    """The registry has to be asked before the record can be read."""

    def __init__(self, choice: SchemaChoice) -> None:
        super().__init__()
        self.choice = choice


class RecordReader:
    """Reads the records of one topic. What it learns of schemas is forgotten by `refresh`, so that the latest stays the latest."""

    def __init__(self, topic: str, formats: Formats) -> None:
        self.topic = topic
        self._formats = formats
        self._misnamed = invalid_topic(topic)
        self._key = self._side(is_key=True)
        self._value = self._side(is_key=False)
        self._encoders: dict[_Choice, tuple[Encoder, str]] = {}

    def refresh(self) -> None:
        self._encoders.clear()

    async def read(self, fields: dict[str, Any]) -> ReadRecord | HttpError:
        """The record, or what is wrong with it. Waits for nothing unless the registry must be asked."""
        while True:
            try:
                return self.read_known(fields)
            except UnknownSchema as unknown:
                try:
                    if unknown.choice.text is not None and (problem := await self._trial(fields)) is not None:
                        return problem
                    self._keep(unknown.choice, await self._formats.encoder(unknown.choice))
                except FormatFailure as failure:
                    return error_of(failure)

    async def _trial(self, fields: dict[str, Any]) -> HttpError | None:
        """What is wrong with a record, found out before a schema is registered for it: one that is refused leaves none behind."""
        reader = RecordReader(self.topic, self._formats)
        while True:
            try:
                found = reader.read_known(fields)
                return found if isinstance(found, HttpError) else None
            except UnknownSchema as unknown:
                choice = unknown.choice
                is_new = choice.text is not None
                encoder = await (self._formats.trial(choice) if is_new else self._formats.encoder(choice))
                reader._keep(choice, encoder)

    def read_known(self, fields: dict[str, Any]) -> ReadRecord | HttpError:
        """The same at once; UnknownSchema if it cannot be."""
        if self._misnamed is not None:
            return error_of(self._misnamed)
        try:
            return self._read(fields)
        except HttpError as error:
            return error
        except FormatFailure as failure:
            return error_of(failure)

    def _read(self, fields: dict[str, Any]) -> ReadRecord:
        if len(fields) == 1 and "value" in fields:
            # Most records are no more than that.
            value, value_words = self._encoded(self._value, fields["value"])
            return ReadRecord(OutgoingRecord(self.topic, None, value), value_words)
        if not fields.keys() <= RECORD_FIELDS:
            raise _unknown_field(fields, RECORD_FIELDS)
        value, value_words = self._encoded(self._value, fields.get("value"))
        key, key_words = self._encoded(self._key, fields.get("key"))
        partition = fields.get("partition_id", fields.get("partitionId"))
        headers = fields.get("headers")
        timestamp = fields.get("timestamp")
        outgoing = OutgoingRecord(
            self.topic,
            key,
            value,
            ANY_PARTITION if partition is None else _partition(partition),
            () if headers is None else _headers(headers),
            None if timestamp is None else _timestamp_ms(timestamp),
        )
        return ReadRecord(outgoing, key_words + value_words)

    def _side(self, *, is_key: bool) -> _Side:
        plain: dict[str, tuple[Encoder, str]] = {}
        name = "key" if is_key else "value"
        for form in PLAIN_FORMATS:
            encoder = self._formats.known(SchemaChoice(self.topic, is_key, form))
            assert encoder is not None, f"{form} needs no schema"
            plain[form.upper()] = encoder, _words(name, encoder)
        return _Side(is_key, name, plain)

    def _encoded(self, side: _Side, given: Any) -> tuple[bytes | None, str]:
        """The bytes of a key or a value, and what the receipt says of them."""
        if given is None:
            return None, ""
        if type(given) is not dict:
            raise HttpError(
                BAD_REQUEST, f"The {side.name} of a record is an object with its data, not {_shown(given)}."
            )
        form = given.get("type")
        if len(given) == PLAIN_FIELDS_COUNT and "data" in given and type(form) is str and form in side.plain:
            encoder, words = side.plain[form]
        else:
            encoder, words = self._with_schema(side, given)
        data = encoder.encode(given["data"])
        return data, f"{words}{-1 if data is None else len(data)}}}"

    def _with_schema(self, side: _Side, given: dict[str, Any]) -> tuple[Encoder, str]:
        choice = _choice(side.is_key, given)
        found = self._encoders.get(choice)
        if found is not None:
            return found
        schema = SchemaChoice(self.topic, *choice)
        encoder = self._formats.known(schema)
        if encoder is None:
            raise UnknownSchema(schema)
        return self._keep(schema, encoder)

    def _keep(self, schema: SchemaChoice, encoder: Encoder) -> tuple[Encoder, str]:
        choice = (
            schema.is_key,
            schema.format,
            schema.text,
            schema.id,
            schema.version,
            schema.subject,
            schema.strategy,
        )
        found = encoder, _words("key" if schema.is_key else "value", encoder)
        self._encoders[choice] = found
        return found


def error_of(failure: FormatFailure | KafkaFailure) -> HttpError:
    """What a receipt says of a failure."""
    error = translate(failure)
    assert error is not None, f"{failure!r} has an error code"
    return error


def _words(name: str, encoder: Encoder) -> str:
    """The receipt of a key or a value but for its size."""
    about = {
        "type": encoder.format.upper(),
        "subject": encoder.subject,
        "schema_id": encoder.schema_id,
        "schema_version": encoder.version,
    }
    given = {field: value for field, value in about.items() if value is not None}
    return f',"{name}":{orjson.dumps(given).decode()[:-1]},"size":'


def _choice(is_key: bool, given: dict[str, Any]) -> _Choice:
    """What a key or a value says of its schema, checked."""
    if not given.keys() <= DATA_FIELDS:
        raise _unknown_field(given, DATA_FIELDS)
    if "data" not in given:
        raise HttpError(BAD_REQUEST, "A key or a value needs its 'data'; null is written as null.")
    form = _form(given)
    text, subject = _text(given, "schema"), _text(given, "subject")
    strategy = _text(given, "subject_name_strategy")
    if strategy is not None and strategy not in STRATEGIES:
        raise HttpError(BAD_REQUEST, f"subject_name_strategy={strategy!r} is none of {', '.join(STRATEGIES)}.")
    if strategy is not None and subject is not None:
        raise HttpError(BAD_REQUEST, "Only one of 'subject_name_strategy' or 'subject' can be used.")
    if sum(given.get(field) is not None for field in SCHEMA_FIELDS) > 1:
        raise HttpError(BAD_REQUEST, "Only one of 'schema_id', 'schema_version' or 'schema' can be used.")
    if form is not None:
        _check_type(given, form, text)
    return is_key, form, text, _number(given, "schema_id"), _number(given, "schema_version"), subject, strategy


def _check_type(given: dict[str, Any], form: str, text: str | None) -> None:
    """With a type the schema is given as text, or the format has none at all."""
    if form in SCHEMA_FORMATS:
        for field in ("schema_id", "schema_version"):
            if given.get(field) is not None:
                raise HttpError(BAD_REQUEST, f"'{field}={given[field]}' cannot be used with 'serializer'.")
        if text is None:
            raise HttpError(
                BAD_REQUEST,
                "'schema_version=latest' cannot be used with 'serializer'. "
                f"Add the 'schema' to 'type={given['type']}', or leave 'type' away to use the latest schema of the subject.",
            )
        return
    for field in ("subject_name_strategy", "subject", *SCHEMA_FIELDS):
        if given.get(field) is not None:
            raise HttpError(BAD_REQUEST, f"'type={given['type']}' cannot be used with '{field}'.")


def _form(given: dict[str, Any]) -> str | None:
    name = _text(given, "type")
    if name is None:
        return None
    if name not in TYPES:
        raise HttpError(BAD_REQUEST, f"type={name!r} is none of {', '.join(TYPES)}.")
    return TYPES[name]


def _text(given: dict[str, Any], field: str) -> str | None:
    value = given.get(field)
    if value is not None and type(value) is not str:
        raise HttpError(BAD_REQUEST, f"{field}={_shown(value)} is not a string.")
    return value


def _number(given: dict[str, Any], field: str) -> int | None:
    value = given.get(field)
    if value is None:
        return None
    number = as_integer(value)
    if number is None or not 0 <= number <= PARTITION_MAX:
        raise HttpError(BAD_REQUEST, f"{field}={_shown(value)} is not a number from 0 to {PARTITION_MAX}.")
    return number


def _partition(value: Any) -> int:
    number = as_integer(value)
    if number is None or number > PARTITION_MAX:
        raise HttpError(BAD_REQUEST, f"partition_id={_shown(value)} is not a number of a partition.")
    if number < 0:
        raise HttpError(NOT_FOUND, "Partition not found.", code=PARTITION_NOT_FOUND)
    return number


def _headers(value: Any) -> list[tuple[str, bytes | None]]:
    if type(value) is not list:
        raise HttpError(BAD_REQUEST, f"headers={_shown(value)} is not a list of headers.")
    return [_header(each) for each in value]


def _header(value: Any) -> tuple[str, bytes | None]:
    if type(value) is not dict or type(value.get("name")) is not str:
        raise HttpError(BAD_REQUEST, f"The header {_shown(value)} is not an object with a name.")
    if not value.keys() <= _HEADER.members:
        raise _unknown_field(value, _HEADER.members)
    text = _text(value, "value")
    try:
        return value["name"], None if text is None else binascii.a2b_base64(text.encode(), strict_mode=True)
    except binascii.Error as problem:
        raise HttpError(
            BAD_REQUEST, f"The value {_shown(text)} of the header {value['name']!r} is not base64: {problem}."
        ) from None


def _timestamp_ms(value: Any) -> int:
    """An ISO date with its zone; a number is seconds, with decimals if need be."""
    if type(value) is str:
        seconds = as_integer(value)
        milliseconds = _parsed_ms(value) if seconds is None else seconds * MS_PER_S
    elif type(value) in (int, float):
        milliseconds = round(value * MS_PER_S) if abs(value) <= TIMESTAMP_MAX_MS else -1
    else:
        milliseconds = -1
    # librdkafka takes 0 for the present.
    if not 0 < milliseconds <= TIMESTAMP_MAX_MS:
        raise HttpError(
            BAD_REQUEST,
            f"timestamp={_shown(value)} is neither a date such as 2026-01-31T12:00:00.000Z nor seconds, "
            "or not after the beginning of 1970 and before the end of 9999.",
        )
    return milliseconds


def _parsed_ms(text: str) -> int:
    try:
        date = datetime.fromisoformat(text.upper())
    except ValueError:
        return -1
    return -1 if date.tzinfo is None else (date - EPOCH) // timedelta(milliseconds=1)


def _unknown_field(given: dict[str, Any], known: frozenset[str]) -> HttpError:
    unknown = min(given.keys() - known)
    return HttpError(BAD_REQUEST, f'Unrecognized field "{unknown}"; there are {", ".join(sorted(known))}.')


def _shown(value: Any) -> str:
    """A value in a message, cut where nobody reads on."""
    text = json_text.write(value).decode()
    return text if len(text) <= SHOWN_MAX_CHARS else f"{text[:SHOWN_MAX_CHARS]}…"
