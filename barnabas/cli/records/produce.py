"""`barnabas produce`: lines, or words of the command line, as records."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Final

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_topic
from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import add_report_form, whole_number
from barnabas.cli.key_values import parse_key_values
from barnabas.cli.schemas.arguments import add_registry
from barnabas.cli.terminal.progress import Progress
from barnabas.client.client_config import load_properties
from barnabas.client.client_error import ClientError
from barnabas.client.producer.producer import Producer, ProducerBatch, ProducerSettings
from barnabas.client.producer.producer_batch import Headers
from barnabas.kernel.input_lines import lines
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from barnabas.cli.records.serdes import RecordEncoder

CLIENT_ID: Final = "barnabas-produce"
ATTEMPTS_BEFORE_REPORT: Final = 2
"""One failure may be a leader that moves."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Write lines of standard input, or VALUEs, to a topic."
    add_connection(parser)
    add_topic(parser)
    parser.add_argument(
        "values", nargs="*", default=[], metavar="VALUE", help="values to write instead of standard input"
    )
    parser.add_argument("--file", "-f", metavar="FILE", help="read lines from a file")
    parser.add_argument("--key", "-k", metavar="KEY", help="key of every record")
    parser.add_argument("--key-separator", "-K", metavar="TEXT", help="what stands between key and value in a line")
    parser.add_argument(
        "--header", "-H", action="append", default=[], metavar="NAME=VALUE", help="a header of every record"
    )
    parser.add_argument("--partition", "-p", type=whole_number(0), metavar="N", help="partition to write to")
    parser.add_argument(
        "--input",
        choices=("lines", "jsonl"),
        default="lines",
        help='what a line is: a value, or {"key": …, "value": …, "headers": {…}}, where a value of null makes a tombstone (lines)',
    )
    parser.add_argument(
        "--compression", choices=("none", "gzip", "snappy", "lz4", "zstd"), default="none", help="codec (none)"
    )
    parser.add_argument("--create", action="store_true", help="let the broker create the topic if it is not there")
    for part in ("value", "key"):
        parser.add_argument(
            f"--{part}-schema",
            metavar="SCHEMA",
            help=f"encode {part}s with a schema: an id, SUBJECT, SUBJECT:VERSION or a file, which is registered",
        )
    add_registry(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the producer, as linger.ms=0"
    )
    add_report_form(parser)


def run(arguments: Namespace) -> int:
    try:
        settings = ProducerSettings.from_properties(
            load_properties(arguments.command_config)
            | {"compression.type": arguments.compression}
            | parse_key_values(arguments.set)
        )
    except ValueError as error:
        raise CommandError(str(error), status=2) from None
    except ClientError as error:
        raise CommandError(error.message, status=2) from None
    return asyncio.run(_Production(arguments).run(settings))


class _Production:
    def __init__(self, arguments: Namespace) -> None:
        self._arguments = arguments
        self._written = 0
        self._failure: KafkaError | None = None
        self._retried_for: KafkaError | None = None
        self._reported: set[ErrorCode] = set()
        self._progress = Progress(sys.stderr, "written")
        self._key_encoder = self._encoder(arguments.key_schema, is_key=True)
        self._value_encoder = self._encoder(arguments.value_schema, is_key=False)

    def _encoder(self, schema: str | None, *, is_key: bool) -> RecordEncoder | None:
        if schema is None:
            return None
        from barnabas.cli.records.serdes import RecordEncoder

        return RecordEncoder.of(self._arguments, schema, is_key=is_key)

    async def run(self, settings: ProducerSettings) -> int:
        arguments = self._arguments
        await connection.check_reachable(arguments.bootstrap_server)
        try:
            async with Client(arguments.bootstrap_server, client_id=CLIENT_ID) as client:
                await self._require_topic(client)
                async with Producer(client, settings, settled=self._settled, retried=self._retried) as producer:
                    await self._send_all(producer)
                    await producer.flush()
        except KafkaError as error:
            raise connection.explained(error) from None
        finally:
            self._progress.clear()
        if self._failure is not None:
            raise connection.explained(self._failure)
        if arguments.output == output.JSON:
            output.write_json(sys.stdout, {"topic": arguments.topic, "records": self._written})
        else:
            count = f"{self._written} record{'' if self._written == 1 else 's'}"
            print(f"wrote {count} to {arguments.topic}", file=sys.stderr)
        return 0

    async def _require_topic(self, client: Client) -> None:
        """A mistyped name makes no topic, unless one is asked for."""
        if self._arguments.create:
            return
        from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

        topic = MetadataRequestTopic(name=self._arguments.topic)
        answer = await client.send(MetadataRequest(topics=[topic], allow_auto_topic_creation=False), MetadataResponse)
        code = ErrorCode(answer.topics[0].error_code)
        if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise CommandError(
                f"there is no topic {self._arguments.topic!r}",
                f"Create it with `barnabas topics create {self._arguments.topic}`, or give --create.",
            )
        if code is not ErrorCode.NONE:
            raise KafkaError(code)

    async def _send_all(self, producer: Producer) -> None:
        arguments = self._arguments
        if arguments.values:
            for value in arguments.values:
                await self._send(producer, value, "")
            return
        if sys.stdin.isatty() and arguments.file is None:
            print(f"One record per line to {arguments.topic}; Ctrl-D ends it.", file=sys.stderr)
        try:
            descriptor = sys.stdin.fileno() if arguments.file is None else os.open(arguments.file, os.O_RDONLY)
        except OSError as error:
            raise CommandError(f"{arguments.file}: {error.strerror}", "Name a file that can be read.", 2) from None
        number = 0
        async for group in lines(descriptor):
            for line in group:
                number += 1
                await self._send(producer, line, f"line {number}: ")
                if self._failure is not None:
                    return

    async def _send(self, producer: Producer, text: str, place: str) -> None:
        try:
            key, value, headers = self._record(text)
        except CommandError as error:
            # What stands before it is written, so that the rest can follow once it is right.
            await producer.flush()
            raise CommandError(f"{place}{error}", self._written_before(), error.status) from None
        await producer.send(self._arguments.topic, value, key, headers=headers, partition=self._arguments.partition)

    def _record(self, text: str) -> tuple[bytes | None, bytes | None, Headers]:
        arguments = self._arguments
        key: bytes | None = arguments.key.encode() if arguments.key is not None else None
        value: bytes | None = text.encode("utf-8", "replace")
        headers: Headers = tuple(
            (name, content.encode()) for name, content in parse_key_values(arguments.header).items()
        )
        if arguments.input == "jsonl":
            key, value, headers = _from_json(text)
        elif arguments.key_separator is not None:
            before, found, after = text.partition(arguments.key_separator)
            if not found:
                raise CommandError(
                    f"no {arguments.key_separator!r} in the line {text!r}",
                    "Each line must read KEY, separator, VALUE.",
                    2,
                )
            key, value = before.encode(), after.encode("utf-8", "replace")
        if self._key_encoder is not None:
            key = self._key_encoder.encode(key)
        if self._value_encoder is not None:
            value = self._value_encoder.encode(value)
        return key, value, headers

    def _written_before(self) -> str:
        count = self._written
        if count == 0:
            return "Nothing was written."
        return "1 record before it was written." if count == 1 else f"{count} records before it were written."

    def _settled(self, batch: ProducerBatch) -> None:
        if batch.error is not None:
            # A batch that expired after errors is one that the broker rejected, not one that took it too long.
            was_rejected = batch.error.code is ErrorCode.REQUEST_TIMED_OUT and self._retried_for is not None
            self._failure = self._failure or (self._retried_for if was_rejected else batch.error)
        else:
            self._written += batch.count
            self._progress.advance(batch.count)

    def _retried(self, batch: ProducerBatch, error: KafkaError) -> None:
        """Report an error that persists, once: the last retry may be minutes away."""
        self._retried_for = error
        if batch.attempts < ATTEMPTS_BEFORE_REPORT or error.code in self._reported:
            return
        self._reported.add(error.code)
        self._progress.clear()
        output.say(f"barnabas: not written yet, retrying: {error}", sys.stderr)


def _from_json(text: str) -> tuple[bytes | None, bytes | None, Headers]:
    """A line as `barnabas consume --output jsonl` writes it: key, value, headers."""
    try:
        record = json.loads(text)
        key, value, headers = record.get("key"), record.get("value"), record.get("headers") or {}
        pairs = tuple((str(name), _bytes(content)) for name, content in headers.items())
    except (ValueError, AttributeError):
        raise CommandError(
            f"not a JSON object: {text!r}", 'Write {"key": …, "value": …, "headers": {…}} on each line.', 2
        ) from None
    return _bytes(key), _bytes(value), pairs


def _bytes(value: object) -> bytes | None:
    if value is None:
        return None
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode("utf-8", "replace")
