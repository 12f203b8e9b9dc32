"""How kafka-console-consumer shows records: Kafka's formatters, by class name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from typing import Final

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.console import deserializers
from barnabas.kafka_tools.console.deserializers import Deserializer
from barnabas.kafka_tools.dump import coordinator_records
from barnabas.kafka_tools.dump.coordinator_records import UnknownRecordTypeError, Vocabulary
from barnabas.kafka_tools.dump.message_json import Node, text_of
from barnabas.wire.batch import Record
from barnabas.wire.wire_error import WireError

PACKAGE: Final = "org.apache.kafka.tools.consumer."
DEFAULT: Final = PACKAGE + "DefaultMessageFormatter"
# What formatters were called up to Kafka 3.9.
_OLD_NAMES: Final = {
    "kafka.tools.DefaultMessageFormatter": "DefaultMessageFormatter",
    "kafka.tools.LoggingMessageFormatter": "LoggingMessageFormatter",
    "kafka.tools.NoOpMessageFormatter": "NoOpMessageFormatter",
    "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter": "OffsetsMessageFormatter",
    "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter": "GroupMetadataMessageFormatter",
    "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter": "TransactionLogMessageFormatter",
    PACKAGE + "group.share.ShareGroupStateMessageFormatter": "ShareGroupStateMessageFormatter",
}
SCHEMA_FORMATTERS: Final = (
    "io.confluent.kafka.formatter.AvroMessageFormatter",
    "io.confluent.kafka.formatter.protobuf.ProtobufMessageFormatter",
    "io.confluent.kafka.formatter.json.JsonSchemaMessageFormatter",
)

# Record, its partition, whether its time is the broker's: the bytes to print.
Formatter = Callable[[Record, TopicPartition, bool], bytes]


class FormatError(Exception):
    """A record that the formatter cannot show."""


def find(class_name: str, properties: Mapping[str, str]) -> Formatter | None:
    """The formatter of a class; None when there is none."""
    name = _OLD_NAMES.get(class_name, class_name.removeprefix(PACKAGE))
    if name == "DefaultMessageFormatter":
        return DefaultFormatter(properties).format
    if name == "LoggingMessageFormatter":
        return LoggingFormatter(properties).format
    if name == "NoOpMessageFormatter":
        return lambda record, partition, append_time: b""
    if class_name in SCHEMA_FORMATTERS:
        from barnabas.kafka_tools.console.schema_formatter import SchemaFormatter

        return SchemaFormatter(properties).format
    made = _COORDINATOR_FORMATTERS.get(name)
    return None if made is None else _coordinator_formatter(*made)


class DefaultFormatter:
    """The parts of a record that were asked for, with separators between them."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._shown = {
            name: properties.get(f"print.{name}", default).strip().lower() == "true" for name, default in _PARTS.items()
        }
        self._key_separator = properties.get("key.separator", "\t").encode()
        self._line_separator = properties.get("line.separator", "\n").encode()
        self._headers_separator = properties.get("headers.separator", ",").encode()
        self._null = properties.get("null.literal", "null").encode()
        self._key = deserializer_of(properties, "key")
        self._value = deserializer_of(properties, "value")
        self._headers = deserializer_of(properties, "headers")

    def format(self, record: Record, partition: TopicPartition, append_time: bool) -> bytes:
        parts: list[bytes] = []
        shown = self._shown
        if shown["timestamp"]:
            parts.append(timestamp_text(record, append_time).encode())
        if shown["partition"]:
            parts.append(b"Partition:%d" % partition.partition)
        if shown["offset"]:
            parts.append(b"Offset:%d" % record.offset)
        # The console consumer of Kafka knows neither, though it has names for them.
        if shown["delivery"]:
            parts.append(b"Delivery:NOT_PRESENT")
        if shown["epoch"]:
            parts.append(b"Epoch:NOT_PRESENT")
        if shown["headers"]:
            parts.append(self._show_headers(record))
        if shown["key"]:
            parts.append(self._show(self._key, record.key))
        if shown["value"]:
            parts.append(self._show(self._value, record.value))
        return self._key_separator.join(parts) + self._line_separator if parts else b""

    def _show_headers(self, record: Record) -> bytes:
        if not record.headers:
            return b"NO_HEADERS"
        return self._headers_separator.join(
            [name.encode() + b":" + self._show(self._headers, value) for name, value in record.headers]
        )

    def _show(self, deserializer: Deserializer | None, data: bytes | None) -> bytes:
        # Java, too, hands the null literal to the deserializer.
        given = self._null if data is None else data
        return given if deserializer is None else deserializer(given).encode("utf-8", "replace")


class LoggingFormatter:
    """As the default, and a line on standard error for each record."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._default = DefaultFormatter(properties)

    def format(self, record: Record, partition: TopicPartition, append_time: bool) -> bytes:
        key = "null " if record.key is None else record.key.decode("utf-8", "replace") + ", "
        value = "null" if record.value is None else record.value.decode("utf-8", "replace")
        print(f"{timestamp_text(record, append_time)}, key:{key}value:{value}", file=sys.stderr)
        return self._default.format(record, partition, append_time)


def timestamp_text(record: Record, append_time: bool) -> str:
    if record.timestamp < 0:
        return "NO_TIMESTAMP"
    return f"{'LogAppendTime' if append_time else 'CreateTime'}:{record.timestamp}"


def _coordinator_formatter(vocabulary: Callable[[], Vocabulary], allowed: Collection[int]) -> Formatter:
    """One JSON object for each record; they follow each other without a line end, as in Kafka."""
    words = vocabulary()

    def show(record: Record, partition: TopicPartition, append_time: bool) -> bytes:
        if record.key is None:
            return b""
        try:
            decoded = coordinator_records.decode_record(words, record.key, record.value)
        except UnknownRecordTypeError:
            return b""
        except WireError as error:
            raise FormatError(f"Could not read record at offset {record.offset} due to: {error}") from None
        if allowed and decoded.record_type not in allowed:
            return b""
        value = None if decoded.value is None else Node(version=decoded.version, data=decoded.value)
        return text_of(Node(key=Node(type=decoded.record_type, data=decoded.key), value=value)).encode()

    return show


def deserializer_of(properties: Mapping[str, str], part: str) -> Deserializer | None:
    """What shows keys, values or headers, as `key.deserializer` and its sisters name it."""
    name = properties.get(f"{part}.deserializer")
    if name is None:
        return None
    prefix = f"{part}.deserializer."
    own = {key[len(prefix) :]: value for key, value in properties.items() if key.startswith(prefix)}
    found = deserializers.find(name, deserializers.encoding_of(own, part))
    if found is None:
        print(
            f"ERROR Unable to instantiate a deserializer from {name}; the bytes are shown as they are", file=sys.stderr
        )
    return found


_PARTS: Final = {
    "timestamp": "false",
    "partition": "false",
    "offset": "false",
    "delivery": "false",
    "epoch": "false",
    "headers": "false",
    "key": "false",
    "value": "true",
}
_COORDINATOR_FORMATTERS: Final[Mapping[str, tuple[Callable[[], Vocabulary], Collection[int]]]] = {
    "OffsetsMessageFormatter": (coordinator_records.group_vocabulary, (0, 1)),
    "GroupMetadataMessageFormatter": (coordinator_records.group_vocabulary, (2,)),
    "ShareGroupMessageFormatter": (coordinator_records.group_vocabulary, (10, 11, 12, 13, 14, 15)),
    "TransactionLogMessageFormatter": (coordinator_records.transaction_vocabulary, ()),
    "ShareGroupStateMessageFormatter": (coordinator_records.share_state_vocabulary, ()),
}
