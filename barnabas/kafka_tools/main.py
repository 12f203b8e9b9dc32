"""Kafka's command-line tools by name, with Confluent's for data with schemas, and the one entry point of all of them. A tool's module is imported when it is called."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final, cast

from barnabas.client.client_error import ClientError
from barnabas.kafka_tools.shell.exits import FAILURE, INTERRUPTED, ToolExit, UsageError
from barnabas.kernel import standard_output
from barnabas.kernel.java.kafka_exceptions import message_of
from barnabas.kernel.standard_output import OutputError
from barnabas.wire.errors import KafkaError

MODULES: Final = {
    "kafka-avro-console-consumer": "avro_console_consumer",
    "kafka-avro-console-producer": "avro_console_producer",
    "kafka-broker-api-versions": "broker_api_versions",
    "kafka-cluster": "cluster",
    "kafka-configs": "configs",
    "kafka-console-consumer": "console_consumer",
    "kafka-console-producer": "console_producer",
    "kafka-consumer-groups": "consumer_groups",
    "kafka-consumer-perf-test": "consumer_perf_test",
    "kafka-delete-records": "delete_records",
    "kafka-dump-log": "dump_log",
    "kafka-features": "features",
    "kafka-get-offsets": "get_offsets",
    "kafka-groups": "groups",
    "kafka-json-schema-console-consumer": "json_schema_console_consumer",
    "kafka-json-schema-console-producer": "json_schema_console_producer",
    "kafka-leader-election": "leader_election",
    "kafka-log-dirs": "log_dirs",
    "kafka-metadata-quorum": "metadata_quorum",
    "kafka-producer-perf-test": "producer_perf_test",
    "kafka-protobuf-console-consumer": "protobuf_console_consumer",
    "kafka-protobuf-console-producer": "protobuf_console_producer",
    "kafka-reassign-partitions": "reassign_partitions",
    "kafka-storage": "storage",
    "kafka-streams-application-reset": "streams_application_reset",
    "kafka-topics": "topics",
    "kafka-transactions": "transactions",
    "kafka-verifiable-consumer": "verifiable_consumer",
    "kafka-verifiable-producer": "verifiable_producer",
}


def main() -> int:
    """The entry point of every script; its own name says which tool is meant."""
    return run_script(os.path.basename(sys.argv[0]).removesuffix(".sh"), sys.argv[1:])


def run_script(name: str, arguments: Sequence[str]) -> int:
    """As `call`, in a process that is the tool's alone."""
    standard_output.install()
    # Kafka's tools print the warnings of their client.
    logging.addLevelName(logging.WARNING, "WARN")
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
    return call(name, arguments)


def call(name: str, arguments: Sequence[str]) -> int:
    """Runs a tool as its script does and returns its exit status."""
    if name not in MODULES:
        print(f"{name!r} is no tool of Kafka that is here; there are {', '.join(MODULES)}", file=sys.stderr)
        return FAILURE
    try:
        status = _run(name, arguments)
        standard_output.flush()
    except OutputError as error:
        standard_output.discard()
        # When the reader has gone, as with `kafka-topics --list | head`, nothing is left to say.
        if not error.reader_gone:
            print(error, file=sys.stderr)
        return FAILURE
    return status


def _run(name: str, arguments: Sequence[str]) -> int:
    """Runs a tool and prints how it failed; what is wrong with the output remains for the caller."""
    try:
        module = import_module(f"barnabas.kafka_tools.commands.{MODULES[name]}")
        return cast("Callable[[Sequence[str]], int]", module.main)(arguments)
    except UsageError as error:
        print(f"{error.message}\n{error.table}", end="", file=sys.stderr)
        return FAILURE
    except ClientError as error:
        print(error.message, file=sys.stderr)
        return FAILURE
    except KafkaError as error:
        print(message_of(error), file=sys.stderr)
        return FAILURE
    except ToolExit as end:
        return end.status
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    # As a module it is told the tool by name: `python -m barnabas.kafka_tools.main kafka-topics --list …`.
    sys.exit(run_script(sys.argv[1], sys.argv[2:]))
