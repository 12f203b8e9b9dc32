"""The body of a produce request in v2."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Self

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Content, content
from barnabas.kernel.http.schema import ANYTHING, BASE64, INT32, STRING, Shape, closed_object, list_of, nullable
from rest_proxy.formats import json_text
from rest_proxy.formats.schema_choice import AVRO, BINARY, JSON, JSONSCHEMA, PROTOBUF, SchemaChoice
from rest_proxy.problems import BAD_REQUEST, UNPROCESSABLE
from rest_proxy.v2.media import EMBEDDED_TYPES
from rest_proxy.whole_number import as_integer

SCHEMA_ID_MAX: Final = 2**31 - 1

RECORD_FIELDS: Final = ("key", "value", "partition")


def _body(form: str) -> Shape:
    """A name for each format: generators of clients name their functions by them."""
    data = nullable(BASE64) if form == BINARY else ANYTHING
    record = closed_object({}, dict(zip(RECORD_FIELDS, (data, data, nullable(INT32)), strict=True)))
    return Shape(
        f"{form.capitalize()}RecordsToProduce",
        closed_object(
            {"records": list_of(record, minItems=1)},
            {
                "key_schema": nullable(STRING),
                "key_schema_id": nullable(INT32),
                "value_schema": nullable(STRING),
                "value_schema_id": nullable(INT32),
            },
        ),
    )


_AVRO: Final = '{"type": "record", "name": "Reading", "fields": [{"name": "celsius", "type": "int"}]}'
_PROTOBUF: Final = 'syntax = "proto3"; message Reading { int32 celsius = 1; }'
_JSON_SCHEMA: Final = '{"type": "object", "properties": {"celsius": {"type": "integer"}}}'
_READING: Final = [{"value": {"celsius": 21}}]
_EXAMPLES: Final = {
    BINARY: {"records": [{"key": "a2V5", "value": "dmFsdWU="}]},
    JSON: {"records": [{"key": "key", "value": {"any": "JSON"}}]},
    AVRO: {"value_schema": _AVRO, "records": _READING},
    JSONSCHEMA: {"value_schema": _JSON_SCHEMA, "records": _READING},
    PROTOBUF: {"value_schema": _PROTOBUF, "records": _READING},
}
BODY: Final[Content] = {
    essence: media_type
    for form, example in _EXAMPLES.items()
    for essence, media_type in content(_body(form), EMBEDDED_TYPES[form], example=example).items()
}
_FIELDS: Final = _body(BINARY).members


class ProduceRequest(NamedTuple):
    """Checked but for the records themselves."""

    records: list[Any]
    key_schema: str | None
    key_schema_id: int | None
    value_schema: str | None
    value_schema_id: int | None

    @classmethod
    def parse(cls, body: bytes) -> Self:
        fields = _fields(body)
        records = fields.get("records")
        if not records and (records is None or type(records) is list):
            raise HttpError(UNPROCESSABLE, "records must not be empty")
        if type(records) is not list:
            raise HttpError(BAD_REQUEST, "records must be a list of objects, each with a value and perhaps a key")
        return cls(
            records,
            _text(fields, "key_schema"),
            _schema_id(fields, "key_schema_id"),
            _text(fields, "value_schema"),
            _schema_id(fields, "value_schema_id"),
        )

    def choice(self, topic: str, form: str, *, is_key: bool) -> SchemaChoice | None:
        """The schema of the keys or the values; None when the request names none."""
        text, schema_id = (self.key_schema, self.key_schema_id) if is_key else (self.value_schema, self.value_schema_id)
        if text is None and schema_id is None:
            return None
        if text is not None and schema_id is not None:
            part = "key" if is_key else "value"
            raise HttpError(BAD_REQUEST, f"{part}_schema and {part}_schema_id exclude each other: give one of them")
        return SchemaChoice(topic, is_key, form, text=text, id=schema_id)


def unrecognized(given: dict[str, Any], known: frozenset[str]) -> HttpError:
    return HttpError(UNPROCESSABLE, f"Unrecognized field: {min(given.keys() - known)}")


def _fields(body: bytes) -> dict[str, Any]:
    if not body:
        raise _no_body()
    try:
        fields = json_text.parse(body)
    except ValueError as error:
        if body.isspace():
            raise _no_body() from None
        raise HttpError(BAD_REQUEST, f"the body is not valid JSON: {error}") from None
    if fields is None:
        raise _no_body()
    if type(fields) is not dict:
        raise HttpError(BAD_REQUEST, "the body must be an object with records")
    if not fields.keys() <= _FIELDS:
        raise unrecognized(fields, _FIELDS)
    return fields


def _no_body() -> HttpError:
    return HttpError(UNPROCESSABLE, "the body of the request must not be empty: it holds the records")


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and type(value) is not str:
        raise HttpError(BAD_REQUEST, f"{name} must be the text of a schema, in quotes")
    return value


def _schema_id(fields: dict[str, Any], name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    number = as_integer(value)
    if number is None or not 0 <= number <= SCHEMA_ID_MAX:
        raise HttpError(BAD_REQUEST, f"{name} must be a whole number from 0 to {SCHEMA_ID_MAX}")
    return number
