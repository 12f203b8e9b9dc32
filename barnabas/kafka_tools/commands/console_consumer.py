"""kafka-console-consumer: the records of topics on standard output."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final

from barnabas.client.client_config import ClientConfig
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.consumer import Consumer, FetchedBatch
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.kafka_tools.console import formatters
from barnabas.kafka_tools.console.console_consumer_options import ConsoleConsumerOptions, read_options
from barnabas.kafka_tools.console.deserializers import DeserializationError
from barnabas.kafka_tools.console.formatters import FormatError
from barnabas.kafka_tools.shell import stoppable
from barnabas.kafka_tools.shell.client_log import log, wait_for_broker
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kernel import standard_output
from barnabas.kernel.java import kafka_exceptions as java_errors
from barnabas.kernel.standard_output import OutputError
from barnabas.wire.client import Client
from barnabas.wire.errors import KafkaError

LOGGER: Final = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FOREVER_MS: Final = 3_600_000
NEW_PROTOCOL: Final = (
    "The consumer rebalance protocol (KIP-848) is production-ready! Set group.protocol=consumer to try it out. "
    "See https://kafka.apache.org/documentation/#consumer_rebalance_protocol"
)


def main(arguments: Sequence[str], formatter: str = formatters.DEFAULT) -> int:
    """Run the tool; `formatter` is the class that shows records unless the command line names another."""
    options = read_options(arguments, formatter)
    ClientConfig.of(options.properties)
    try:
        settings = ConsumerSettings.from_properties(options.properties)
    except ValueError as error:
        raise ToolError(str(error)) from None
    if options.partition is None and "group.protocol" not in options.properties:
        print(NEW_PROTOCOL, file=sys.stderr)
    return stoppable.run(ConsoleConsumer(options).run(settings))


class ConsoleConsumer:
    """One run of the tool."""

    def __init__(self, options: ConsoleConsumerOptions) -> None:
        self._options = options
        self._shown = 0
        self._pending = b""
        self._out = sys.stdout.buffer

    async def run(self, settings: ConsumerSettings) -> int:
        sys.stdout.flush()
        client_id = self._options.properties["client.id"]
        try:
            async with (
                Client(self._options.bootstrap, client_id=client_id) as client,
                Consumer(client, settings) as consumer,
            ):
                await wait_for_broker(client, f"Consumer clientId={client_id}, groupId={settings.group_id}")
                await self._attach(consumer)
                return await self._process(consumer)
        finally:
            print(f"Processed a total of {self._shown} messages", file=sys.stderr)
            if self._options.events:
                print("shutdown_complete")

    async def _attach(self, consumer: Consumer) -> None:
        options = self._options
        if options.partition is not None:
            await consumer.assign({TopicPartition(options.topic or "", options.partition): options.offset})
        elif options.include is not None:
            await consumer.subscribe(re.compile(options.include))
        else:
            await consumer.subscribe([options.topic or ""])

    async def _process(self, consumer: Consumer) -> int:
        limit = self._options.max_messages
        timeout_ms = self._options.timeout_ms
        while limit < 0 or self._shown < limit:
            try:
                batches = await consumer.poll(FOREVER_MS if timeout_ms is None else timeout_ms)
            except KafkaError as error:
                _log_end(java_errors.described(error))
                return SUCCESS
            if not batches:
                if timeout_ms is None:
                    continue
                _log_end("org.apache.kafka.common.errors.TimeoutException")
                return SUCCESS
            try:
                left = self._show(batches, limit)
            except (FormatError, DeserializationError) as error:
                self._flush()
                log("ERROR", f"Unknown error when running consumer: {error}", LOGGER)
                return FAILURE
            # What was polled and not shown is not committed.
            for partition, offset in left.items():
                await consumer.seek(partition, offset)
            if not self._flush():
                return SUCCESS
        return SUCCESS

    def _show(self, batches: Sequence[FetchedBatch], limit: int) -> dict[TopicPartition, int]:
        """Print records up to the limit; returns the first offset of each partition that was not shown."""
        left: dict[TopicPartition, int] = {}
        texts: list[bytes] = []
        try:
            for batch in batches:
                for record in batch.records:
                    if 0 <= limit == self._shown:
                        left.setdefault(batch.partition, record.offset)
                        break
                    self._shown += 1
                    try:
                        texts.append(self._options.formatter(record, batch.partition, batch.is_log_append_time))
                    except (FormatError, DeserializationError) as error:
                        if not self._options.skips_errors:
                            raise
                        log("ERROR", f"Error processing message, skipping this message: {error}", LOGGER)
        finally:
            self._pending = b"".join(texts)
        return left

    def _flush(self) -> bool:
        """False when nobody reads the output any more."""
        try:
            self._out.write(self._pending)
            self._out.flush()
        except OutputError as error:
            if not error.reader_gone:
                raise
            standard_output.discard()
            print("Unable to write to standard out, closing consumer.", file=sys.stderr)
            return False
        return True


def _log_end(reason: str) -> None:
    log("ERROR", "Error processing message, terminating consumer process: ", LOGGER)
    print(reason, file=sys.stderr)
