"""`kafka-reassign-partitions`: move partitions to other brokers or other log directories."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from barnabas.client.admin.session import Session, run
from barnabas.client.client_config import load_properties
from barnabas.client.client_error import ClientError
from barnabas.kafka_tools.reassignment.reassignment_plan import (
    Partition,
    Plan,
    check_executable,
    name_of,
    parse_brokers,
    parse_plan,
    parse_topics,
    propose,
    to_json,
)
from barnabas.kafka_tools.shell import json_input
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.kafka_exceptions import described, error_of, message_of
from barnabas.wire.errors import ErrorCode, KafkaError

PURPOSE: Final = "This tool helps to move topic partitions between replicas."
CLIENT_ID: Final = "reassign-partitions-tool"
TIMEOUT_MS: Final = 10_000
NO_THROTTLE: Final = -1
ACTIONS: Final = ("generate", "execute", "verify", "cancel", "list")
REQUIRED: Final = {
    "verify": ("reassignment-json-file",),
    "generate": ("topics-to-move-json-file", "broker-list"),
    "execute": ("reassignment-json-file",),
    "cancel": ("reassignment-json-file",),
    "list": (),
}
PERMITTED: Final = {
    "verify": ("bootstrap-server", "preserve-throttles"),
    "generate": ("bootstrap-server", "disable-rack-aware"),
    "execute": (
        "additional",
        "bootstrap-server",
        "throttle",
        "replica-alter-log-dirs-throttle",
        "timeout",
        "disallow-replication-factor-change",
    ),
    "cancel": ("bootstrap-server", "bootstrap-controller", "preserve-throttles", "timeout"),
    "list": ("bootstrap-server", "bootstrap-controller"),
}
_EXISTING: Final = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create "
    "a new partition assignment in addition to the existing one. The --additional flag can also be used to change "
    "the throttle by resubmitting the current reassignment."
)
_RUN_VERIFY: Final = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."
)


class Refused(Exception):
    """A failure that is printed without `Error:`."""


def main(arguments: Sequence[str]) -> int:
    try:
        parsed = _parser().parse(arguments)
        action = _check(parsed)
    except OptionError as error:
        raise ToolError(f"{error}. Try --help for the list of options.") from None
    try:
        run(_execute(parsed, action))
    except Refused as refusal:
        print(refusal)
    except KafkaError as error:
        print(f"Error: {described(error)}")
    except (ClientError, OptionError) as error:
        print(f"Error: {error}")
    else:
        return SUCCESS
    return FAILURE


async def _execute(parsed: Parsed, action: str) -> None:
    controllers = parsed.value("bootstrap-controller")
    properties = {"client.id": CLIENT_ID} | load_properties(parsed.value("command-config"))
    bootstrap = controllers or parsed.text("bootstrap-server")
    async with Session.open(bootstrap, None, properties, controllers=controllers is not None) as session:
        if action == "list":
            await _list(session)
        elif action == "generate":
            await _generate(session, parsed)
        else:
            plan = parse_plan(json_input.read_text(parsed.text("reassignment-json-file"), "reassignment-json-file"))
            step = {"verify": _verify, "execute": _start, "cancel": _cancel}[action]
            await step(session, parsed, plan)


async def _list(session: Session) -> None:
    from barnabas.client.admin.reassignments import ongoing

    moves = await ongoing(session)
    if not moves:
        print("No partition reassignments found.")
        return
    print("Current partition reassignments:")
    for partition in sorted(moves):
        move = moves[partition]
        adding = f" adding: {_numbers(move.adding)}." if move.adding else ""
        removing = f" removing: {_numbers(move.removing)}." if move.removing else ""
        print(f"{name_of(partition)}: replicas: {_numbers(move.replicas)}.{adding}{removing}")


async def _generate(session: Session, parsed: Parsed) -> None:
    import random

    text = json_input.read_text(parsed.text("topics-to-move-json-file"), "topics-to-move-json-file")
    brokers = parse_brokers(parsed.text("broker-list"))
    current = await _replicas(session, parse_topics(text))
    aware = not parsed.has("disable-rack-aware")
    nodes = (await session.cluster()).nodes
    racks = {broker: nodes[broker].rack if aware else None for broker in brokers if broker in nodes}
    if any(rack is None for rack in racks.values()) and any(rack is not None for rack in racks.values()):
        raise ToolError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information."
        )
    proposed = propose(current, racks, random.Random())
    print(f"Current partition replica assignment\n{await _described(session, current)}\n")
    print(f"Proposed partition reassignment configuration\n{to_json(proposed)}")


async def _start(session: Session, parsed: Parsed, plan: Plan) -> None:
    from barnabas.client.admin.reassignments import ongoing
    from barnabas.kafka_tools.reassignment import log_dir_moves as folder_moves
    from barnabas.kafka_tools.reassignment import replica_throttles

    check_executable(plan)
    targets = plan.targets
    moves = await ongoing(session)
    if moves and not parsed.has("additional"):
        raise Refused(_EXISTING)
    alive = (await session.cluster()).nodes
    unknown = sorted({broker for replicas in targets.values() for broker in replicas} - set(alive))
    if unknown:
        raise ToolError(f"Unknown broker id {unknown[0]}")
    found = await _replicas(session, sorted({topic for topic, _ in targets}))
    missing = [name_of(partition) for partition in targets if partition not in found]
    if missing:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition: {', '.join(missing)}")
    current = {partition: found[partition] for partition in targets}
    print(f"Current partition replica assignment\n\n{await _described(session, current)}\n")
    print("Save this to use as the --reassignment-json-file option during rollback")
    throttle = _rate(parsed, "throttle")
    folder_throttle = _rate(parsed, "replica-alter-log-dirs-throttle")
    if throttle >= 0 or folder_throttle >= 0:
        print(_RUN_VERIFY)
    if throttle >= 0:
        await replica_throttles.limit_moves(session, moves, targets, current, throttle)
    if folder_throttle >= 0:
        await replica_throttles.limit_folders(session, {broker for _, _, broker in plan.folders}, folder_throttle)
    errors = await _alter(session, targets, may_change_factor=not parsed.has("disallow-replication-factor-change"))
    if errors:
        lines = "\n".join(f"{name_of(partition)}: {message_of(errors[partition])}" for partition in sorted(errors))
        raise Refused(f"Error reassigning partition(s):\n{lines}")
    names = ",".join(name_of(partition) for partition in sorted(targets))
    print(f"Successfully started partition reassignment{_s(targets)} for {names}")
    if plan.folders:
        await folder_moves.start(session, plan.folders, _timeout_ms(parsed))


async def _described(session: Session, assignment: dict[Partition, list[int]]) -> str:
    """An assignment with the log directories in which the replicas are now."""
    from barnabas.kafka_tools.reassignment import log_dir_moves as folder_moves

    replicas = [(topic, index, broker) for (topic, index), brokers in assignment.items() for broker in brokers]
    places = await folder_moves.find(session, replicas)
    return to_json(assignment, {replica: place.current for replica, place in places.items() if place.current})


async def _verify(session: Session, parsed: Parsed, plan: Plan) -> None:
    from barnabas.client.admin.reassignments import ongoing
    from barnabas.kafka_tools.reassignment import log_dir_moves as folder_moves
    from barnabas.kafka_tools.reassignment import replica_throttles

    moves = await ongoing(session)
    settled = sorted({topic for (topic, _), _ in plan.partitions})
    current = await _replicas(session, settled, missing_is_empty=True)
    print("Status of partition reassignment:")
    for partition, target in sorted(plan.targets.items()):
        name = name_of(partition)
        replicas = current.get(partition, [])
        if partition in moves:
            print(f"Reassignment of partition {name} is still in progress.")
        elif replicas == target:
            print(f"Reassignment of partition {name} is completed.")
        else:
            print(
                f"There is no active reassignment of partition {name}, but replica set is {_numbers(replicas)} "
                f"rather than {_numbers(target)}."
            )
    moving = await folder_moves.show(session, plan.folders)
    if not moves and not moving and not parsed.has("preserve-throttles"):
        await replica_throttles.clear(session, plan.partitions)


async def _cancel(session: Session, parsed: Parsed, plan: Plan) -> None:
    from barnabas.client.admin.reassignments import ongoing
    from barnabas.kafka_tools.reassignment import log_dir_moves as folder_moves
    from barnabas.kafka_tools.reassignment import replica_throttles

    moves = await ongoing(session, plan.targets)
    active = [partition for partition, move in moves.items() if not move.adding or move.removing]
    if active:
        errors = await _alter(session, dict.fromkeys(active))
        if errors:
            lines = "\n".join(f"{name_of(partition)}: {message_of(errors[partition])}" for partition in sorted(errors))
            raise Refused(f"Error cancelling partition reassignment{_s(errors)} for:\n{lines}")
        names = ",".join(name_of(partition) for partition in sorted(active))
        print(f"Successfully cancelled partition reassignment{_s(active)} for: {names}")
    else:
        print("None of the specified partition reassignments are active.")
    places = await folder_moves.find(session, plan.folders)
    back = {replica: place.current for replica, place in places.items() if place.current and place.future}
    if back:
        await folder_moves.start(session, back, _timeout_ms(parsed))
    else:
        print("None of the specified partition moves are active.", end="")
    if not parsed.has("preserve-throttles"):
        await replica_throttles.clear(session, plan.partitions)


async def _replicas(
    session: Session, topics: Sequence[str], *, missing_is_empty: bool = False
) -> dict[Partition, list[int]]:
    found: dict[Partition, list[int]] = {}
    for name, topic in (await session.topics(topics)).items():
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            if missing_is_empty:
                continue
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {name} not found.")
        if topic.error_code:
            raise error_of(topic.error_code, None)
        found |= {(name, part.partition_index): part.replica_nodes for part in topic.partitions}
    return found


async def _alter(
    session: Session, targets: dict[Partition, list[int]] | dict[Partition, None], *, may_change_factor: bool = True
) -> dict[Partition, KafkaError]:
    """Starts moves, or cancels those whose target is None; returns what failed."""
    from barnabas.wire.messages.alter_partition_reassignments import (
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
        ReassignablePartition,
        ReassignableTopic,
    )

    topics: dict[str, list[ReassignablePartition]] = {}
    for (topic, index), replicas in targets.items():
        topics.setdefault(topic, []).append(ReassignablePartition(partition_index=index, replicas=replicas))
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=session.config.request_timeout_ms,
        allow_replication_factor_change=may_change_factor,
        topics=[ReassignableTopic(name=name, partitions=found) for name, found in topics.items()],
    )
    answer = await session.send_to_controller(
        request, AlterPartitionReassignmentsResponse, check=lambda found: found.error_code
    )
    if answer.error_code:
        error = error_of(answer.error_code, answer.error_message)
        return dict.fromkeys(targets, error)
    return {
        (topic.name, part.partition_index): error_of(part.error_code, part.error_message)
        for topic in answer.responses
        for part in topic.partitions
        if part.error_code
    }


def _numbers(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))


def _s(
    items: Sequence[object] | dict[Partition, object] | dict[Partition, list[int]] | dict[Partition, KafkaError],
) -> str:
    return "" if len(items) == 1 else "s"


def _rate(parsed: Parsed, option: str) -> int:
    found = parsed.integer(option)
    return NO_THROTTLE if found is None else found


def _timeout_ms(parsed: Parsed) -> int:
    found = parsed.integer("timeout")
    return TIMEOUT_MS if found is None else found


def _check(parsed: Parsed) -> str:
    parsed.show_help_or_version(PURPOSE)
    given = [action for action in ACTIONS if parsed.has(action)]
    if len(given) != 1:
        shown = ", ".join(f"--{action}" for action in ACTIONS)
        parsed.fail(f"Command must include exactly one action: {shown}")
    action = given[0]
    if parsed.has("bootstrap-server") and parsed.has("bootstrap-controller"):
        parsed.fail("Please don't specify both --bootstrap-server and --bootstrap-controller")
    if not parsed.has("bootstrap-server") and not parsed.has("bootstrap-controller"):
        parsed.fail("Please specify either --bootstrap-server or --bootstrap-controller")
    parsed.require(*REQUIRED[action])
    allowed = {action, "command-config", *REQUIRED[action], *PERMITTED[action]}
    for option in parsed.sequence:
        if option not in allowed:
            parsed.fail(f'Option "{parsed.parser[option]}" can\'t be used with action "{parsed.parser[action]}"')
    return action


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.flag("verify", "Say how far the moves of --reassignment-json-file are; lift the throttles at the end.")
    parser.flag("generate", "Propose a plan; nothing is moved.")
    parser.flag("execute", "Begin the moves of --reassignment-json-file.")
    parser.flag("cancel", "Give up moves that are going on.")
    parser.flag("list", "Print the moves that are going on.")
    parser.takes("bootstrap-server", "The brokers to begin with.", "Server(s) to use for bootstrapping", optional=True)
    parser.takes("command-config", "File with properties of the client.", "Admin client property file")
    parser.takes(
        "reassignment-json-file",
        "The plan:\n"
        '{"partitions":\n\t[{"topic": "foo",\n\t  "partition": 1,\n\t  "replicas": [1,2,3],\n'
        '\t  "log_dirs": ["dir1","dir2","dir3"] }],\n"version":1\n}\n'
        'log_dirs may be left out; "any" leaves the choice to the broker, a path moves the replica there.',
        "manual assignment json file path",
    )
    parser.takes(
        "topics-to-move-json-file",
        'The topics to make a plan for:\n{"topics":\n\t[{"topic": "foo"},{"topic": "foo1"}],\n"version":1\n}',
        "topics to reassign json file path",
    )
    parser.takes("broker-list", "The brokers that a plan may use, as 0,1,2.", "brokerlist")
    parser.takes(
        "bootstrap-controller",
        "The controllers to begin with, for --cancel and --list.",
        "bootstrap controller to connect to",
        optional=True,
    )
    parser.flag("disable-rack-aware", "Make a plan without regard to racks.")
    parser.takes("throttle", "Bytes per second that may move between brokers.", "throttle", kind="Long", default=-1)
    parser.takes(
        "replica-alter-log-dirs-throttle",
        "Bytes per second that may move between log directories.",
        "replicaAlterLogDirsThrottle",
        kind="Long",
        default=-1,
    )
    parser.takes(
        "timeout",
        "Milliseconds to wait for moves between log directories to begin.",
        "timeout",
        kind="Long",
        default=TIMEOUT_MS,
    )
    parser.flag("additional", "Begin moves although others are going on, or change their throttle.")
    parser.flag("preserve-throttles", "Leave throttles as they are.")
    parser.flag("disallow-replication-factor-change", "Refuse a plan with another number of replicas.")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
