"""`barnabas consume`: the records of a topic."""

from __future__ import annotations

import asyncio
import csv
import json
import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from barnabas.cli import cluster, output, terminal
from barnabas.cli.command_error import CommandError
from barnabas.cli.log_place import LATEST, parse_place
from barnabas.cli.pairs import parse_pairs
from barnabas.cli.progress import Progress
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
    from barnabas.cli.record_schemas import Decoded, RecordDecoder

CLIENT_ID: Final = "barnabas-consume"
POLL_MS: Final = 200
NUMBER_SIZES: Final = (4, 8)
FIELDS: Final = ("partition", "offset", "timestamp", "key", "value", "headers")


def run(arguments: Namespace) -> int:
    start = parse_place(arguments.start)
    if start is None:
        raise CommandError(f"--from {arguments.start!r} is no place in a log", "Write beginning, end or an offset.", 2)
    try:
        properties = load_properties(arguments.command_config) | parse_pairs(arguments.set)
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
        self._progress = Progress(_quiet_unless_redirected(), "read", arguments.number)

    async def run(self, settings: ConsumerSettings) -> int:
        await cluster.check_reachable(self._arguments.bootstrap_server)
        try:
            async with (
                Client(self._arguments.bootstrap_server, client_id=CLIENT_ID) as client,
                Consumer(client, settings) as consumer,
            ):
                ends = await self._attach(consumer, settings)
                await self._show_all(consumer, ends)
        except KafkaError as error:
            raise cluster.explained(error) from None
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
        places = [TopicPartition(arguments.topic, number) for number in numbers]
        latest = dict.fromkeys(places, LATEST)
        ends = await list_offsets(consumer.cluster, latest, committed_only=False)
        await consumer.assign({place: self._start_inside(place, end) for place, end in ends.items()})
        if arguments.follow or self._start == LATEST:
            return None
        if settings.isolation_level == READ_COMMITTED:
            return await list_offsets(consumer.cluster, latest, committed_only=True)
        return ends

    def _start_inside(self, place: TopicPartition, end: int) -> int:
        """A place past the end would be read from the beginning, as the consumer does with an offset out of range."""
        if self._start <= end:
            return self._start
        print(
            f"barnabas: offset {self._start} is past the end of {place.topic}-{place.partition}: its end is {end}",
            file=sys.stderr,
        )
        return end

    async def _show_all(self, consumer: Consumer, ends: dict[TopicPartition, int] | None) -> None:
        while self._left is None or self._left > 0:
            if ends is not None and all((consumer.position(place) or 0) >= end for place, end in ends.items()):
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

    def _decoded(self, frame: Frame, *, is_key: bool) -> Decoded | None:
        if self._decoder is None:
            from barnabas.cli.record_schemas import RecordDecoder

            self._decoder = RecordDecoder(self._arguments)
        return self._decoder.decode(frame, is_key=is_key)


def _line(row: dict[str, Any]) -> str:
    """One record for people: where it is, dim; its key; its value."""
    place = f"{row['partition']}:{row['offset']}"
    key, value = row["key"], "(null)" if row["value"] is None else row["value"]
    if terminal.colours_here(sys.stdout):
        place = terminal.painted(place, terminal.DIM)
        key = key and terminal.painted(output.printable(key), terminal.CYAN)
        value = output.printable(value)
    return f"{place}  {value}" if key is None else f"{place}  {key}  {value}"


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


def _quiet_unless_redirected() -> Any:
    """Progress shows only when the records go elsewhere."""
    import io

    return io.StringIO() if sys.stdout.isatty() else sys.stderr
