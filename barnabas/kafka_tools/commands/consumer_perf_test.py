"""kafka-consumer-perf-test: reads records and says how fast that was."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.client.client_config import ClientConfig, load_properties
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.consumer import Consumer
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.kafka_tools.shell import stoppable
from barnabas.kafka_tools.shell.client_log import wait_for_broker
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError
from barnabas.kafka_tools.shell.key_values import parse_key_values
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.date_format import DEFAULT_PATTERN, format_time
from barnabas.wire.batch import Record
from barnabas.wire.client import Client

PURPOSE: Final = "This tool is used to verify the consumer performance."
CLIENT_ID: Final = "perf-consumer-client"
RANDOM_GROUPS: Final = 100_000
POLL_MS: Final = 100
MEGABYTE: Final = 1024 * 1024
_EXTENDED_COLUMNS: Final = "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
_COLUMNS: Final = "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command line came to."""

    bootstrap: str
    topics: list[str] | re.Pattern[str]
    records: int
    timeout_ms: int
    interval_ms: int
    detailed: bool
    hides_header: bool
    metrics: bool
    date_pattern: str
    settings: ConsumerSettings


def main(arguments: Sequence[str]) -> int:
    parsed = _parser().parse_or_fail(arguments)
    parsed.show_help_or_version(PURPOSE)
    try:
        plan = _plan(parsed)
    except (OptionError, ValueError) as error:
        raise ToolError(str(error)) from None
    if not plan.hides_header:
        print(f"{'time, threadId' if plan.detailed else 'start.time, end.time'}, {_COLUMNS}, {_EXTENDED_COLUMNS}")
    if plan.interval_ms <= 0:
        raise ToolError("Reporting interval must be greater than 0.")
    return stoppable.run(Run(plan).run(), fast=True)


class Run:
    """One run of the tool; hears of rebalances itself."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._join_start_ms = _now_ms()
        self._join_ms = self._round_join_ms = 0
        self._records = self._bytes = 0
        self._reported_records = self._reported_bytes = 0
        self._reported_ms = 0

    def partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        self._join_start_ms = _now_ms()

    def partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        elapsed_ms = _now_ms() - self._join_start_ms
        self._join_ms += elapsed_ms
        self._round_join_ms += elapsed_ms

    async def run(self) -> int:
        plan = self._plan
        async with Client(plan.bootstrap, client_id=plan.settings.properties["client.id"]) as client:
            await wait_for_broker(client, f"Consumer clientId={CLIENT_ID}, groupId={plan.settings.group_id}")
            async with Consumer(client, plan.settings, listener=self) as consumer:
                start_ms = self._join_start_ms = _now_ms()
                await self._consume(consumer)
                end_ms = _now_ms()
        if not plan.detailed:
            self._print_total(start_ms, end_ms)
        if plan.metrics:
            name = f"consumer-fetch-manager-metrics:records-consumed-total:{{client-id={CLIENT_ID}}}"
            print(f"\n{'Metric Name':<{len(name)}} Value\n{name} : {self._records:.3f}")
        return SUCCESS

    async def _consume(self, consumer: Consumer) -> None:
        plan = self._plan
        await consumer.subscribe(plan.topics)
        now_ms = last_ms = self._reported_ms = _now_ms()
        while self._records < plan.records and now_ms - last_ms <= plan.timeout_ms:
            batches = await consumer.poll(POLL_MS)
            now_ms = _now_ms()
            if not batches:
                continue
            last_ms = now_ms
            records = [record for batch in batches for record in batch.records]
            if now_ms - self._reported_ms >= plan.interval_ms:
                # Kafka reports as soon as it has counted the first record of a poll.
                self._count(records[:1])
                self._report(now_ms)
                records = records[1:]
            self._count(records)
        if self._records < plan.records:
            print(
                f"WARNING: Exiting before consuming the expected number of records: timeout ({plan.timeout_ms} ms) exceeded. "
                "You can use the --timeout option to increase the timeout."
            )

    def _count(self, records: Sequence[Record]) -> None:
        self._records += len(records)
        self._bytes += sum([len(record.value) for record in records if record.value is not None])
        self._bytes += sum([len(record.key) for record in records if record.key is not None])

    def _report(self, now_ms: int) -> None:
        if self._plan.detailed:
            records, size_bytes = self._records - self._reported_records, self._bytes - self._reported_bytes
            elapsed_ms = now_ms - self._reported_ms
            fetch_ms = elapsed_ms - self._round_join_ms
            print(
                f"{format_time(self._plan.date_pattern, now_ms)}, 0, {self._bytes / MEGABYTE:.4f}, "
                f"{_rate(size_bytes / MEGABYTE, elapsed_ms):.4f}, {self._records}, {_rate(records, elapsed_ms):.4f}, "
                f"{self._round_join_ms}, {fetch_ms}, {_rate(size_bytes / MEGABYTE, fetch_ms):.4f}, "
                f"{_rate(records, fetch_ms):.4f}",
                flush=True,
            )
        self._round_join_ms = 0
        self._reported_ms, self._reported_records, self._reported_bytes = now_ms, self._records, self._bytes

    def _print_total(self, start_ms: int, end_ms: int) -> None:
        elapsed_ms = end_ms - start_ms
        fetch_ms = elapsed_ms - self._join_ms
        megabytes = self._bytes / MEGABYTE
        pattern = self._plan.date_pattern
        print(
            f"{format_time(pattern, start_ms)}, {format_time(pattern, end_ms)}, {megabytes:.4f}, "
            f"{_rate(megabytes, elapsed_ms):.4f}, {self._records}, {_rate(self._records, elapsed_ms):.4f}, {self._join_ms}, "
            f"{fetch_ms}, {_rate(megabytes, fetch_ms):.4f}, {_rate(self._records, fetch_ms):.4f}"
        )


def _rate(amount: float, elapsed_ms: int) -> float:
    return 1000.0 * amount / elapsed_ms if elapsed_ms > 0 else 0.0


def _now_ms() -> int:
    return int(time.time() * 1000)


def _topics(parsed: Parsed) -> re.Pattern[str] | list[str]:
    include = parsed.value("include")
    if include is None:
        return [parsed.text("topic")]
    try:
        return re.compile(include)
    except re.error as error:
        raise ToolError(f"--include {include!r} is no regular expression: {error}") from None


def _plan(parsed: Parsed) -> Plan:
    parsed.require("bootstrap-server")
    parsed.require_one_of("topic", "include")
    count_option = parsed.require_one_of("messages", "num-records")
    if count_option == "messages":
        print("Warning: --messages is deprecated. Use --num-records instead.")
    if parsed.has("consumer.config"):
        print("Warning: --consumer.config is deprecated. Use --command-config instead.")
    properties = _properties(parsed)
    ClientConfig.of(properties)
    return Plan(
        bootstrap=parsed.text("bootstrap-server"),
        topics=_topics(parsed),
        records=parsed.integer(count_option) or 0,
        timeout_ms=parsed.integer("timeout") or 0,
        interval_ms=parsed.integer("reporting-interval") or 0,
        detailed=parsed.has("show-detailed-stats"),
        hides_header=parsed.has("hide-header"),
        metrics=parsed.has("print-metrics"),
        date_pattern=parsed.text("date-format"),
        settings=ConsumerSettings.from_properties(properties),
    )


def _properties(parsed: Parsed) -> dict[str, str]:
    option = "consumer.config" if parsed.has("consumer.config") else "command-config"
    properties = load_properties(parsed.value(option), f"--{option}")
    properties |= parse_key_values(parsed.values("command-property"))
    properties.setdefault("client.id", CLIENT_ID)
    return properties | {
        "group.id": parsed.text("group"),
        "receive.buffer.bytes": parsed.text("socket-buffer-size"),
        "max.partition.fetch.bytes": parsed.text("fetch-size"),
        "auto.offset.reset": "latest" if parsed.has("from-latest") else "earliest",
        "check.crcs": "false",
    }


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("bootstrap-server", "REQUIRED: Brokers to begin with, host:port,...", "server to connect to")
    parser.takes("topic", "The topic to read.", "topic")
    parser.takes("include", "Read all topics whose names match this pattern.", "Java regex (String)")
    group = f"perf-consumer-{random.randrange(RANDOM_GROUPS)}"
    parser.takes("group", "The group to read as.", "gid", default=group)
    parser.takes("fetch-size", "Bytes of one partition in an answer.", "size", kind="Integer", default=1024 * 1024)
    parser.takes("command-property", "A property of the consumer, name=value; wins over a file.", "prop1=val1")
    parser.flag("from-latest", "Begin with the newest record if the group has stored no offset, not with the oldest.")
    parser.takes(
        "socket-buffer-size",
        "Bytes of the socket's buffer (taken, no effect).",
        "size",
        kind="Integer",
        default=2 * 1024 * 1024,
    )
    parser.takes("consumer.config", "(DEPRECATED) Use --command-config instead.", "config file")
    parser.takes("command-config", "File of properties of the consumer.", "config file")
    parser.flag("print-metrics", "Print the consumer's own figures at the end.")
    parser.flag("show-detailed-stats", "Print figures at every reporting interval instead of one line at the end.")
    parser.takes(
        "timeout",
        "End when no record has come for so long.",
        "milliseconds",
        kind="Long",
        default=10_000,
        optional=True,
    )
    parser.takes("messages", "(DEPRECATED) Use --num-records instead.", "count", kind="Long")
    parser.takes("num-records", "REQUIRED: How many records to read.", "count", kind="Long")
    parser.takes("reporting-interval", "Time between two lines of figures.", "interval_ms", kind="Long", default=5000)
    parser.takes(
        "date-format",
        "How to write times, in letters of Java's SimpleDateFormat.",
        "date format",
        default=DEFAULT_PATTERN,
    )
    parser.flag("hide-header", "Leave out the names of the columns.")
    return parser
