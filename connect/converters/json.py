"""JSON, with the schema beside each value or without it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from typing import Any, Final, NamedTuple, cast

import orjson

from connect.api.settings import Importance, setting
from connect.converters import json_envelope
from connect.converters.converter import Converter, DecodedColumn, SchemaAndValue
from connect.converters.json_envelope import PAYLOAD, SCHEMA
from connect.converters.json_values import (
    DecimalFormat,
    FloatNumberError,
    JsonReading,
    JsonWriting,
    plain_json,
    with_pairs,
)
from connect.data.conversion import Convert
from connect.data.schema import Schema
from connect.data.schema_cache import SchemaCache
from connect.errors import ConnectError, DataError, Problem

ENVELOPE_KEPT_MAX_BYTES: Final = 64 * 1024

_PAYLOAD_FOLLOWS: Final = b',"payload":'
_END: Final = b"}"
_WHOLE: Final = b"%b%b%b"
"""A text and what stands around it, if anything. Always a copy: the fast library writes into a kilobyte and gives back what it did not need, and holding
hundreds of such texts costs the memory allocator ten times as long as copying each."""
_NOTHING: Final = SchemaAndValue(None, None)


def decimal_format_setting() -> Any:
    return setting(
        "decimal.format",
        "How decimals are written: BASE64 as the bytes of their unscaled number, NUMERIC as numbers. Both are read.",
        DecimalFormat.BASE64.value,
        choices=tuple(each.value.lower() for each in DecimalFormat),
        any_case=True,
        importance=Importance.LOW,
    )


@dataclass(frozen=True, slots=True)
class JsonConverterSettings:
    schemas_enable: bool = setting(
        "schemas.enable",
        "Write the schema of each record beside it, in an envelope of `schema` and `payload`, and expect this envelope.",
        True,
        importance=Importance.HIGH,
    )
    schema_content: str | None = setting(
        "schema.content",
        "A schema for all records that are read, which then come without an envelope. It counts while schemas.enable is on.",
        None,
        importance=Importance.HIGH,
    )
    schemas_cache_size: int = setting(
        "schemas.cache.size", "How many schemas are kept.", 1000, minimum=0, unit="schemas", importance=Importance.HIGH
    )
    decimal_format: str = decimal_format_setting()
    replace_null_with_default: bool = setting(
        "replace.null.with.default",
        "Put the default of a field in the place of null.",
        True,
        importance=Importance.LOW,
    )

    def problems(self) -> Iterable[Problem]:
        if self.schema_content and self.schemas_enable:
            try:
                fixed_schema(self.schema_content)
            except ConnectError as error:
                yield Problem("schema.content", str(error))


def fixed_schema(text: str) -> Schema:
    return json_envelope.of_json(_parsed(text.encode()), JsonReading())


class JsonConverter(Converter):
    """JSON, in an envelope with the schema beside the value, or without it."""

    settings_type = JsonConverterSettings
    settings: JsonConverterSettings

    def __init__(self, settings: JsonConverterSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        replaces_null = settings.replace_null_with_default
        self._writing = JsonWriting(DecimalFormat(settings.decimal_format.upper()), replaces_null=replaces_null)
        self._reading = JsonReading(replaces_null=replaces_null)
        self._writers = SchemaCache(self._writer, settings.schemas_cache_size)
        self._readers = SchemaCache(self._reading.compile, settings.schemas_cache_size)
        self._envelopes: dict[bytes, tuple[Schema, Convert]] = {}
        self._last_envelope = b""
        fixed = settings.schema_content if settings.schemas_enable else None
        self._fixed_schema = fixed_schema(fixed) if fixed else None

    def encode(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_all(topic, schema, (value,))[0]

    def encode_all(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> list[bytes | None]:
        if schema is None:
            before, after = (b'{"schema":null,"payload":', _END) if self.settings.schemas_enable else (b"", b"")
            return [None if value is None else _WHOLE % (before, _plain_text(value), after) for value in values]
        before, convert, after = self._writers(schema)
        try:
            return [_WHOLE % (before, orjson.dumps(convert(value)), after) for value in values]
        except TypeError as error:
            raise DataError(f"the value cannot be written as JSON: {error}") from None

    def _writer(self, schema: Schema) -> _Writer:
        convert = self._writing.compile(schema)
        if not self.settings.schemas_enable:
            return _Writer(b"", convert, b"")
        described = orjson.dumps(json_envelope.to_json(schema, self._writing))
        return _Writer(b'{"schema":' + described + _PAYLOAD_FOLLOWS, convert, _END)

    def decode(self, topic: str, data: bytes | None) -> SchemaAndValue:
        return self.decode_all(topic, (data,))[0]

    def decode_all(self, topic: str, data: Sequence[bytes | None]) -> list[SchemaAndValue]:
        if self._fixed_schema is not None:
            schema, read = self._fixed_schema, self._readers(self._fixed_schema)
            return [_NOTHING if each is None else SchemaAndValue(schema, read_json(read, each)) for each in data]
        if self.settings.schemas_enable:
            decode = self._decode_envelope
            return [_NOTHING if each is None else decode(each) for each in data]
        return [SchemaAndValue(None, value) for value in _plain_values(data)]

    def decode_column(self, topic: str, data: Sequence[bytes | None]) -> DecodedColumn:
        if self._fixed_schema is None and not self.settings.schemas_enable:
            return DecodedColumn(_plain_values(data), repeat(None, len(data)))
        return self._decode_alike(data) or super().decode_column(topic, data)

    def _decode_alike(self, data: Sequence[bytes | None]) -> DecodedColumn | None:
        """The same for records that all have the envelope of the last one before them, as most do; None if they have not."""
        last = self._last_envelope
        if not last or None in data:
            return None
        texts = cast("Sequence[bytes]", data)
        if not all(map(bytes.startswith, texts, repeat(last))) or not all(map(bytes.endswith, texts, repeat(_END))):
            return None
        schema, read = self._envelopes[last]
        begin, loads = len(last), orjson.loads
        try:
            return DecodedColumn([read(loads(text[begin:-1])) for text in texts], repeat(schema, len(texts)))
        except (orjson.JSONDecodeError, FloatNumberError):
            return None

    def _decode_envelope(self, data: bytes) -> SchemaAndValue:
        """Records mostly begin with the envelope of the one before, so that its schema need not be parsed again."""
        last = self._last_envelope
        if last and data.startswith(last) and data.endswith(_END):
            schema, read = self._envelopes[last]
            try:
                return SchemaAndValue(schema, read_json(read, data[len(last) : -1]))
            except _NotJsonError:
                # There is more in the envelope than it should hold, or something else is wrong, which is told below.
                pass
        try:
            return self._decode_whole(data, _parsed(data))
        except FloatNumberError:
            return self._decode_whole(data, _exactly_parsed(data))

    def _decode_whole(self, data: bytes, envelope: Any) -> SchemaAndValue:
        if type(envelope) is not dict or envelope.keys() != {SCHEMA, PAYLOAD}:
            raise DataError(
                'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields.'
                " If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration."
            )
        if envelope[SCHEMA] is None:
            return SchemaAndValue(None, envelope[PAYLOAD])
        schema, read = self._envelope(data, envelope[SCHEMA])
        return SchemaAndValue(schema, read(envelope[PAYLOAD]))

    def _envelope(self, data: bytes, described: Any) -> tuple[Schema, Convert]:
        """The schema of an envelope, kept under the bytes that stand before the payload if that is where the schema stands."""
        before, found, _ = data.partition(_PAYLOAD_FOLLOWS)
        beginning = before + found
        known = self._envelopes.get(beginning)
        if known is None:
            schema = _schema_of(described, self._reading)
            known = schema, self._readers(schema)
            if not found or len(beginning) > ENVELOPE_KEPT_MAX_BYTES or not _is_alone(before, described):
                return known
            if len(self._envelopes) >= max(self.settings.schemas_cache_size, 1):
                self._envelopes.clear()
            self._envelopes[beginning] = known
        self._last_envelope = beginning
        return known


class _Writer(NamedTuple):
    """What makes the bytes of a value: what stands before it, what is to be written, what stands behind."""

    before: bytes
    convert: Convert
    after: bytes


class _NotJsonError(DataError):
    """Bytes that are no JSON."""


def _schema_of(described: Any, reading: JsonReading) -> Schema:
    try:
        return json_envelope.of_json(described, reading)
    except RecursionError:
        raise DataError("the schema of a JSON record is nested too deeply") from None


def _is_alone(before: bytes, described: Any) -> bool:
    """Whether the bytes before the payload are the schema and nothing more."""
    try:
        return bool(orjson.loads(before + _END) == {SCHEMA: described})
    except orjson.JSONDecodeError:
        return False


def _plain_values(data: Sequence[bytes | None]) -> list[Any]:
    try:
        loads = orjson.loads
        return [loads(each) if each else None for each in data]
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None


def _plain_text(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=plain_json)
    except TypeError as error:
        # Either a map has keys that are no strings, which is rare, or there is something that JSON cannot say.
        try:
            return orjson.dumps(with_pairs(value), default=plain_json)
        except (TypeError, RecursionError):
            raise DataError(f"the value cannot be written as JSON: {error.__cause__ or error}") from None


def read_json(read: Convert, payload: bytes) -> Any:
    """The value of a JSON text by what a `JsonReading` has compiled."""
    try:
        return read(_parsed(payload))
    except FloatNumberError:
        return read(_exactly_parsed(payload))


def _parsed(data: bytes) -> Any:
    try:
        return orjson.loads(data) if data else None
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None


def _exactly_parsed(data: bytes) -> Any:
    return json.loads(data, parse_float=Decimal)


def _not_json(error: orjson.JSONDecodeError) -> _NotJsonError:
    return _NotJsonError(f"the data is not JSON: {error}: {error.doc!r:.80}")
