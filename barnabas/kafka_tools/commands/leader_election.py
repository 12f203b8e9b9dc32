"""`kafka-leader-election`: have the leaders of partitions elected anew."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from barnabas.client.admin.session import Session, run
from barnabas.client.client_config import load_properties
from barnabas.kafka_tools.shell import json_input
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.hash_map import partition_map_order
from barnabas.kernel.java.kafka_exceptions import described, error_of
from barnabas.wire.errors import ErrorCode, KafkaError

PURPOSE: Final = (
    "This tool attempts to elect a new leader for a set of topic partitions. "
    "The type of elections supported are preferred replicas and unclean replicas."
)
ELECTION_TYPES: Final = {"PREFERRED": 0, "UNCLEAN": 1}
API_TIMEOUT_MS: Final = 30_000
REQUEST_TIMEOUT_MS: Final = 15_000
WHICH: Final = ("topic", "all-topic-partitions", "path-to-json-file")

Partition = tuple[str, int]


def main(arguments: Sequence[str]) -> int:
    try:
        parsed = _parser().parse(arguments)
        parsed.show_help_or_version(PURPOSE)
        _check(parsed)
        election = _election_type(parsed)
        partitions = _partitions(parsed)
        session = _session(parsed)
    except OptionError as error:
        raise ToolError(f"{error}. Try --help for the list of options.") from None
    try:
        results = run(_elect(session, ELECTION_TYPES[election], partitions))
    except KafkaError as error:
        raise _refused(error) from None
    _show(results, election)
    return SUCCESS


def _refused(error: KafkaError) -> ToolError:
    messages = {
        ErrorCode.REQUEST_TIMED_OUT: "Timeout waiting for election results",
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Not authorized to perform leader election",
    }
    if error.code not in messages:
        return ToolError(described(error))
    print(messages[error.code])
    return ToolError(messages[error.code])


async def _elect(
    session: Session, election_type: int, partitions: Iterable[Partition] | None
) -> dict[Partition, KafkaError | None]:
    from barnabas.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions

    topics: dict[str, list[int]] = {}
    for topic, partition in partitions or ():
        topics.setdefault(topic, []).append(partition)
    wanted = [TopicPartitions(topic=topic, partitions=indexes) for topic, indexes in topics.items()]
    request = ElectLeadersRequest(
        election_type=election_type,
        topic_partitions=None if partitions is None else wanted,
        timeout_ms=session.config.request_timeout_ms,
    )
    async with session:
        answer = await session.send_to_controller(request, ElectLeadersResponse, check=lambda found: found.error_code)
    if answer.error_code:
        raise error_of(answer.error_code, None)
    return {
        (topic.topic, part.partition_id): error_of(part.error_code, part.error_message) if part.error_code else None
        for topic in answer.replica_election_results
        for part in topic.partition_result
    }


def _show(results: dict[Partition, KafkaError | None], election: str) -> None:
    elected = [partition for partition, error in results.items() if error is None]
    settled = [
        partition for partition, error in results.items() if error and error.code == ErrorCode.ELECTION_NOT_NEEDED
    ]
    failed = {
        partition: error for partition, error in results.items() if error is not None and partition not in settled
    }
    if elected:
        print(f"Successfully completed leader election ({election}) for partitions {_named(elected)}")
    if settled:
        print(f"Valid replica already elected for partitions {_named(settled)}")
    for topic, index in partition_map_order(failed):
        why = described(failed[topic, index])
        print(f"Error completing leader election ({election}) for partition: {topic}-{index}: {why}")
    if failed:
        raise ToolError(f"{len(failed)} replica(s) could not be elected")


def _named(partitions: Iterable[Partition]) -> str:
    return ", ".join(f"{topic}-{index}" for topic, index in partition_map_order(partitions))


def _session(parsed: Parsed) -> Session:
    if parsed.has("admin.config"):
        print(
            "Option --admin.config has been deprecated and will be removed in a future version. "
            "Use --command-config instead."
        )
    option = "admin.config" if parsed.has("admin.config") else "command-config"
    limits = {"default.api.timeout.ms": str(API_TIMEOUT_MS), "request.timeout.ms": str(REQUEST_TIMEOUT_MS)}
    return Session.open(
        parsed.text("bootstrap-server"), None, limits | load_properties(parsed.value(option), f"--{option}")
    )


def _election_type(parsed: Parsed) -> str:
    text = parsed.text("election-type")
    if text.upper() not in ELECTION_TYPES:
        raise OptionError(f"Cannot parse argument '{text}' of option election-type")
    return text.upper()


def _partitions(parsed: Parsed) -> list[Partition] | None:
    """None is all there are."""
    if parsed.has("topic"):
        return [(parsed.text("topic"), parsed.integer("partition") or 0)]
    if parsed.has("all-topic-partitions"):
        return None
    text = json_input.read_text(parsed.text("path-to-json-file"), "path-to-json-file")
    document = json_input.parse(text, "Replica election data is empty")
    if not isinstance(document, dict) or "partitions" not in document:
        raise ToolError('Replica election data is missing "partitions" field')
    found = json_input.partitions(document["partitions"])
    repeated = [partition for partition in found if found.count(partition) > 1]
    if repeated:
        raise ToolError(f"Replica election data contains duplicate partitions: [{_named(repeated)}]")
    return found


def _check(parsed: Parsed) -> None:
    missing = [name for name in ("bootstrap-server", "election-type") if not parsed.has(name)]
    if missing:
        raise ToolError(f"Missing required option(s): {', '.join(missing)}")
    if sum(parsed.has(name) for name in WHICH) != 1:
        raise ToolError(f"One and only one of the following options is required: {', '.join(WHICH)}")
    if parsed.has("topic") and not parsed.has("partition"):
        raise ToolError("Missing required option(s): partition")
    if parsed.has("partition") and not parsed.has("topic"):
        raise ToolError("Option partition is only allowed if topic is used")
    parsed.forbid("admin.config", "command-config")


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("bootstrap-server", "REQUIRED. A broker to begin with, or several with commas.", "host:port")
    parser.takes("admin.config", "(DEPRECATED) The same as --command-config.", "config file")
    parser.takes("command-config", "File with properties of the client.", "Config file")
    parser.takes(
        "path-to-json-file",
        "A JSON file that names partitions:\n"
        '{"partitions":\n\t[{"topic": "foo", "partition": 1},\n\t {"topic": "foobar", "partition": 2}]\n}\n'
        "Not beside --all-topic-partitions or --topic.",
        "Path to JSON file",
    )
    parser.takes("topic", "The topic of one partition. Needs --partition.", "topic name")
    parser.takes("partition", "The number of one partition. Needs --topic.", "partition id", kind="Integer")
    parser.flag("all-topic-partitions", "Every partition that such an election is for.")
    parser.takes(
        "election-type",
        'REQUIRED. "preferred": the first replica becomes leader again; "unclean": a partition without leader gets '
        "one, even if records are lost.",
        "election type",
        kind="[PREFERRED,UNCLEAN]",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
