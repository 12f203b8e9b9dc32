"""Lines of JSON as records with schemas, as Confluent's console producers read them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.kafka_tools.console.line_reader import LineReader, LineRecord
from barnabas.kafka_tools.console.schema_registry import client_of, explained
from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kernel.serdes import framing, subject
from barnabas.kernel.serdes.avro_json import JSON_ENCODING
from barnabas.kernel.serdes.codecs import Codec, CodecOptions, Codecs
from barnabas.kernel.serdes.registry_client import LATEST, RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import Reference, SchemaText
from barnabas.kernel.serdes.serdes_error import SerdesError

_JAVA: Final = "org.apache.kafka.common.serialization."
_HEADER_SERIALIZER: Final = "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer"
_PREFIX_SERIALIZER: Final = "io.confluent.kafka.serializers.schema.id.PrefixSchemaIdSerializer"
_TRUE: Final = "true"


class SchemaLineReader:
    """Cuts lines as the plain reader does and encodes what they hold; schemas are looked up once."""

    def __init__(self, properties: Mapping[str, str], topic: str, schema_type: str) -> None:
        self._lines = LineReader(properties)
        self._key: _Part | _PlainKey | None = None
        try:
            with client_of(properties) as client:
                self._value = _Part(client, properties, topic, schema_type, is_key=False)
                if _is(properties, "parse.key"):
                    name = properties.get("key.serializer")
                    if name is None:
                        self._key = _Part(client, properties, topic, schema_type, is_key=True)
                    else:
                        self._key = _PlainKey(name)
        except RegistryClientError as error:
            raise ToolError(explained(error, "reader-property")) from None
        except SerdesError as error:
            raise ToolError(str(error)) from None

    def read(self, line: str, number: int) -> LineRecord:
        record = self._lines.read(line, number)
        headers = tuple(record.headers)
        key, value = record.key, record.value
        if key is not None and self._key is not None:
            key = self._key.encode(key)
            headers += self._key.headers
        if value is not None:
            value = self._value.encode(value)
            headers += self._value.headers
        return LineRecord(key, value, headers)


class _Part:
    """The keys or the values of a run."""

    def __init__(
        self, client: RegistryClient, properties: Mapping[str, str], topic: str, schema_type: str, *, is_key: bool
    ) -> None:
        names = _Names(properties, "key" if is_key else "value")
        schema = _given_schema(client, names, schema_type)
        strategy = subject.strategy_named(names.get("subject.name.strategy") or "TopicNameStrategy")
        schema_id = _schema_id(client, properties, strategy(topic, is_key, schema), schema)
        _require_type(client.schema(schema_id), schema_type, f"schema {schema_id}")
        full_name = names.get("schema.full.name")
        options = CodecOptions(
            validates=properties.get("json.fail.invalid.schema", _TRUE).strip().lower() == _TRUE,
            message=full_name.strip() if full_name else None,
            avro=JSON_ENCODING,
        )
        self._codec: Codec = Codecs(client, options).codec(schema_id)
        self._schema = schema
        self._prefix = b""
        self.headers: tuple[tuple[str, bytes | None], ...] = ()
        framed_by = names.get("schema.id.serializer") or _PREFIX_SERIALIZER
        if framed_by == _HEADER_SERIALIZER:
            frame = framing.guid_prefix(client.guid(schema_id)) + self._codec.preamble
            self.headers = ((framing.header_name(is_key=is_key), frame),)
        elif framed_by == _PREFIX_SERIALIZER:
            self._prefix = framing.id_prefix(schema_id) + self._codec.preamble
        else:
            raise ToolError(
                f"{framed_by}: no such serializer. There are {_PREFIX_SERIALIZER} and {_HEADER_SERIALIZER}."
            )

    def encode(self, text: bytes) -> bytes:
        try:
            return self._prefix + self._codec.encode(json.loads(text))
        except ValueError as error:
            shown = text.decode("utf-8", "replace")
            raise ToolError(
                f"Error deserializing json {shown} to {self._schema.type} of schema {self._schema.text}: {error}"
            ) from None


class _PlainKey:
    """Keys without a schema, by a serializer of Kafka's."""

    headers = ()

    def __init__(self, class_name: str) -> None:
        found = _SERIALIZERS.get(class_name.removeprefix(_JAVA))
        if found is None:
            known = ", ".join(_SERIALIZERS)
            raise ToolError(f"Error initializing key.serializer: {class_name} is not there; there are {known}")
        self._serialize = found

    def encode(self, text: bytes) -> bytes:
        try:
            return self._serialize(text)
        except (ValueError, struct.error):
            raise ToolError(f'For input string: "{text.decode("utf-8", "replace")}"') from None


class _Names(NamedTuple):
    """Properties that exist for keys and for values."""

    properties: Mapping[str, str]
    part: str

    def get(self, name: str) -> str | None:
        return self.properties.get(f"{self.part}.{name}")

    def get_json(self, name: str) -> Any:
        text = self.get(name)
        try:
            return None if text is None else json.loads(text)
        except ValueError as error:
            raise ToolError(f"{self.part}.{name} is not JSON: {error}") from None


def _given_schema(client: RegistryClient, names: _Names, schema_type: str) -> SchemaText:
    by_id = names.get("schema.id")
    if by_id is not None:
        if not by_id.isdecimal():
            raise ToolError(f"Error parsing {names.part}.schema.id as int")
        found = client.schema(int(by_id))
        _require_type(found, schema_type, f"{names.part}.schema.id={by_id}")
        return found
    try:
        references = tuple(Reference.of(each) for each in names.get_json("refs") or ())
    except (KeyError, TypeError):
        raise ToolError(f"{names.part}.refs must be a list of objects with name, subject and version") from None
    return SchemaText(
        _given_text(names), schema_type, references, names.get_json("metadata"), names.get_json("rule.set")
    )


def _require_type(schema: SchemaText, schema_type: str, what: str) -> None:
    if schema.type != schema_type:
        raise ToolError(
            f"{what} is of the type {schema.type}, and this tool writes {schema_type}: use the console producer of that type"
        )


def _given_text(names: _Names) -> str:
    text, path = names.get("schema"), names.get("schema.file")
    if text is not None:
        return text
    if path is None:
        name = f"{names.part}.schema"
        raise ToolError(f"Must provide the {names.part} schema in either {name}, {name}.id, or {name}.file")
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ToolError(f"Error reading schema from {path}") from None


def _schema_id(client: RegistryClient, properties: Mapping[str, str], name: str, schema: SchemaText) -> int:
    """As Confluent's serializers find it: registered unless that is off, else the newest if asked for, else looked up."""
    normalize = _is(properties, "normalize.schemas")
    auto = properties.get("auto.register", properties.get("auto.register.schemas", _TRUE))
    if auto.strip().lower() == _TRUE:
        return client.register(name, schema, normalize=normalize)
    if properties.get("use.schema.id", "").isdecimal():
        return int(properties["use.schema.id"])
    if _is(properties, "use.latest.version"):
        return client.version(name, LATEST).id
    return client.lookup(name, schema, normalize=normalize).id


def _is(properties: Mapping[str, str], name: str) -> bool:
    return properties.get(name, "").strip().lower() == _TRUE


_SERIALIZERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "StringSerializer": bytes,
    "LongSerializer": lambda text: struct.pack(">q", int(text)),
    "IntegerSerializer": lambda text: struct.pack(">i", int(text)),
    "ShortSerializer": lambda text: struct.pack(">h", int(text)),
}
