"""kafka-console-producer: lines of standard input as records."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from barnabas.client.client_config import ClientConfig
from barnabas.client.producer.producer import Producer, ProducerBatch, ProducerSettings
from barnabas.kafka_tools.console import line_reader, schema_properties
from barnabas.kafka_tools.console.line_reader import LineReader, LineRecord, RecordReader
from barnabas.kafka_tools.shell import stoppable
from barnabas.kafka_tools.shell.client_log import log
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError
from barnabas.kafka_tools.shell.key_values import merged, renamed
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.input_lines import lines
from barnabas.kernel.java import kafka_exceptions as java_errors
from barnabas.wire.client import Client, parse_address
from barnabas.wire.errors import KafkaError

PURPOSE: Final = "This tool helps to read data from standard input and publish it to Kafka."
CLIENT_ID: Final = "console-producer"
PROMPT: Final = ">"
_READER_PROPERTIES: Final = (
    "A property of the reader of lines, name=value."
    "\nThey are, with their defaults:"
    "\n parse.key=false"
    "\n parse.headers=false"
    "\n ignore.error=false"
    "\n key.separator=\\t"
    "\n headers.delimiter=\\t"
    "\n headers.separator=,"
    "\n headers.key.separator=:"
    "\n null.marker=   a key, value or header that equals it is null"
    "\nA line with headers and key reads:"
    '\n  "h1:v1,h2:v2...\\tkey\\tvalue"'
)
# Confluent's readers by class name, and the type of the schemas that they are given.
_SCHEMA_READERS: Final = {
    "io.confluent.kafka.formatter.AvroMessageReader": "AVRO",
    "io.confluent.kafka.formatter.protobuf.ProtobufMessageReader": "PROTOBUF",
    "io.confluent.kafka.formatter.json.JsonSchemaMessageReader": "JSON",
}
# Option, property that it sets.
_PRODUCER_OPTIONS: Final = (
    ("timeout", "linger.ms"),
    ("request-required-acks", "acks"),
    ("request-timeout-ms", "request.timeout.ms"),
    ("message-send-max-retries", "retries"),
    ("retry-backoff-ms", "retry.backoff.ms"),
    ("socket-buffer-size", "send.buffer.bytes"),
    ("max-memory-bytes", "buffer.memory"),
    ("batch-size", "batch.size"),
    ("max-partition-memory-bytes", "batch.size"),
    ("metadata-expiry-ms", "metadata.max.age.ms"),
    ("max-block-ms", "max.block.ms"),
)


def main(arguments: Sequence[str], reader_class: str = line_reader.CLASS_NAME) -> int:
    """Run the tool; `reader_class` makes records of lines unless the command line names another."""
    parsed = options(reader_class).parse_or_fail(arguments)
    parsed.show_help_or_version(PURPOSE)
    parsed.require("topic")
    reader_option = renamed(parsed, "property", "reader-property")
    properties_option = renamed(parsed, "producer-property", "command-property")
    file_option = renamed(parsed, "producer.config", "command-config")
    if parsed.has("max-partition-memory-bytes"):
        print(
            "Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. "
            "Use --batch-size instead."
        )
    check_bootstrap(parsed)
    try:
        reader = _reader(parsed, merged(parsed, "reader-config", reader_option))
        properties = producer_properties(parsed, merged(parsed, file_option, properties_option))
        settings = ProducerSettings.from_properties(properties)
    except (OptionError, ValueError) as error:
        raise ToolError(str(error)) from None
    ClientConfig.of(properties)
    return stoppable.run(_produce(parsed, reader, settings, properties["client.id"]))


def _reader(parsed: Parsed, properties: dict[str, str]) -> RecordReader:
    class_name = parsed.text("line-reader")
    if class_name == line_reader.CLASS_NAME:
        return LineReader(properties)
    schema_type = _SCHEMA_READERS.get(class_name)
    if schema_type is None:
        known = ", ".join([line_reader.CLASS_NAME, *_SCHEMA_READERS])
        raise ToolError(f"{class_name}: no such reader. There are {known}.")
    from barnabas.kafka_tools.console.schema_line_reader import SchemaLineReader

    return SchemaLineReader(properties, parsed.text("topic"), schema_type)


def options(reader_class: str) -> OptionParser:
    parser = OptionParser()
    parser.takes("topic", "REQUIRED: The topic to write to.", "topic")
    parser.takes(
        "bootstrap-server", "REQUIRED: Brokers to begin with, HOST1:PORT1,HOST2:PORT2.", "server to connect to"
    )
    parser.flag("sync", "Wait for each record's acknowledgement before the next is sent.")
    parser.takes(
        "compression-codec",
        "none, gzip, snappy, lz4 or zstd; gzip if no codec is named.",
        "compression-codec",
        optional=True,
    )
    parser.takes("batch-size", "Bytes of a batch (batch.size).", "size", kind="Integer", default=16384)
    parser.takes("message-send-max-retries", "How often a batch is sent again (retries).", kind="Integer", default=3)
    parser.takes("retry-backoff-ms", "Pause before a batch is sent again (retry.backoff.ms).", kind="Long", default=100)
    parser.takes(
        "timeout", "How long a record may wait for others (linger.ms).", "timeout_ms", kind="Long", default=1000
    )
    parser.takes("request-required-acks", "Acknowledgements to wait for (acks).", "request required acks", default="-1")
    parser.takes(
        "request-timeout-ms",
        "How long to wait for a broker's answer (request.timeout.ms).",
        "request timeout ms",
        kind="Integer",
        default=1500,
    )
    parser.takes(
        "metadata-expiry-ms",
        "Age at which the metadata is asked for anew (metadata.max.age.ms).",
        "metadata expiration interval",
        kind="Long",
        default=300000,
    )
    parser.takes(
        "max-block-ms",
        "How long sending may wait for room or metadata.",
        "max block on send",
        kind="Long",
        default=60000,
    )
    _add_buffers_and_properties(parser, reader_class)
    return parser


def _add_buffers_and_properties(parser: OptionParser, reader_class: str) -> None:
    parser.takes(
        "max-memory-bytes",
        "Bytes of all records that wait (buffer.memory).",
        "total memory in bytes",
        kind="Long",
        default=33554432,
    )
    parser.takes(
        "max-partition-memory-bytes",
        "(Deprecated) Use --batch-size instead.",
        "memory in bytes per partition",
        kind="Integer",
        default=16384,
    )
    parser.takes("line-reader", "What makes records of lines.", "reader_class", default=reader_class)
    parser.takes(
        "socket-buffer-size", "Bytes of the socket's buffer (taken, no effect).", "size", kind="Integer", default=102400
    )
    parser.takes("property", "(DEPRECATED) Use --reader-property instead.", "prop")
    properties = _READER_PROPERTIES + (schema_properties.READER if reader_class in _SCHEMA_READERS else "")
    parser.takes("reader-property", properties, "prop")
    parser.takes("reader-config", "File of properties of the reader; --reader-property wins.", "config file")
    parser.takes("producer-property", "(DEPRECATED) Use --command-property instead.", "producer_prop")
    parser.takes("command-property", "A property of the producer, name=value.", "producer_prop")
    parser.takes("producer.config", "(DEPRECATED) Use --command-config instead.", "config file")
    parser.takes("command-config", "File of properties of the producer; --command-property wins.", "config file")


def check_bootstrap(parsed: Parsed) -> None:
    """A list of host:port; anything else is a usage error."""
    text = parsed.value("bootstrap-server") or ""
    if not text.strip():
        parsed.fail("Error while validating the bootstrap address\n")
    try:
        for address in text.split(","):
            if ":" not in address:
                raise ValueError
            parse_address(address)
    except ValueError:
        parsed.fail("Please provide valid host:port like host1:9091,host2:9092\n ")


def producer_properties(parsed: Parsed, given: dict[str, str]) -> dict[str, str]:
    """Kafka's order: an option that was given wins, its default fills what no property sets."""
    properties = dict(given)
    properties["compression.type"] = (
        (parsed.value("compression-codec") or "gzip") if parsed.has("compression-codec") else "none"
    )
    properties.setdefault("client.id", CLIENT_ID)
    for option, name in _PRODUCER_OPTIONS:
        if parsed.parser[option].kind != "String":
            parsed.integer(option)
        if parsed.has(option) or name not in properties:
            properties[name] = parsed.text(option)
    return properties


async def _produce(parsed: Parsed, reader: RecordReader, settings: ProducerSettings, client_id: str) -> int:
    topic, sync = parsed.text("topic"), parsed.has("sync")
    prompts = sys.stdin.isatty() and sys.stdout.isatty()
    async with (
        Client(parsed.text("bootstrap-server"), client_id=client_id) as client,
        Producer(client, settings, settled=None if sync else _settled) as producer,
    ):
        try:
            number = 0
            _prompt(prompts)
            async for group in lines(sys.stdin.fileno()):
                for line in group:
                    number += 1
                    await _send(producer, topic, reader.read(line, number), sync)
                    _prompt(prompts)
        finally:
            # Also after Ctrl-C: what was typed is sent.
            await producer.flush()
    return SUCCESS


async def _send(producer: Producer, topic: str, record: LineRecord, sync: bool) -> None:
    try:
        note = (record.key, record.value)
        delivery = await producer.send(topic, record.value, record.key, headers=record.headers, note=note)
    except KafkaError as error:
        if sync:
            raise
        log_failure(topic, record.key, record.value, error)
        return
    if sync:
        await producer.flush()
        await delivery.outcome()


def _settled(batch: ProducerBatch) -> None:
    if batch.error is not None:
        for key, value in batch.notes:
            log_failure(batch.partition.topic, key, value, batch.error)


def log_failure(topic: str, key: bytes | None, value: bytes | None, error: KafkaError) -> None:
    """As Java's client logs the failure of a record that nobody waits for."""
    log(
        "ERROR",
        f"Error when sending message to topic {topic} with key: {_size(key)}, value: {_size(value)} with error:",
        "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback",
    )
    print(java_errors.described(error), file=sys.stderr)


def _size(data: bytes | None) -> str:
    return "null" if data is None else f"{len(data)} bytes"


def _prompt(wanted: bool) -> None:
    if wanted:
        print(PROMPT, end="", flush=True)
