"""`barnabas groups`: list, describe, reset, delete."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection
from typing import Any, Final

from barnabas.cli import cluster, output, terminal
from barnabas.cli.command_error import CommandError
from barnabas.cli.log_ends import log_ends
from barnabas.cli.log_place import EARLIEST, LATEST, parse_place
from barnabas.cli.output import Column
from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.group_descriptions import describe_group
from barnabas.client.admin.listed_offsets import Offset, list_offsets
from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.wire.errors import ErrorCode, KafkaError

_STATE_STYLES: Final = {"Stable": terminal.GREEN, "Empty": terminal.YELLOW, "Dead": terminal.RED}


def run(arguments: Namespace) -> int:
    works = {"list": _list, "describe": _describe, "reset": _reset, "delete": _delete}
    return cluster.run(works[arguments.action], arguments)


async def _list(session: Session, arguments: Namespace) -> int:
    listed = sorted(await GroupAdmin(session).list_groups(), key=lambda group: group.group_id)
    rows = [(group.group_id, group.type, group.protocol_type, group.state) for group in listed]
    columns = (Column("group"), Column("type"), Column("protocol"), Column("state", _STATE_STYLES.get))
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0


async def _describe(session: Session, arguments: Namespace) -> int:
    admin = GroupAdmin(session)
    group = await describe_group(session, admin, arguments.group)
    committed = await admin.committed(arguments.group)
    owners = {place: member for member in group.members for place in member.assignment}
    places = sorted({*committed, *owners})
    ends = await log_ends(session, places)
    rows: list[tuple[Any, ...]] = []
    for place in places:
        offset = committed[place].offset if place in committed else None
        end = ends.get(place)
        lag = end - offset if end is not None and offset is not None else None
        owner = owners.get(place)
        rows.append((place.topic, place.partition, offset, end, lag, owner and owner.client_id, owner and owner.host))
    columns = (
        Column("topic"),
        Column("partition"),
        Column("offset"),
        Column("end_offset"),
        Column("lag", lambda lag: terminal.YELLOW if lag else terminal.GREEN),
        Column("client"),
        Column("host"),
    )
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0


async def _reset(session: Session, arguments: Namespace) -> int:
    """Show where the group would go; with --execute, send it there."""
    admin = GroupAdmin(session)
    committed = await admin.committed(arguments.group)
    topics = arguments.topic or sorted({place.topic for place in committed})
    if not topics:
        raise CommandError(f"group {arguments.group} has no offsets", "Name the topics to set them for with --topic.")
    described = await session.topics(topics)
    for name in topics:
        if name not in described or described[name].error_code:
            raise cluster.explained(KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}"))
    places = [TopicPartition(name, entry.partition_index) for name in topics for entry in described[name].partitions]
    targets = await _targets(session, sorted(places), arguments.to)
    rows = [
        (place.topic, place.partition, committed[place].offset if place in committed else None, target)
        for place, target in sorted(targets.items())
    ]
    columns = (Column("topic"), Column("partition"), Column("offset"), Column("new_offset", lambda _: terminal.CYAN))
    if arguments.execute:
        await admin.commit(arguments.group, targets)
    output.write(sys.stdout, arguments.output, columns, rows)
    if not arguments.execute:
        print("Nothing has changed yet: --execute sets these offsets.", file=sys.stderr)
    return 0


async def _delete(session: Session, arguments: Namespace) -> int:
    admin, failures, deleted = GroupAdmin(session), [], []
    for name in dict.fromkeys(arguments.groups):
        try:
            await admin.delete_group(name)
        except KafkaError as error:
            failures.append((f"group {name}", error))
        else:
            deleted.append(name)
    results = [{"group": name, "result": "deleted"} for name in deleted]
    output.report(arguments.output, results, *[f"deleted group {name}" for name in deleted])
    cluster.raise_for(failures)
    return 0


async def _targets(session: Session, places: Collection[TopicPartition], to: str) -> dict[TopicPartition, int]:
    """The offsets that a place or a date stand for, inside of each log."""
    wanted = parse_place(to)
    starts, ends = await _log_offsets(session, places, EARLIEST), await _log_offsets(session, places, LATEST)
    if wanted == EARLIEST:
        return starts
    if wanted == LATEST:
        return ends
    if wanted is not None:
        return {place: min(max(wanted, starts[place]), ends[place]) for place in starts}
    found = await _log_offsets(session, places, _moment_ms(to))
    return {place: found[place] if found.get(place, -1) >= 0 else ends[place] for place in starts}


def _moment_ms(text: str) -> int:
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise CommandError(
            f"--to {text!r} is no place in a log",
            "Write beginning, end, an offset, or a time as 2026-01-31T12:00:00.",
            2,
        ) from None


async def _log_offsets(session: Session, places: Collection[TopicPartition], time: int) -> dict[TopicPartition, int]:
    if not places:
        return {}
    answers = await list_offsets(session, dict.fromkeys([(place.topic, place.partition) for place in places], time))
    return {TopicPartition(*place): answer.offset for place, answer in answers.items() if isinstance(answer, Offset)}
