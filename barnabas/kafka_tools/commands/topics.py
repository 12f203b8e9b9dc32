"""`kafka-topics`: create, list, describe, alter and delete topics."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from barnabas.client.admin.session import Session, run
from barnabas.client.client_error import ClientError
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.shell.java_input import parse_int, parse_uuid, split
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.kafka_exceptions import error_of, message_of
from barnabas.wire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from barnabas.kafka_tools.topic_descriptions import Report

ACTIONS: Final = ("create", "list", "alter", "describe", "delete")
REPORTS: Final = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)
REPLICATION_FACTOR_MAX: Final = 32767
UNSET: Final = -1

_KAFKA_CONFIGS: Final = " (To alter topic configurations, the kafka-configs tool can be used.)"
_COLLISION: Final = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)


def main(arguments: Sequence[str]) -> int:
    try:
        parsed = _parser().parse(arguments)
    except OptionError as error:
        raise ToolError(f"{error}. Try --help for the list of options.") from None
    _check(parsed)
    session = Session.open(parsed.text("bootstrap-server"), parsed.value("command-config"))
    try:
        run(_execute(session, parsed))
    except KafkaError as error:
        return _failed(message_of(error))
    except (ClientError, OptionError, ValueError) as error:
        return _failed(str(error))
    return SUCCESS


def _failed(message: str) -> int:
    print(f"Error while executing topic command : {message}")
    return FAILURE


async def _execute(session: Session, parsed: Parsed) -> None:
    async with session:
        if parsed.has("create"):
            await _create(session, parsed)
        elif parsed.has("list"):
            print("\n".join(await _names(session, parsed)))
        elif parsed.has("alter"):
            await _alter(session, parsed)
        elif parsed.has("describe"):
            await _describe(session, parsed)
        else:
            await _delete(session, parsed)


async def _names(session: Session, parsed: Parsed) -> list[str]:
    """The topics that the command line means, sorted."""
    answer = await session.metadata()
    hidden = parsed.has("exclude-internal")
    names = sorted(topic.name for topic in answer.topics if topic.name and not (hidden and topic.is_internal))
    pattern = parsed.value("topic")
    if pattern is None:
        return names
    from barnabas.kafka_tools.topic_filter import matching

    return matching(names, pattern)


async def _existing(session: Session, parsed: Parsed) -> list[str]:
    names = await _names(session, parsed)
    wanted = parsed.value("topic")
    if wanted and not names and not parsed.has("if-exists"):
        raise ToolError(f"Topic '{wanted}' does not exist as expected")
    return names


async def _create(session: Session, parsed: Parsed) -> None:
    from barnabas.wire.messages.create_topics import (
        CreatableReplicaAssignment,
        CreatableTopic,
        CreatableTopicConfig,
        CreateTopicsRequest,
        CreateTopicsResponse,
    )

    name = parsed.text("topic")
    partitions, replication_factor = parsed.integer("partitions"), parsed.integer("replication-factor")
    assignment = _assignment(parsed)
    configs = _configs(parsed)
    if "." in name or "_" in name:
        print(_COLLISION)
    if replication_factor is not None and not 1 <= replication_factor <= REPLICATION_FACTOR_MAX:
        raise ToolError(f"The replication factor must be between 1 and {REPLICATION_FACTOR_MAX} inclusive")
    if partitions is not None and partitions < 1:
        raise ToolError("The partitions must be greater than 0")
    topic = CreatableTopic(
        name=name,
        num_partitions=UNSET if partitions is None else partitions,
        replication_factor=UNSET if replication_factor is None else replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in enumerate(assignment)
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=session.config.request_timeout_ms)
    answer = await session.send_to_controller(request, CreateTopicsResponse)
    result = answer.topics[0]
    if result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS and parsed.has("if-not-exists"):
        return
    if result.error_code:
        raise error_of(result.error_code, result.error_message)
    print(f"Created topic {name}.")


async def _alter(session: Session, parsed: Parsed) -> None:
    from barnabas.wire.messages.create_partitions import (
        CreatePartitionsAssignment,
        CreatePartitionsRequest,
        CreatePartitionsResponse,
        CreatePartitionsTopic,
    )

    count = parsed.integer("partitions") or 0
    assignment = _assignment(parsed)
    names = await _existing(session, parsed)
    existing = await session.topics(names) if assignment else {}
    topics = []
    for name in names:
        added = assignment[len(existing[name].partitions) :] if assignment else None
        brokers = None if added is None else [CreatePartitionsAssignment(broker_ids=ids) for ids in added]
        topics.append(CreatePartitionsTopic(name=name, count=count, assignments=brokers))
    if not topics:
        return
    request = CreatePartitionsRequest(topics=topics, timeout_ms=session.config.request_timeout_ms)
    answer = await session.send_to_controller(request, CreatePartitionsResponse)
    for result in answer.results:
        if result.error_code:
            raise error_of(result.error_code, result.error_message)


async def _delete(session: Session, parsed: Parsed) -> None:
    from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState

    names = await _existing(session, parsed)
    if not names:
        return
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in names],
        topic_names=names,
        timeout_ms=session.config.request_timeout_ms,
    )
    answer = await session.send_to_controller(request, DeleteTopicsResponse)
    for result in answer.responses:
        if result.error_code:
            raise error_of(result.error_code, result.error_message)


async def _describe(session: Session, parsed: Parsed) -> None:
    from barnabas.kafka_tools import topic_descriptions

    topic_id = _topic_id(parsed)
    if topic_id is None:
        names = await _existing(session, parsed)
    else:
        listed = (await session.metadata()).topics
        names = [topic.name for topic in listed if topic.topic_id == topic_id and topic.name]
        if not names and not parsed.has("if-exists"):
            from core_broker.log.meta_properties import encode_uuid

            raise ToolError(f"TopicId '{encode_uuid(topic_id)}' does not exist as expected")
    limit = parsed.integer("partition-size-limit-per-response")
    await topic_descriptions.show(session, names, _report(parsed), limit)


def _report(parsed: Parsed) -> Report:
    from barnabas.kafka_tools.topic_descriptions import Report

    return Report(
        under_replicated=parsed.has("under-replicated-partitions"),
        unavailable=parsed.has("unavailable-partitions"),
        under_min_isr=parsed.has("under-min-isr-partitions"),
        at_min_isr=parsed.has("at-min-isr-partitions"),
        overrides=parsed.has("topics-with-overrides"),
    )


def _topic_id(parsed: Parsed) -> bytes | None:
    """The id to describe; the zero id counts as none."""
    text = parsed.value("topic-id")
    if text is None:
        return None
    raw = parse_uuid(text)
    return raw if any(raw) else None


def _assignment(parsed: Parsed) -> list[list[int]]:
    """`1:2,2:3` is brokers 1 and 2 for partition 0, 2 and 3 for partition 1."""
    text = parsed.value("replica-assignment")
    found: list[list[int]] = []
    for index, part in enumerate(split(text, ",") if text else []):
        brokers = [parse_int(word) for word in split(part, ":")]
        repeated = sorted({broker for broker in brokers if brokers.count(broker) > 1})
        if repeated:
            shown = ",".join(map(str, repeated))
            raise ToolError(f"Partition replica lists may not contain duplicate entries: {shown}")
        found.append(brokers)
        if len(brokers) != len(found[0]):
            raise ToolError(f"Partition {index} has different replication factor: {brokers}")
    return found


def _configs(parsed: Parsed) -> dict[str, str]:
    pairs = [text.split("=") for text in parsed.values("config")]
    if not all(len(pair) == 2 and pair[1].strip() for pair in pairs):
        raise ToolError(
            'requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".'
        )
    return {name.strip(): value.strip() for name, value in pairs}


def _check(parsed: Parsed) -> None:
    if not parsed.arguments:
        parsed.fail("Create, delete, describe, or change a topic.")
    parsed.show_help_or_version("This tool helps to create, delete, describe, or change a topic.")
    if sum(parsed.has(action) for action in ACTIONS) != 1:
        parsed.fail("Command must include exactly one action: --list, --describe, --create, --alter or --delete")
    if parsed.has("delete-config"):
        print(
            "delete-config option is no longer supported and deprecated since version 4.0. "
            "The config will be fully removed in future releases.",
            file=sys.stderr,
        )
    _check_required(parsed)
    for option, allowed in (
        ("config", ("alter", "create")),
        ("partitions", ("alter", "create")),
        ("replication-factor", ("create",)),
        ("replica-assignment", ("alter", "create")),
    ):
        parsed.forbid(option, *(action for action in ACTIONS if action not in allowed))
    if parsed.has("create"):
        parsed.forbid("replica-assignment", "partitions", "replication-factor")
    others = [action for action in ACTIONS if action != "describe"]
    for report in REPORTS:
        parsed.forbid(report, *others, "topics-with-overrides")
    parsed.forbid("topics-with-overrides", *others, *REPORTS)
    parsed.forbid("if-exists", "create", "list")
    parsed.forbid("if-not-exists", *(action for action in ACTIONS if action != "create"))
    parsed.forbid("exclude-internal", "create", "alter", "delete")


def _check_required(parsed: Parsed) -> None:
    if not parsed.has("bootstrap-server"):
        raise ToolError("--bootstrap-server must be specified")
    if parsed.has("describe") and parsed.has("if-exists"):
        if not parsed.has("topic") and not parsed.has("topic-id"):
            parsed.fail("--topic or --topic-id is required to describe a topic")
        if parsed.has("topic") and parsed.has("topic-id"):
            print(
                "Only topic id will be used when both --topic and --topic-id are specified and "
                "topicId is not Uuid.ZERO_UUID"
            )
    if not parsed.has("list") and not parsed.has("describe"):
        parsed.require("topic")
    if parsed.has("alter"):
        parsed.forbid_with_all(("config", "bootstrap-server"), ("alter",), _KAFKA_CONFIGS)
        parsed.require("partitions")


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("bootstrap-server", "REQUIRED: a broker to begin with, as host:port.", "server to connect to")
    parser.takes("command-config", "File with properties of the client.", "command config property file")
    parser.flag("list", "Print the names of the topics.")
    parser.flag("create", "Make a topic.")
    parser.flag("delete", "Remove topics.")
    parser.flag("alter", "Add partitions. (kafka-configs changes the configuration.)")
    parser.flag("describe", "Print the topics with their partitions.")
    parser.takes("topic", "The topic; all actions but --create take a regular expression.", "topic")
    parser.takes("topic-id", "The id of a topic to describe.", "topic-id")
    parser.takes("config", _config_help, "name=value")
    parser.takes("delete-config", "No longer does anything, since 4.0.", "name")
    parser.takes(
        "partitions",
        "How many partitions the topic gets or, with --alter, shall have; the cluster decides if it is left out. "
        "More partitions send keys elsewhere than before.",
        "# of partitions",
        kind="Integer",
    )
    parser.takes("replication-factor", "How many replicas each partition gets.", "replication factor", kind="Integer")
    parser.takes(
        "replica-assignment",
        "Which brokers hold each partition, partition by partition.",
        "broker_id_for_part1_replica1 : broker_id_for_part1_replica2 , "
        "broker_id_for_part2_replica1 : broker_id_for_part2_replica2 , ...",
    )
    parser.flag("under-replicated-partitions", "Describe partitions only that lack in-sync replicas.")
    parser.flag("unavailable-partitions", "Describe partitions only whose leader is away.")
    parser.flag("under-min-isr-partitions", "Describe partitions only with fewer in-sync replicas than needed.")
    parser.flag("at-min-isr-partitions", "Describe partitions only with just as many in-sync replicas as needed.")
    parser.flag("topics-with-overrides", "Describe topics only that have configurations of their own.")
    parser.flag("if-exists", "Do nothing if there is no such topic (--alter, --delete, --describe).")
    parser.flag("if-not-exists", "Do nothing if the topic is there already (--create).")
    parser.flag("exclude-internal", "Leave out the cluster's own topics (--list, --describe).")
    parser.takes(
        "partition-size-limit-per-response",
        "How many partitions one answer to --describe may hold.",
        "maximum number of partitions per response",
        kind="Integer",
    )
    return parser


def _config_help() -> str:
    from core_broker.configs.topics import TOPIC_CATALOGUE

    names = "\n".join(f"\t{name}" for name in sorted(TOPIC_CATALOGUE))
    return f"A configuration of the new topic, one of these:\n{names}\nOnly with --create.{_KAFKA_CONFIGS}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
