"""kafka-verifiable-consumer: consumes in a group and prints what happens as JSON: rebalances, records, commits."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from barnabas.client.admin import session as sessions
from barnabas.client.client_config import load_properties
from barnabas.client.client_error import ClientError
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.consumer import Consumer, FetchedBatch
from barnabas.client.consumer.consumer_settings import CONSUMER, ConsumerSettings
from barnabas.kafka_tools.commands.verifiable_producer import config_file
from barnabas.kafka_tools.shell.arguments import STORE_TRUE, ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.shell.stop_signals import stop_signals
from barnabas.kafka_tools.verifiable_events import print_event
from barnabas.kernel.java.hash_map import partition_map_order
from barnabas.kernel.java.kafka_exceptions import message_of
from barnabas.wire.batch import Record
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError

POLL_MS: Final = 1_000
NO_LIMIT: Final = -1
DEFAULT_ASSIGNOR: Final = "org.apache.kafka.clients.consumer.RangeAssignor"


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    if not arguments:
        print(parser.help(), end="")
        return SUCCESS
    values = parser.parse(arguments)
    try:
        settings = ConsumerSettings.from_properties(_properties(parser, values))
    except ValueError as error:
        raise ToolError(str(error)) from None
    return sessions.run(_run(values, settings))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "verifiable-consumer",
        "Consumes a topic in a group and prints a line of JSON for each rebalance, for the records of each poll and "
        "for each commit.",
        help_status=FAILURE,
    )
    connection = parser.group("Connection Group", exclusive=True, required=True)
    parser.add(
        "--bootstrap-server",
        about="brokers to begin with, separated by commas",
        metavar="HOST1:PORT1[,HOST2:PORT2[...]]",
        group=connection,
    )
    parser.add("--topic", about="topic to consume", metavar="TOPIC", required=True)
    parser.add(
        "--group-protocol", about="classic or consumer (default: classic)", metavar="GROUP-PROTOCOL", default="classic"
    )
    parser.add(
        "--group-remote-assignor",
        about="assignor of the coordinator, with the consumer protocol",
        metavar="GROUP-REMOTE-ASSIGNOR",
    )
    parser.add("--group-id", about="group to consume in", metavar="GROUP-ID", required=True)
    parser.add("--group-instance-id", about="id of a static member", metavar="GROUP-INSTANCE-ID")
    parser.add(
        "--max-messages",
        about="how many to consume; -1 for no end (default: -1)",
        metavar="MAX-MESSAGES",
        kind="Integer",
        default=NO_LIMIT,
    )
    parser.add(
        "--session-timeout",
        about="time after which a silent member is out, with the classic protocol",
        metavar="TIMEOUT-MS",
        kind="Integer",
    )
    parser.add("--verbose", about="print every record (default: false)", action=STORE_TRUE)
    parser.add("--enable-autocommit", about="let the consumer commit by itself (default: false)", action=STORE_TRUE)
    _add_rest(parser)
    return parser


def _add_rest(parser: ArgumentParser) -> None:
    """The options behind those that everyone uses."""
    parser.add(
        "--reset-policy",
        about="where to begin without an offset: earliest, latest or none (default: earliest)",
        metavar="RESET-POLICY",
        default="earliest",
    )
    parser.add(
        "--assignment-strategy",
        about=f"assignor of the members, with the classic protocol (default: {DEFAULT_ASSIGNOR})",
        metavar="ASSIGNMENT-STRATEGY",
        default=DEFAULT_ASSIGNOR,
    )
    parser.add("--consumer.config", about="(DEPRECATED) the old name of --command-config", metavar="CONFIG-FILE")
    parser.add("--command-config", about="properties file for the client", metavar="CONFIG-FILE")


def _properties(parser: ArgumentParser, values: Values) -> dict[str, str]:
    """The command line wins over the file."""
    try:
        properties = load_properties(*config_file(parser, values, "consumer.config"))
    except ClientError as error:
        parser.fail(error.message)
    protocol = values.text("group_protocol") or ""
    timeout_ms = values.integer("session_timeout")
    given: dict[str, str | None] = {
        "group.id": values.text("group_id"),
        "group.instance.id": values.text("group_instance_id"),
        "enable.auto.commit": str(values.is_set("enable_autocommit")).lower(),
        "auto.offset.reset": values.text("reset_policy"),
        "session.timeout.ms": None if timeout_ms is None else str(timeout_ms),
    }
    if protocol.lower() == CONSUMER:
        if timeout_ms is not None:
            raise ToolError("session.timeout.ms cannot be set when group.protocol=CONSUMER")
        given |= {"group.protocol": protocol, "group.remote.assignor": values.text("group_remote_assignor")}
    else:
        given["partition.assignment.strategy"] = values.text("assignment_strategy")
    return properties | {name: value for name, value in given.items() if value is not None}


class _Rebalances:
    """Prints rebalances."""

    def partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        print_event("partitions_revoked", partitions=[_shown(place) for place in partitions])

    def partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        print_event("partitions_assigned", partitions=[_shown(place) for place in partitions])


async def _run(values: Values, settings: ConsumerSettings) -> int:
    client_id = settings.properties.get("client.id", f"consumer-{settings.group_id}-1")
    with stop_signals() as request:
        print_event("startup_complete")
        async with Client(values.text("bootstrap_server") or "", client_id=client_id) as client:
            try:
                async with Consumer(client, settings, listener=_Rebalances()) as consumer:
                    await consumer.subscribe([values.text("topic") or ""])
                    consuming = asyncio.create_task(_Consumption(values, consumer).run())
                    stopped = asyncio.create_task(request.event.wait())
                    await asyncio.wait([consuming, stopped], return_when=asyncio.FIRST_COMPLETED)
                    stopped.cancel()
                    if request.event.is_set():
                        print_event("shutdown_requested")
                        consuming.cancel()
                    await asyncio.gather(consuming, return_exceptions=request.event.is_set())
            except KafkaError as error:
                # The error goes to the log, and the tool ends as always.
                print(
                    f"ERROR Error during processing, terminating consumer process: {message_of(error)}", file=sys.stderr
                )
        print_event("shutdown_complete")
        if not request.event.is_set():
            print_event("shutdown_requested")
        return request.status


class _Consumption:
    """Polls, prints and commits until there is enough."""

    def __init__(self, values: Values, consumer: Consumer) -> None:
        self._consumer = consumer
        self._limit = values.integer("max_messages")
        self._verbose = values.is_set("verbose")
        self._commits = not values.is_set("enable_autocommit")
        self._consumed = 0

    async def run(self) -> None:
        while not self._is_finished():
            batches = await self._consumer.poll(POLL_MS)
            if not batches:
                continue
            offsets = self._take(batches)
            if self._commits:
                await self._commit(offsets)

    def _is_finished(self) -> bool:
        return self._limit is not None and self._limit >= 0 and self._consumed >= self._limit

    def _take(self, batches: Sequence[FetchedBatch]) -> dict[TopicPartition, int]:
        """Prints what came, as far as it is wanted, and returns the offsets to commit."""
        by_partition: dict[TopicPartition, list[Record]] = {}
        for batch in batches:
            by_partition.setdefault(batch.partition, []).extend(batch.records)
        offsets: dict[TopicPartition, int] = {}
        summaries = []
        for place, received in by_partition.items():
            records = received
            if self._limit is not None and self._limit >= 0:
                records = received[: self._limit - self._consumed]
            if not records:
                continue
            first, last = records[0].offset, records[-1].offset
            offsets[place] = last + 1
            summaries.append({**_shown(place), "count": len(records), "minOffset": first, "maxOffset": last})
            if self._verbose:
                for record in records:
                    print_event(
                        "record_data", key=_text(record.key), value=_text(record.value), **_shown(place),
                        offset=record.offset,
                    )  # fmt: skip
            self._consumed += len(records)
        print_event("records_consumed", count=sum(map(len, by_partition.values())), partitions=summaries)
        return offsets

    async def _commit(self, offsets: dict[TopicPartition, int]) -> None:
        ordered = [TopicPartition(*place) for place in partition_map_order(offsets)]
        shown = [{**_shown(place), "offset": offsets[place]} for place in ordered]
        try:
            await self._consumer.commit(offsets)
        except KafkaError as error:
            if error.code is ErrorCode.FENCED_INSTANCE_ID:
                raise
            print_event("offsets_committed", offsets=shown, error=message_of(error), success=False)
        else:
            print_event("offsets_committed", offsets=shown, success=True)


def _shown(place: TopicPartition) -> dict[str, object]:
    return {"topic": place.topic, "partition": place.partition}


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")
