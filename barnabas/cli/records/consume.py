"""`barnabas consume`: the records of a topic."""

from __future__ import annotations

import asyncio
import csv
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_form, add_topic
from barnabas.cli.cluster.offsets import LATEST, parse_offset
from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import whole_number
from barnabas.cli.key_values import parse_key_values
from barnabas.cli.schemas.arguments import add_registry
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.progress import Progress
from barnabas.cli.terminal.styles import styled
from barnabas.client.client_config import load_properties
from barnabas.client.client_error import ClientError
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.consumer import Consumer, FetchedBatch
from barnabas.client.consumer.consumer_offsets import list_offsets
from barnabas.client.consumer.consumer_settings import READ_COMMITTED, ConsumerSettings
from barnabas.kernel.serdes.framing import Frame, read_frame
from barnabas.wire.batch import Record
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from barnabas.cli.records.serdes import DecodedValue, RecordDecoder

CLIENT_ID: Final = "barnabas-consume"
POLL_MS: Final = 200
NUMBER_SIZES: Final = (4, 8)
FIELDS: Final = ("partition", "offset", "timestamp", "key", "value", "headers")


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Read a topic up to its end."
    add_connection(parser)
    add_topic(parser)
    parser.add_argument(
        "--from",
        dest="start",
        default="beginning",
        metavar="PLACE",
        help="beginning (earliest), end (latest) or an offset; beginning when left out",
    )
    parser.add_argument("--number", "-n", type=whole_number(1), metavar="N", help="end after so many records")
    parser.add_argument("--follow", action="store_true", help="do not stop at the end, wait for more")
    parser.add_argument("--partition", "-p", type=whole_number(0), metavar="N", help="one partition only")
    parser.add_argument("--group", "-g", metavar="GROUP", help="read as a member of a group; goes on until Ctrl-C")
    parser.add_argument("--committed", action="store_true", help="leave out records of open and aborted transactions")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the consumer")
    parser.add_argument("--raw", action="store_true", help="do not decode with the schemas of the registry")
    add_registry(parser)
    add_form(parser)


def run(arguments: Namespace) -> int:
    start = parse_offset(arguments.start)
    if start is None:
        raise CommandError(f"invalid --from {arguments.start!r}", "Use beginning, end or an offset.", 2)
    try:
        properties = load_properties(arguments.command_config) | parse_key_values(arguments.set)
        if arguments.group:
            properties["group.id"] = arguments.group
        properties.setdefault("auto.offset.reset", "latest" if start == LATEST else "earliest")
        if arguments.committed:
            properties["isolation.level"] = READ_COMMITTED
        settings = ConsumerSettings.from_properties(properties)
    except ValueError as error:
        raise CommandError(str(error), status=2) from None
    except ClientError as error:
        raise CommandError(error.message, status=2) from None
    return asyncio.run(_Consumption(arguments, start).run(settings))


class _Consumption:
    def __init__(self, arguments: Namespace, start: int) -> None:
        self._arguments = arguments
        self._start = start
        self._left: int | None = arguments.number
        self._shown = 0
        self._decoder: RecordDecoder | None = None
        self._progress = Progress(sys.stderr, "read", arguments.number, is_shown=not sys.stdout.isatty())

    async def run(self, settings: ConsumerSettings) -> int:
        await connection.check_reachable(self._arguments.bootstrap_server)
        try:
            async with (
                Client(self._arguments.bootstrap_server, client_id=CLIENT_ID) as client,
                Consumer(client, settings) as consumer,
            ):
                ends = await self._attach(consumer, settings)
                await self._show_all(consumer, ends)
        except KafkaError as error:
            raise connection.explained(error) from None
        finally:
            self._progress.clear()
            if self._arguments.output == output.JSON:
                print("\n]" if self._shown else "[]")
            sys.stdout.flush()
        return 0

    async def _attach(self, consumer: Consumer, settings: ConsumerSettings) -> dict[TopicPartition, int] | None:
        """Begin to read; returns where to stop, None to go on for ever."""
        arguments = self._arguments
        await consumer.cluster.refresh([arguments.topic])
        if arguments.topic not in consumer.cluster.topics:
            code = consumer.cluster.failures.get(arguments.topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            raise KafkaError(code, f"topic {arguments.topic!r}: {code.message}")
        if settings.group_id is not None:
            await consumer.subscribe([arguments.topic])
            return None
        numbers = sorted(consumer.cluster.topics[arguments.topic].leaders)
        if arguments.partition is not None:
            if arguments.partition not in numbers:
                raise CommandError(
                    f"topic {arguments.topic} has no partition {arguments.partition}; it has {len(numbers)}"
                )
            numbers = [arguments.partition]
        latest = dict.fromkeys([TopicPartition(arguments.topic, number) for number in numbers], LATEST)
        ends = await list_offsets(consumer.cluster, latest, committed_only=False)
        await consumer.assign({partition: self._start_inside(partition, end) for partition, end in ends.items()})
        if arguments.follow or self._start == LATEST:
            return None
        if settings.isolation_level == READ_COMMITTED:
            return await list_offsets(consumer.cluster, latest, committed_only=True)
        return ends

    def _start_inside(self, partition: TopicPartition, end: int) -> int:
        """An offset past the end would be read from the beginning, as the consumer does with an offset out of range."""
        if self._start <= end:
            return self._start
        print(
            f"barnabas: offset {self._start} is past the end of {partition.topic}-{partition.partition}: its end is {end}",
            file=sys.stderr,
        )
        return end

    async def _show_all(self, consumer: Consumer, ends: dict[TopicPartition, int] | None) -> None:
        while self._left is None or self._left > 0:
            if ends is not None and all((consumer.position(partition) or 0) >= end for partition, end in ends.items()):
                return
            for batch in await consumer.poll(POLL_MS):
                records = batch.records if self._left is None else batch.records[: self._left]
                self._show(batch, records)
                if self._left is not None:
                    self._left -= len(records)
                self._progress.advance(len(records))
            sys.stdout.flush()

    def _show(self, batch: FetchedBatch, records: Iterable[Record]) -> None:
        form = self._arguments.output
        for record in records:
            row = self._row(batch.partition.partition, record)
            if form == output.JSON_LINES:
                sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
            elif form == output.JSON:
                sys.stdout.write(("[\n" if not self._shown else ",\n") + "  " + json.dumps(row, ensure_ascii=False))
            elif form == output.CSV:
                _write_csv(row, with_head=not self._shown)
            else:
                sys.stdout.write(_line(row) + "\n")
            self._shown += 1

    def _row(self, partition: int, record: Record) -> dict[str, Any]:
        return {
            "partition": partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": self._part(record.key, record, is_key=True),
            "value": self._part(record.value, record, is_key=False),
            "headers": {name: _text(value) for name, value in record.headers},
        }

    def _part(self, data: bytes | None, record: Record, *, is_key: bool) -> Any:
        """A key or value: its text, the number that a key may be, or what a schema of the registry makes of it."""
        if data is None or self._arguments.raw:
            return _text(data)
        frame = read_frame(data, record.headers, is_key=is_key)
        decoded = None if frame is None else self._decoded(frame, is_key=is_key)
        number = _number(data) if decoded is None and is_key else None
        if decoded is None and number is None:
            return _text(data)
        value = number if decoded is None else decoded.value
        if self._arguments.output in (output.JSON, output.JSON_LINES):
            return value
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def _decoded(self, frame: Frame, *, is_key: bool) -> DecodedValue | None:
        if self._decoder is None:
            from barnabas.cli.records.serdes import RecordDecoder

            self._decoder = RecordDecoder(self._arguments)
        return self._decoder.decode(frame, is_key=is_key)


def _line(row: dict[str, Any]) -> str:
    """One record for people: where it is, dim; its key; its value."""
    position = f"{row['partition']}:{row['offset']}"
    key, value = row["key"], "(null)" if row["value"] is None else row["value"]
    position = styled(position, styles.DIM, sys.stdout)
    key = key and styled(key, styles.CYAN, sys.stdout)
    value = styled(value, None, sys.stdout)
    return f"{position}  {value}" if key is None else f"{position}  {key}  {value}"


def _write_csv(row: dict[str, Any], *, with_head: bool) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if with_head:
        writer.writerow(FIELDS)
    writer.writerow(["" if row[name] is None else row[name] for name in FIELDS[:-1]] + [json.dumps(row["headers"])])


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


def _number(data: bytes) -> int | None:
    """What Kafka's own serializers of whole numbers have written; None for what can be read as a text."""
    if len(data) not in NUMBER_SIZES:
        return None
    try:
        is_text = data.decode().isprintable()
    except UnicodeDecodeError:
        is_text = False
    return None if is_text else int.from_bytes(data, "big", signed=True)
