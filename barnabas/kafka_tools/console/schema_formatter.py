"""Records with schemas, as Confluent's formatters show them: keys and values as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.console.formatters import FormatError, deserializer_of, timestamp_text
from barnabas.kafka_tools.console.schema_registry import client_of, explained
from barnabas.kafka_tools.dump.message_json import text_of
from barnabas.kernel.serdes.avro_json import JSON_ENCODING
from barnabas.kernel.serdes.codecs import CodecOptions, Codecs
from barnabas.kernel.serdes.framing import Frame, read_frame
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.serdes_error import SerdesError
from barnabas.wire.batch import Record

_PARTS: Final = ("timestamp", "partition", "offset", "headers", "key", "schema.ids")


class SchemaFormatter:
    """The parts of a record that were asked for; a schema's type comes from the registry, whichever formatter was named."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._shown = {name for name in _PARTS if _is_true(properties, f"print.{name}")}
        self._separator = properties.get("key.separator", "\t").encode()
        self._line_separator = properties.get("line.separator", "\n").encode()
        self._headers_separator = properties.get("headers.separator", ",").encode()
        self._id_separator = properties.get("schema.id.separator", "\t").encode()
        self._null = properties.get("null.literal", "null").encode()
        self._key = deserializer_of(properties, "key")
        self._headers = deserializer_of(properties, "headers")
        options = CodecOptions(
            validates=properties.get("json.fail.invalid.schema", "true").strip().lower() == "true",
            keeps_names=_is_true(properties, "preserve.json.field.name"),
            avro=JSON_ENCODING,
        )
        self._client = client_of(properties)
        self._codecs = Codecs(self._client, options)

    def format(self, record: Record, partition: TopicPartition, append_time: bool) -> bytes:
        parts: list[bytes] = []
        if "timestamp" in self._shown:
            parts.append(timestamp_text(record, append_time).encode())
        if "partition" in self._shown:
            parts.append(b"Partition:%d" % partition.partition)
        if "offset" in self._shown:
            parts.append(b"Offset:%d" % record.offset)
        if "headers" in self._shown:
            parts.append(self._show_headers(record))
        if "key" in self._shown:
            parts.append(self._show_key(record))
        parts.append(self._show(record.value, record, is_key=False))
        return self._separator.join(parts) + self._line_separator

    def _show_headers(self, record: Record) -> bytes:
        if not record.headers:
            return b"NO_HEADERS"
        shown = [
            self._null if self._headers is None or value is None else self._headers(value).encode()
            for _, value in record.headers
        ]
        names = [name.encode() for name, _ in record.headers]
        return self._headers_separator.join([b"%b:%b" % pair for pair in zip(names, shown, strict=True)])

    def _show_key(self, record: Record) -> bytes:
        if self._key is None:
            return self._show(record.key, record, is_key=True)
        return self._null if record.key is None else self._key(record.key).encode("utf-8", "replace")

    def _show(self, data: bytes | None, record: Record, *, is_key: bool) -> bytes:
        if data is None:
            shown, key = self._null, self._null
        else:
            frame = read_frame(data, record.headers, is_key=is_key)
            if frame is None:
                raise FormatError("Unknown magic byte!")
            shown, key = self._decode(frame), str(frame.key).encode()
        return shown + self._id_separator + key if "schema.ids" in self._shown else shown

    def _decode(self, frame: Frame) -> bytes:
        try:
            # Schemas are asked for so rarely that no connection is held between.
            with self._client:
                codec = self._codecs.codec(frame.key)
            value = codec.decode(frame.body)
        except RegistryClientError as error:
            reason = explained(error, "formatter-property")
            raise FormatError(f"Error retrieving schema for id {frame.key}: {reason}") from None
        except SerdesError as error:
            raise FormatError(f"Error deserializing message for id {frame.key}: {error}") from None
        return text_of(value).encode("utf-8", "replace")


def _is_true(properties: Mapping[str, str], name: str) -> bool:
    return properties.get(name, "").strip().lower() == "true"
