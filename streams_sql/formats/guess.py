"""What format keys or values may have of which nobody says it, and how they look: what PRINT shows.

Formats that fail for a record are out from then on. Of those that are left, the first is shown.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from barnabas.kernel.java.numbers import double_text
from barnabas.kernel.serdes.codecs import CodecOptions, Codecs
from barnabas.kernel.serdes.framing import Frame, read_frame, read_message_indexes
from barnabas.kernel.serdes.protobuf import ProtobufCodec
from barnabas.kernel.serdes.registry_client import RegistryClient, SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF
from streams_sql.evaluation.time_texts import MS_PER_DAY
from streams_sql.formats.avro.reading import read_avro_schema
from streams_sql.formats.registered import registry_client
from streams_sql.formats.serde import RegistryAccess, Undecodable
from streams_sql.formats.windowed_keys import split_windowed
from streams_sql.formats.written import Convert, sql_type, value_reader
from streams_sql.language.statements import WindowKind
from streams_sql.sources import KeyWindow

NOTHING_SEEN: Final = "¯\\_(ツ)_/¯ - no data processed"
UNRECOGNISED: Final = "UNRECOGNISED_BYTES"
NULL_TEXT: Final = "<null>"
# Bounds of windows beyond the year 9999 are part of a text.
BOUNDS_MAX_MS: Final = 2_932_896 * MS_PER_DAY
_REPLACEMENT: Final = "\ufffd"
_PRINTABLE: Final = {chr(code) for code in range(0x20, 0x7F)} - {"\\"}

Show = Callable[[bytes], str]
"""The text of a payload; ValueError if it is not of the format."""


class _Candidate(NamedTuple):
    name: str
    show: Show


class FormatGuess:
    """The keys, or the values, of one topic."""

    def __init__(self, registry: RegistryAccess | None, *, is_key: bool) -> None:
        formats = list(_formats(registry))
        self._candidates = [each for found in formats for each in _with_windows(found)] if is_key else formats
        self._candidates.append(_Candidate(UNRECOGNISED, _bytes_text))
        self._has_seen = False

    @property
    def names(self) -> list[str]:
        """The formats that all payloads so far may have."""
        if not self._has_seen:
            return [NOTHING_SEEN]
        return [each.name for each in self._candidates if each.name != UNRECOGNISED] or [UNRECOGNISED]

    def texts(self, payloads: Sequence[bytes | None]) -> list[str]:
        """How they look. If one of them rules out the format of those before, all are shown in the one that is left."""
        shown = self._candidates[0]
        texts = [self._text(payload) for payload in payloads]
        return texts if self._candidates[0] is shown else [self._text(payload) for payload in payloads]

    def _text(self, payload: bytes | None) -> str:
        if payload is None:
            return NULL_TEXT
        self._has_seen = True
        left: list[_Candidate] = []
        text: str | None = None
        for candidate in self._candidates:
            try:
                found = candidate.show(payload)
            except (ValueError, RecursionError, RegistryClientError):
                continue
            left.append(candidate)
            text = found if text is None else text
        self._candidates = left
        assert text is not None, "bytes can always be shown"
        return text


def _formats(registry: RegistryAccess | None) -> Iterator[_Candidate]:
    """In the order in which ksqlDB tries them."""
    registered = None if registry is None else _Registered(registry_client(registry, AVRO))
    if registered is not None:
        yield _Candidate("AVRO", partial(registered.show, AVRO))
        yield _Candidate("PROTOBUF", partial(registered.show, PROTOBUF))
    yield _Candidate("JSON", _json_text)
    if registered is not None:
        yield _Candidate("JSON_SR", partial(registered.show, JSON))
    yield _Candidate("KAFKA_INT", partial(_number_text, struct.Struct(">i")))
    yield _Candidate("KAFKA_BIGINT", partial(_number_text, struct.Struct(">q")))
    yield _Candidate("KAFKA_DOUBLE", partial(_number_text, struct.Struct(">d")))
    yield _Candidate("KAFKA_STRING", _string_text)


def _with_windows(candidate: _Candidate) -> Iterator[_Candidate]:
    for kind in (WindowKind.SESSION, WindowKind.HOPPING, WindowKind.TUMBLING):
        yield _Candidate(f"{kind.value}({candidate.name})", partial(_windowed_text, kind, candidate.show))
    yield candidate


def _windowed_text(kind: WindowKind, show: Show, payload: bytes) -> str:
    (found,) = split_windowed(KeyWindow(kind, None), [payload])
    if found is None or isinstance(found, Undecodable):
        raise ValueError("no window")
    start_ms, end_ms = found.bounds
    if not 0 <= start_ms <= end_ms <= BOUNDS_MAX_MS:
        raise ValueError("no bounds of a window")
    # The end of a time window is not in the key.
    return f"[{show(found.key)}@{start_ms}/{end_ms if kind is WindowKind.SESSION else '-'}]"


def _json_text(payload: bytes) -> str:
    orjson.loads(payload)
    return payload.decode()


def _string_text(payload: bytes) -> str:
    text = payload.decode()
    if not text or _REPLACEMENT in text:
        raise ValueError("no text")
    return text


def _number_text(layout: struct.Struct, payload: bytes) -> str:
    if len(payload) != layout.size:
        raise ValueError("another length")
    (number,) = layout.unpack(payload)
    return double_text(number) if type(number) is float else str(number)


def _bytes_text(payload: bytes) -> str:
    """As Kafka writes bytes: what is no printable letter by its number."""
    return "".join(letter if letter in _PRINTABLE else f"\\x{ord(letter):02X}" for letter in payload.decode("latin-1"))


class _Registered:
    """Payloads that name a schema of the registry."""

    def __init__(self, client: RegistryClient) -> None:
        self._client = client
        self._codecs = Codecs(client, CodecOptions(validates=False, keeps_names=True))
        self._avro_readers: dict[SchemaKey, Convert] = {}

    def show(self, schema_type: str, payload: bytes) -> str:
        frame = read_frame(payload)
        if frame is None or self._codecs.schema_type(frame.key) != schema_type:
            raise ValueError("no schema of this type")
        if schema_type == PROTOBUF:
            return self._message_text(frame)
        return self._avro_text(frame) if schema_type == AVRO else _json_text(frame.body)

    def _avro_text(self, frame: Frame) -> str:
        reader = self._avro_readers.get(frame.key) or self._avro_reader(frame.key)
        value = reader(self._codecs.codec(frame.key).decode(frame.body))
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_scalar_text)

    def _avro_reader(self, key: SchemaKey) -> Convert:
        schema = self._client.schema(key)
        part = read_avro_schema(schema.text, list(self._codecs.referenced(schema).values()))
        if part is None:
            raise ValueError("nothing but null")
        reader = self._avro_readers[key] = value_reader(part, sql_type(part, str))
        return reader

    def _message_text(self, frame: Frame) -> str:
        from google.protobuf import message_factory, text_format
        from google.protobuf.message import DecodeError

        codec = self._codecs.codec(frame.key)
        assert isinstance(codec, ProtobufCodec), "the type of the schema was looked at before"
        indexes, start = read_message_indexes(frame.body)
        message = message_factory.GetMessageClass(codec.descriptor(indexes))()
        try:
            message.ParseFromString(frame.body[start:])
        except DecodeError as error:
            raise ValueError(str(error)) from None
        return text_format.MessageToString(message, as_utf8=True, as_one_line=True)


def _scalar_text(value: Any) -> str:
    return _bytes_text(value) if isinstance(value, bytes) else str(value)
