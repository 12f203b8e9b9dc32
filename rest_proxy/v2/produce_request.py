"""The body of a produce request in v2."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Self

from barnabas.kernel.http.errors import HttpError
from rest_proxy.formats import json_text
from rest_proxy.formats.schema_choice import SchemaChoice
from rest_proxy.problems import BAD_REQUEST, UNPROCESSABLE
from rest_proxy.whole_number import as_integer

SCHEMA_ID_MAX: Final = 2**31 - 1

_FIELDS: Final = frozenset({"records", "key_schema", "key_schema_id", "value_schema", "value_schema_id"})


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
