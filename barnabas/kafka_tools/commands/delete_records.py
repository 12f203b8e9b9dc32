"""`kafka-delete-records`: cut partitions off below given offsets."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from barnabas.client.admin.session import Session, run
from barnabas.kafka_tools.shell import json_input
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser
from barnabas.kernel.java.hash_map import partition_map_order
from barnabas.kernel.java.kafka_exceptions import described, error_of
from barnabas.wire.errors import KafkaError

PURPOSE: Final = "This tool helps to delete records of the given partitions down to the specified offset."
VERSION: Final = 1

Partition = tuple[str, int]


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    try:
        parsed = parser.parse(arguments)
        parsed.show_help_or_version(PURPOSE)
        parsed.require("bootstrap-server", "offset-json-file")
        session = Session.open(parsed.text("bootstrap-server"), parsed.value("command-config"))
        offsets = _offsets(json_input.read_text(parsed.text("offset-json-file"), "offset-json-file"))
    except OptionError as error:
        raise ToolError(f"{error}. Try --help for the list of options.") from None
    print("Executing records delete operation")
    results = run(_delete(session, offsets))
    print("Records delete operation completed:")
    for partition in partition_map_order(results):
        result = results[partition]
        name = f"{partition[0]}-{partition[1]}"
        shown = f"error: {described(result)}" if isinstance(result, KafkaError) else f"low_watermark: {result}"
        print(f"partition: {name}\t{shown}")
    return SUCCESS


def _offsets(text: str) -> dict[Partition, int]:
    document = json_input.parse(text, "The input string is not a valid JSON")
    if not isinstance(document, dict):
        raise ToolError("The input string is not a valid JSON: an object with the field partitions is needed")
    version = document.get("version", VERSION)
    if version != VERSION:
        raise ToolError(f"Not supported version field value {version}")
    if "partitions" not in document:
        raise ToolError("Missing partitions field")
    found: dict[Partition, int] = {}
    duplicates: list[Partition] = []
    entries = document["partitions"]
    for partition, entry in zip(json_input.partitions(entries), entries, strict=True):
        if partition in found:
            duplicates.append(partition)
        found[partition] = json_input.field(entry, "offset", int)
    if duplicates:
        names = ",".join(f"{topic}-{index}" for topic, index in partition_map_order(duplicates))
        raise ToolError(f"Offset json file contains duplicate topic partitions: {names}")
    return found


async def _delete(session: Session, offsets: dict[Partition, int]) -> dict[Partition, int | KafkaError]:
    """The new first offset of each partition, or why nothing was deleted."""
    results: dict[Partition, int | KafkaError] = {}
    waiting: dict[Partition, KafkaError] = {}
    async with session:

        async def attempt() -> None:
            missing = [partition for partition in offsets if partition not in results]
            leaders = await session.leaders_now(missing)
            # A partition without a leader holds up none of the others.
            found: dict[Partition, int | KafkaError] = {
                partition: leader for partition, leader in leaders.items() if isinstance(leader, KafkaError)
            }
            for node in sorted({leader for leader in leaders.values() if isinstance(leader, int)}):
                asked = {partition: offsets[partition] for partition in missing if leaders[partition] == node}
                found |= await _ask(session, node, asked)
            waiting.clear()
            for partition, result in found.items():
                if isinstance(result, KafkaError) and result.code.retriable:
                    waiting[partition] = result
                else:
                    results[partition] = result
            for error in waiting.values():
                raise error

        try:
            await session.retry(attempt, "deleteRecords")
        except KafkaError as error:
            for partition in offsets:
                results.setdefault(partition, waiting.get(partition, error))
    return results


async def _ask(session: Session, node: int, offsets: dict[Partition, int]) -> dict[Partition, int | KafkaError]:
    from barnabas.wire.messages.delete_records import (
        DeleteRecordsPartition,
        DeleteRecordsRequest,
        DeleteRecordsResponse,
        DeleteRecordsTopic,
    )

    topics: dict[str, list[DeleteRecordsPartition]] = {}
    for (topic, index), offset in offsets.items():
        topics.setdefault(topic, []).append(DeleteRecordsPartition(partition_index=index, offset=offset))
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=name, partitions=asked) for name, asked in topics.items()],
        timeout_ms=session.config.request_timeout_ms,
    )
    connection = await session.connection(node)
    answer = await connection.send(request, DeleteRecordsResponse, timeout_ms=session.config.request_timeout_ms)
    return {
        (topic.name, part.partition_index): error_of(part.error_code, None) if part.error_code else part.low_watermark
        for topic in answer.topics
        for part in topic.partitions
    }


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("bootstrap-server", "REQUIRED: a broker to begin with.", "server(s) to use for bootstrapping")
    parser.takes(
        "offset-json-file",
        "REQUIRED: a JSON file with the first offset that each partition shall keep:\n"
        '{"partitions":\n  [{"topic": "foo", "partition": 1, "offset": 1}],\n "version":1\n}',
        "Offset json file path",
    )
    parser.takes("command-config", "File with properties of the client.", "command config property file path")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
