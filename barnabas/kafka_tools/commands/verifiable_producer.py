"""kafka-verifiable-producer: sends increasing numbers and prints, as JSON, which of them were acknowledged."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Final

from barnabas.client.admin import session as sessions
from barnabas.client.client_config import COMMAND_CONFIG, load_properties
from barnabas.client.client_error import ClientError
from barnabas.client.producer.producer import Producer, ProducerBatch, ProducerSettings
from barnabas.kafka_tools.shell.arguments import ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.shell.stop_signals import StopRequest, stop_signals
from barnabas.kafka_tools.verifiable_events import print_event
from barnabas.kernel.java.kafka_exceptions import class_name, message_of
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError

ENDLESS: Final = 1 << 62
NO_TIME: Final = -1
# Between two looks at the rest of the loop when nothing else makes the tool wait.
SENDS_PER_TURN: Final = 100


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    if not arguments:
        print(parser.help(), end="")
        return SUCCESS
    values = parser.parse(arguments)
    try:
        settings = ProducerSettings.from_properties(_properties(parser, values))
    except ValueError as error:
        raise ToolError(str(error)) from None
    return sessions.run(_run(values, settings))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "verifiable-producer",
        "Sends increasing numbers to a topic and prints a line of JSON for each: whether it was acknowledged or failed.",
        help_status=FAILURE,
    )
    connection = parser.group("Connection Group", exclusive=True, required=True)
    parser.add("--topic", about="topic to send to", metavar="TOPIC", required=True)
    parser.add(
        "--bootstrap-server",
        about="brokers to begin with, separated by commas",
        metavar="HOST1:PORT1[,HOST2:PORT2[...]]",
        group=connection,
    )
    parser.add(
        "--max-messages",
        about="how many to send; -1 for no end (default: -1)",
        metavar="MAX-MESSAGES",
        kind="Integer",
        default=-1,
    )
    parser.add(
        "--throughput",
        about="at most about so many in a second; -1 for no limit (default: -1)",
        metavar="THROUGHPUT",
        kind="Integer",
        default=-1,
    )
    parser.add(
        "--acks",
        about="who must have a message before it counts as sent (default: -1)",
        metavar="ACKS",
        kind="Integer",
        choices=("0", "1", "-1"),
        default=-1,
    )
    _add_rest(parser)
    return parser


def _add_rest(parser: ArgumentParser) -> None:
    """The options behind those that everyone uses."""
    parser.add("--producer.config", about="(DEPRECATED) the old name of --command-config", metavar="CONFIG-FILE")
    parser.add(
        "--message-create-time",
        about="time of the first message, in milliseconds since 1970 (default: -1)",
        metavar="CREATE-TIME",
        kind="Long",
        default=NO_TIME,
    )
    parser.add(
        "--value-prefix", about="number to put before each value, with a dot", metavar="VALUE-PREFIX", kind="Integer"
    )
    parser.add(
        "--repeating-keys",
        about="give the keys 0, 1, ... and start again at this number",
        metavar="REPEATING-KEYS",
        kind="Integer",
    )
    parser.add("--command-config", about="properties file for the client", metavar="CONFIG-FILE")


def _properties(parser: ArgumentParser, values: Values) -> dict[str, str]:
    """Those of the file win, as in Kafka's tool."""
    file = config_file(parser, values, "producer.config")
    given = {"acks": str(values.integer("acks")), "retries": "0"}
    try:
        return given | load_properties(*file)
    except ClientError as error:
        parser.fail(error.message)


def config_file(parser: ArgumentParser, values: Values, old: str) -> tuple[str | None, str]:
    """The file of `--command-config` or of its old name, and the name that it was given with."""
    before, now = values.text(old), values.text("command_config")
    if before is not None and now is not None:
        parser.fail(f"Options --{old} and --command-config are mutually exclusive.")
    if before is not None:
        print(
            f"Option --{old} has been deprecated and will be removed in a future version. Use --command-config instead."
        )
    return (before, f"--{old}") if before is not None else (now, COMMAND_CONFIG)


async def _run(values: Values, settings: ProducerSettings) -> int:
    run = _Run(values)
    client_id = settings.properties.get("client.id", "producer-1")
    with stop_signals() as request:
        async with (
            Client(values.text("bootstrap_server") or "", client_id=client_id) as client,
            Producer(client, settings, settled=run.settled) as producer,
        ):
            print_event("startup_complete")
            await run.send_all(producer, request)
        run.print_end()
        return request.status


class _Run:
    """Counts what was sent and acknowledged."""

    def __init__(self, values: Values) -> None:
        self._topic = values.text("topic") or ""
        self._limit = values.integer("max_messages") or 0
        self._throughput = values.integer("throughput") or 0
        self._prefix = values.integer("value_prefix")
        self._keys = values.integer("repeating_keys")
        self._create_time_ms = values.integer("message_create_time")
        self._started_s = time.time()
        self._sent = 0
        self._acked = 0

    async def send_all(self, producer: Producer, request: StopRequest) -> None:
        for number in range(self._limit if self._limit >= 0 else ENDLESS):
            if request.event.is_set():
                return
            await self._send(producer, number)
            if self._throughput >= 0 or number % SENDS_PER_TURN == 0:
                await self._throttle(number, request)

    async def _send(self, producer: Producer, number: int) -> None:
        value = str(number) if self._prefix is None else f"{self._prefix}.{number}"
        key = str(number % self._keys) if self._keys else None
        timestamp_ms = self._timestamp_ms()
        self._sent += 1
        try:
            await producer.send(
                self._topic,
                value.encode(),
                None if key is None else key.encode(),
                timestamp_ms=timestamp_ms,
                note=(key, value),
            )
        except KafkaError as error:
            self._print_failure(key, value, error)

    def _timestamp_ms(self) -> int | None:
        """The given time, which moves on faster and faster: Kafka's tool adds the whole run time at each message."""
        if self._create_time_ms in (None, NO_TIME):
            return None
        current = self._create_time_ms or 0
        self._create_time_ms = current + int((time.time() - self._started_s) * 1000)
        return current

    async def _throttle(self, number: int, request: StopRequest) -> None:
        """Waits until it is time for the next message, or until the tool is to stop."""
        ahead_s = 0.0
        if self._throughput > 0:
            ahead_s = max(0.0, number / self._throughput - (time.time() - self._started_s))
        elif self._throughput == 0:
            await request.event.wait()
        try:
            async with asyncio.timeout(ahead_s):
                await request.event.wait()
        except TimeoutError:
            return

    def settled(self, batch: ProducerBatch) -> None:
        for place, (key, value) in enumerate(batch.notes):
            if batch.error is not None:
                self._print_failure(key, value, batch.error)
                continue
            self._acked += 1
            offset = batch.base_offset + place if batch.base_offset >= 0 else -1
            topic, partition = batch.partition
            print_event("producer_send_success", key=key, value=value, offset=offset, topic=topic, partition=partition)

    def _print_failure(self, key: str | None, value: str, error: KafkaError) -> None:
        message = message_of(error)
        if error.code is ErrorCode.INVALID_TOPIC_EXCEPTION:
            message = f"Invalid topics: [{self._topic}]"
        print_event(
            "producer_send_error", topic=self._topic, key=key, value=value,
            exception=f"class {class_name(error.code)}", message=message,
        )  # fmt: skip

    def print_end(self) -> None:
        elapsed_ms = max((time.time() - self._started_s) * 1000, 1.0)
        print_event("shutdown_complete")
        print_event(
            "tool_data", sent=self._sent, acked=self._acked, target_throughput=self._throughput,
            avg_throughput=1000 * (self._acked / elapsed_ms),
        )  # fmt: skip
        sys.stdout.flush()
