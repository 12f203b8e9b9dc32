"""The tables of kafka-consumer-groups, with Kafka's columns and widths."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.client.admin.group_admin import NO_EPOCH, Committed, ListedGroup, by_topic
from barnabas.client.admin.group_descriptions import DEAD, EMPTY, REBALANCING, STABLE, GroupDescription, Member
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.groups.offset_resets import Offsets

MISSING: Final = "-"
_NARROWEST: Final = 15
_INSTANCE_NARROWEST: Final = 17
_COORDINATOR_NARROWEST: Final = 25
_CURRENT_NARROWEST: Final = 20
_TARGET_NARROWEST: Final = 20


@dataclass(frozen=True, slots=True)
class OffsetRow:
    """Where one partition of a group stands, and which member reads it."""

    partition: TopicPartition
    committed: Committed | None
    end: int | None
    member: Member | None


def print_listing(groups: Sequence[ListedGroup], *, with_type: bool, with_state: bool) -> None:
    width = max([_NARROWEST, *(len(group.group_id) for group in groups)]) + 10
    rows = [("GROUP", "TYPE", "STATE"), *((group.group_id, group.type, group.state) for group in groups)]
    for name, kind, state in rows:
        line = f"{name:<{width}}"
        if with_type:
            line += f" {kind:<20}"
        if with_state:
            line += f" {state:<20}"
        print(line)


def should_print(group: GroupDescription, rows: int) -> bool:
    """Says what is special about the group; False if there is nothing to show of it."""
    if group.state == DEAD:
        print(f"\nError: Consumer group '{group.group_id}' does not exist.")
    elif group.state == EMPTY:
        print(f"\nConsumer group '{group.group_id}' has no active members.", file=sys.stderr)
    elif group.state in REBALANCING:
        print(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.", file=sys.stderr)
    elif group.state != STABLE:
        raise ValueError(f"Expected a valid consumer group state, but found '{group.state}'.")
    return group.state != DEAD and rows > 0


def print_offsets(group: GroupDescription, rows: Sequence[OffsetRow], *, verbose: bool) -> None:
    if not should_print(group, len(rows)):
        return
    table = [
        (
            "TOPIC",
            "PARTITION",
            "LEADER-EPOCH",
            "CURRENT-OFFSET",
            "LOG-END-OFFSET",
            "LAG",
            "CONSUMER-ID",
            "HOST",
            "CLIENT-ID",
        )
    ]
    table += [_offset_cells(row) for row in rows]
    topic_width, member_width, host_width = (
        max([_NARROWEST, *(len(cells[place]) for cells in table[1:])]) for place in (0, 6, 7)
    )
    group_width = max(_NARROWEST, len(group.group_id))
    for place, cells in enumerate(table):
        topic, partition, epoch, offset, end, lag, member, host, client = cells
        name = group.group_id if place else "GROUP"
        shown_epoch = f"{epoch:<15} " if verbose else ""
        print(
            f"\n{name:<{group_width}} {topic:<{topic_width}} {partition:<10} {shown_epoch}{offset:<15} {end:<15} {lag:<15} "
            f"{member:<{member_width}} {host:<{host_width}} {client}",
            end="",
        )
    print()


def _offset_cells(row: OffsetRow) -> tuple[str, str, str, str, str, str, str, str, str]:
    offset = epoch = lag = MISSING
    if row.committed is not None:
        offset = str(row.committed.offset)
        epoch = MISSING if row.committed.leader_epoch == NO_EPOCH else str(row.committed.leader_epoch)
        lag = MISSING if row.end is None else str(row.end - row.committed.offset)
    end = MISSING if row.end is None else str(row.end)
    member, host, client = MISSING, MISSING, MISSING
    if row.member is not None:
        member, host, client = row.member.member_id, row.member.host, row.member.client_id
    return row.partition.topic, str(row.partition.partition), epoch, offset, end, lag, member, host, client


def print_members(group: GroupDescription, *, verbose: bool) -> None:
    shown = should_print(group, len(group.members))
    members = group.members if shown else ()
    with_instance = any(member.instance_id for member in members)
    heads = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID"]
    table = [heads]
    table += [
        [group.group_id, member.member_id, member.instance_id or "", member.host, member.client_id]
        for member in group.members
    ]
    widths = [_NARROWEST, _NARROWEST, _INSTANCE_NARROWEST, _NARROWEST, _NARROWEST]
    if shown:
        widths = [max([width, *(len(row[at]) for row in table[1:])]) for at, width in enumerate(widths)]
    counts = ["#PARTITIONS", *(str(len(member.assignment)) for member in group.members)]
    details = _verbose_cells(group) if verbose else [""] * len(table)
    print()
    for cells, count, detail in zip(table, counts, details, strict=True):
        line = "".join(
            f"{cell:<{width}} "
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
            if with_instance or at != 2
        )
        print(f"{line}{count:<15} {detail}")


def _verbose_cells(group: GroupDescription) -> list[str]:
    """Epochs and assignments, the present and the wanted ones; who still speaks the classic protocol if that differs."""
    rows = [("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED")]
    rows += [
        (
            _epoch(member.epoch),
            format_assignment(member.assignment),
            _epoch(group.target_epoch),
            format_assignment(member.target or ()),
            MISSING if member.is_upgraded is None else str(member.is_upgraded).lower(),
        )
        for member in group.members
    ]
    current_width = max([_CURRENT_NARROWEST, *(len(row[1]) for row in rows[1:])])
    target_width = max([_TARGET_NARROWEST, *(len(row[3]) for row in rows[1:])])
    with_upgraded = any(member.is_upgraded is False for member in group.members)
    return [
        f"{epoch:<15} {current:<{current_width}} {target_epoch:<15} {target:<{target_width}}"
        + (f" {upgraded}" if with_upgraded else "")
        for epoch, current, target_epoch, target, upgraded in rows
    ]


def format_assignment(partitions: Iterable[TopicPartition]) -> str:
    """`t1:0,1;t2:0`."""
    grouped = by_topic(sorted(partitions))
    return ";".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in grouped.items()) or MISSING


def print_state(group: GroupDescription, *, verbose: bool) -> None:
    if not should_print(group, 1):
        return
    node = group.coordinator
    place = f"{node.host}:{node.port}  ({node.id})"
    group_width, place_width = max(_NARROWEST, len(group.group_id)), max(_COORDINATOR_NARROWEST, len(place))
    epochs = [("GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"), (_epoch(group.epoch), _epoch(group.target_epoch))]
    rows = [
        ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
        (group.group_id, place, group.assignor or MISSING, group.state, str(len(group.members))),
    ]
    for (name, where, assignor, state, members), (epoch, target) in zip(rows, epochs, strict=True):
        middle = f"{epoch:<15} {target:<25} " if verbose else ""
        print(f"\n{name:<{group_width}} {where:<{place_width}} {assignor:<20} {state:<20} {middle}{members}", end="")
    print()


def _epoch(epoch: int | None) -> str:
    return MISSING if epoch is None else str(epoch)


def print_reset(plans: Mapping[str, Offsets]) -> None:
    rows = [
        (group, str(place.topic), str(place.partition), str(offset))
        for group, plan in plans.items()
        for place, offset in plan.items()
    ]
    group_width = max([_NARROWEST, *(len(row[0]) for row in rows)])
    topic_width = max([_NARROWEST, *(len(row[1]) for row in rows)])
    if plans:
        rows.insert(0, ("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"))
    for group, topic, partition, offset in rows:
        print(f"\n{group:<{group_width}} {topic:<{topic_width}} {partition:<10} {offset}", end="")
    print()


def print_deleted_offsets(rows: Sequence[tuple[TopicPartition, str]]) -> None:
    """`rows` are partitions (-1 for a topic that could not be looked up) with what became of them."""
    width = max([_NARROWEST, *(len(place.topic) for place, _ in rows)])
    print(f"\n{'TOPIC':<{width}} {'PARTITION':<10} {'STATUS':<15}", end="")
    for (topic, partition), status in rows:
        shown = str(partition) if partition >= 0 else MISSING
        print(f"\n{topic:<{width}} {shown:<10} {status:<15}", end="")
    print()
