"""kafka-producer-perf-test: sends records as fast as told and says how fast that was."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.client.client_config import ClientConfig, load_properties
from barnabas.client.producer.producer import Producer, ProducerBatch, ProducerSettings
from barnabas.kafka_tools.console import payloads
from barnabas.kafka_tools.console.payloads import Payloads
from barnabas.kafka_tools.console.producer_stats import ProducerStats
from barnabas.kafka_tools.dump.message_json import id_text
from barnabas.kafka_tools.shell import stoppable
from barnabas.kafka_tools.shell.arguments import STORE_TRUE, ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError, ToolExit
from barnabas.kernel.java import kafka_exceptions as java_errors
from barnabas.kernel.standard_output import OutputError
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError

PROGRAM: Final = "kafka-producer-perf-test"
CLIENT_ID: Final = "perf-producer-client"
TRANSACTION_PREFIX: Final = "performance-producer-"
TRANSACTION_MS: Final = 3_000
# Records that are sent in one go, with one look at the clock: it shows milliseconds, and they take less together.
GROUP_RECORDS: Final = 64
_NEEDS_SOURCE: Final = (
    "At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or --command-config must be "
    "specified."
)
_NEEDS_ONE: Final = "Note that you must provide exactly one of --record-size, --payload-file or --payload-monotonic."


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command line came to."""

    bootstrap: str
    topic: str
    records: int
    warm_up: int
    throughput: float
    interval_ms: int
    transaction_ms: int | None
    metrics: bool
    payloads: Payloads
    settings: ProducerSettings


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    if not arguments:
        print(parser.help(), end="")
        raise ToolExit(SUCCESS)
    plan = _plan(parser, parser.parse(arguments))
    return stoppable.run(Run(plan).run(), fast=True)


class Run:
    """One run of the tool."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stats = ProducerStats(plan.records, plan.interval_ms, sys.stdout, _now_ms)
        self._steady: ProducerStats | None = None
        self._retries = self._errors = self._sent_bytes = 0
        self._failure: OutputError | None = None

    async def run(self) -> int:
        plan = self._plan
        client_id = plan.settings.properties.get("client.id", CLIENT_ID)
        async with (
            Client(plan.bootstrap, client_id=client_id) as client,
            Producer(client, plan.settings, settled=self._settled) as producer,
        ):
            if plan.transaction_ms is not None:
                await producer.init_transactions()
            await producer.start(plan.topic)
            if plan.warm_up:
                print(
                    f"Warmup first {plan.warm_up} records. Steady state results will print after the complete test summary."
                )
            self._stats = ProducerStats(plan.records, plan.interval_ms, sys.stdout, _now_ms)
            await self._send_all(producer)
            await producer.flush()
            self._stats.print_total()
            if self._steady is not None:
                self._steady.print_total()
            if plan.metrics:
                self._print_metrics(client_id)
        return SUCCESS

    async def _send_all(self, producer: Producer) -> None:
        plan = self._plan
        start_s = time.monotonic()
        began_ms: int | None = None
        sent = 0
        while sent < plan.records:
            if plan.transaction_ms is not None and began_ms is None:
                producer.begin_transaction()
                began_ms = _now_ms()
            if plan.warm_up and self._steady is None and sent >= plan.warm_up:
                remaining = plan.records - plan.warm_up
                self._steady = ProducerStats(remaining, plan.interval_ms, sys.stdout, _now_ms, steady=True)
                self._stats.prints_windows = False
            count = await self._allowed(sent, start_s)
            if count == 0:
                continue
            now_ms = await self._send(producer, plan.payloads(count, sent))
            sent += count
            if began_ms is not None and plan.transaction_ms is not None and plan.transaction_ms <= now_ms - began_ms:
                await producer.commit_transaction()
                began_ms = None
        if began_ms is not None:
            await producer.commit_transaction()

    async def _allowed(self, sent: int, start_s: float) -> int:
        """How many records may go now; sleeps until it is time for the next one."""
        plan = self._plan
        limit = plan.warm_up if plan.warm_up and self._steady is None else plan.records
        left = min(GROUP_RECORDS, limit - sent)
        if plan.throughput <= 0:
            return left
        due = int((time.monotonic() - start_s) * plan.throughput) + 1 - sent
        if due > 0:
            return min(left, due)
        await asyncio.sleep(max(0.0, start_s + sent / plan.throughput - time.monotonic()))
        return 0

    async def _send(self, producer: Producer, values: list[bytes]) -> int:
        """Queue values; returns the time at which the last of them was."""
        while True:
            if self._failure is not None:
                raise self._failure
            now_ms = _now_ms()
            try:
                taken = producer.try_send_values(self._plan.topic, values, now_ms, (values, self._steady))
            except KafkaError as error:
                # A record that is too large is a failure of its own, but for a transaction, which it spoils.
                if error.code != ErrorCode.MESSAGE_TOO_LARGE or self._plan.transaction_ms is not None:
                    raise
                self._errors += 1
                print(java_errors.described(error), file=sys.stderr)
                taken = 1
            if taken == len(values):
                return now_ms
            values = values[taken:]
            # A full batch is on its way, or the buffer is full: let the event loop work.
            await producer.room()

    def _settled(self, batch: ProducerBatch) -> None:
        try:
            self._count(batch)
        except OutputError as error:
            # The figures could not be printed. This is a task of the producer: whoever sends must hear of it.
            self._failure = error

    def _count(self, batch: ProducerBatch) -> None:
        now_ms = _now_ms()
        self._retries += batch.attempts - 1
        if batch.error is not None:
            self._errors += batch.count
            print(java_errors.described(batch.error), file=sys.stderr)
            return
        before = 0
        for (after, start_ms), (values, steady) in zip(batch.timestamps_ms, batch.notes, strict=True):
            added = after - before
            size_bytes = sum([len(value) for value in values[:added]])
            self._sent_bytes += size_bytes
            self._stats.record(now_ms - start_ms, added, size_bytes, now_ms)
            if steady is not None:
                steady.record(now_ms - start_ms, added, size_bytes, now_ms)
            before = after

    def _print_metrics(self, client_id: str) -> None:
        """The few figures that this producer keeps, in the layout of Java's."""
        figures = {
            f"producer-metrics:byte-total:{{client-id={client_id}}}": self._sent_bytes,
            f"producer-metrics:record-error-total:{{client-id={client_id}}}": self._errors,
            f"producer-metrics:record-retry-total:{{client-id={client_id}}}": self._retries,
        }
        width = max(len(name) for name in figures)
        print(f"\n{'Metric Name':<{width}} Value")
        for name, value in figures.items():
            print(f"{name:<{width}} : {value:.3f}")


def _plan(parser: ArgumentParser, values: Values) -> Plan:
    _check(parser, values)
    size_bytes = values.integer("record_size")
    transaction_ms = values.integer("transaction_duration_ms")
    properties = _properties(values)
    transactional_id = _transactional_id(values, properties, transaction_ms)
    if transactional_id is not None:
        properties["transactional.id"] = transactional_id
    try:
        settings = ProducerSettings.from_properties(properties)
    except ValueError as error:
        raise ToolError(str(error)) from None
    ClientConfig.of(properties)
    if "bootstrap.servers" not in properties:
        raise ToolError(
            "No resolvable bootstrap urls given in bootstrap.servers: name the broker with --bootstrap-server"
        )
    throughput = values["throughput"]
    return Plan(
        bootstrap=properties["bootstrap.servers"],
        topic=values.text("topic") or "",
        records=values.integer("num_records") or 0,
        warm_up=values.integer("warmup_records") or 0,
        throughput=float(throughput) if isinstance(throughput, (int, float)) else -1.0,
        interval_ms=values.integer("reporting_interval") or 0,
        transaction_ms=None if transactional_id is None else transaction_ms or TRANSACTION_MS,
        metrics=values.is_set("print_metrics"),
        payloads=_payloads(values, size_bytes),
        settings=settings,
    )


def _check(parser: ArgumentParser, values: Values) -> None:
    """Kafka's rules, in its order and its words."""
    records, size_bytes = values.integer("num_records") or 0, values.integer("record_size")
    warm_up = values.integer("warmup_records") or 0
    transaction_ms = values.integer("transaction_duration_ms")
    interval_ms = values.integer("reporting_interval") or 0
    sources = ("bootstrap_server", "command_property", "producer_props", "producer.config", "command_config")
    for wrong, message in (
        (records <= 0, "--num-records should be greater than zero."),
        (
            warm_up >= records,
            "The value for --warmup-records must be strictly fewer than the number of records in the test, --num-records.",
        ),
        (size_bytes is not None and size_bytes <= 0, "--record-size should be greater than zero."),
        (
            not any(values.get(name) for name in sources),
            _NEEDS_SOURCE,
        ),
        (
            values.get("command_property") and values.get("producer_props"),
            "--command-property and --producer-props cannot be specified together.",
        ),
        (
            values.get("command_config") and values.get("producer.config"),
            "--command-config and --producer.config cannot be specified together.",
        ),
        (
            transaction_ms is not None and transaction_ms <= 0,
            "--transaction-duration-ms should be greater than zero.",
        ),
        (interval_ms <= 0, "--reporting-interval should be greater than zero."),
    ):
        if wrong:
            parser.fail(message)


def _properties(values: Values) -> dict[str, str]:
    if values.get("producer_props"):
        print(
            "Option --producer-props has been deprecated and will be removed in a future version. "
            "Use --command-property instead."
        )
    if values.get("producer.config"):
        print(
            "Option --producer.config has been deprecated and will be removed in a future version. "
            "Use --command-config instead."
        )
    old = values.text("producer.config")
    properties = load_properties(old, "--producer.config") if old else load_properties(values.text("command_config"))
    for word in values.texts("command_property") or values.texts("producer_props"):
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise ToolError(f"Invalid property: {word}")
        properties[name] = value
    server = values.text("bootstrap_server")
    if server is not None:
        properties["bootstrap.servers"] = server
    properties.setdefault("client.id", CLIENT_ID)
    return properties


def _transactional_id(values: Values, properties: dict[str, str], transaction_ms: int | None) -> str | None:
    given = values.text("transactional_id") or properties.get("transactional.id")
    if given is None and transaction_ms is not None:
        return TRANSACTION_PREFIX + id_text(random.randbytes(16))
    return given


def _payloads(values: Values, size_bytes: int | None) -> Payloads:
    path = values.text("payload_file")
    chooser = random.Random(0)
    if path is not None:
        delimiter = values.text("payload_delimiter") or "\\n"
        return payloads.of_file(path, "\n" if delimiter == "\\n" else delimiter, chooser)
    return payloads.monotonic() if size_bytes is None else payloads.of_size(size_bytes, chooser)


def _now_ms() -> int:
    return int(time.time() * 1000)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        PROGRAM,
        "Measures a producer. With a transactional id (--transactional-id, or transactional.id among the properties) or with "
        "--transaction-duration-ms, it sends in transactions.",
        help_status=1,
    )
    parser.add(
        "--bootstrap-server", metavar="BOOTSTRAP-SERVER", about="Brokers to begin with; wins over the properties."
    )
    parser.add("--topic", required=True, metavar="TOPIC", about="Topic to write to.")
    parser.add("--num-records", required=True, kind="Long", metavar="NUM-RECORDS", about="How many records to send.")
    parser.add(
        "--payload-delimiter",
        metavar="PAYLOAD-DELIMITER",
        default="\\n",
        about="What stands between two payloads in --payload-file. (default: \\n)",
    )
    parser.add(
        "--throughput",
        required=True,
        kind="Double",
        metavar="THROUGHPUT",
        about="Records per second, approximately; -1 for as many as possible.",
    )
    _add_properties_and_transactions(parser)
    group = parser.group(_NEEDS_ONE, exclusive=True, required=True)
    parser.add("--record-size", kind="Integer", metavar="RECORD-SIZE", about="Bytes of each record.", group=group)
    parser.add(
        "--payload-file", metavar="PAYLOAD-FILE", about="File of payloads, UTF-8; each record takes any.", group=group
    )
    parser.add(
        "--payload-monotonic", action=STORE_TRUE, about="Send the numbers 0, 1, 2 … (default: false)", group=group
    )
    return parser


def _add_properties_and_transactions(parser: ArgumentParser) -> None:
    pairs = "PROP-NAME=PROP-VALUE"
    parser.add("--producer-props", count="+", metavar=pairs, about="(DEPRECATED) Use --command-property instead.")
    parser.add(
        "--command-property",
        count="+",
        metavar=pairs,
        about="Properties of the producer; they win over those of a file. Example: linger.ms=10 batch.size=32768",
    )
    parser.add("--producer.config", metavar="CONFIG-FILE", about="(DEPRECATED) Use --command-config instead.")
    parser.add("--command-config", metavar="CONFIG-FILE", about="File of properties of the producer.")
    parser.add(
        "--print-metrics", action=STORE_TRUE, about="Print the producer's own figures at the end. (default: false)"
    )
    parser.add("--transactional-id", metavar="TRANSACTIONAL-ID", about="Send in transactions of this id.")
    parser.add(
        "--transaction-duration-ms",
        kind="Long",
        metavar="TRANSACTION-DURATION",
        about="Commit a transaction after so long; 3000 if only a transactional id is given.",
    )
    parser.add(
        "--warmup-records",
        kind="Long",
        default=0,
        metavar="WARMUP-RECORDS",
        about="So many records at the start do not count in a second summary. (default: 0)",
    )
    parser.add(
        "--reporting-interval",
        kind="Long",
        default=5000,
        metavar="INTERVAL-MS",
        about="Time between two lines of figures. (default: 5000)",
    )
