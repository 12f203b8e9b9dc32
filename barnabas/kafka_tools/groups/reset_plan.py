"""Plans of offsets as CSV: `topic,partition,offset` for one group, `group,topic,partition,offset` for several."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from barnabas.client.consumer.assignors import TopicPartition

PLAN_MAX_BYTES: Final = 64 * 1024 * 1024
_WITHOUT_GROUP: Final = 3
_WITH_GROUP: Final = 4

Plan = dict[str, dict[TopicPartition, int]]


def read_plan(path: str) -> str:
    """The text of a plan; ValueError when the file cannot be read."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        raise ValueError(f"Unable to read file {path}") from None
    if len(content) > PLAN_MAX_BYTES:
        raise ValueError(f"{path} has {len(content)} bytes; a plan may have {PLAN_MAX_BYTES}")
    return content.decode("utf-8", "replace")


def parse_plan(text: str, groups: Sequence[str]) -> Plan:
    """Where the plan sends each group. A first line without a group makes it the plan of the one group that was asked for."""
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    plan: Plan = {}
    if len(groups) == 1 and lines and _is_without_group(lines[0]):
        for number, line in enumerate(lines, 1):
            topic, partition, offset = _columns(line, number, _WITHOUT_GROUP)
            plan.setdefault(groups[0], {})[_place(topic, partition, number)] = _integer(offset, number)
        return plan
    for number, line in enumerate(lines, 1):
        group, topic, partition, offset = _columns(line, number, _WITH_GROUP)
        plan.setdefault(group, {})[_place(topic, partition, number)] = _integer(offset, number)
    return plan


def format_plan(rows: Iterable[tuple[str, TopicPartition, int]], *, with_group: bool) -> str:
    """The plan as `parse_plan` reads it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for group, (topic, partition), offset in rows:
        writer.writerow([group, topic, partition, offset] if with_group else [topic, partition, offset])
    return text.getvalue()


def _is_without_group(line: str) -> bool:
    try:
        _, partition, offset = _columns(line, 1, _WITHOUT_GROUP)
        _integer(partition, 1)
        _integer(offset, 1)
    except ValueError:
        return False
    return True


def _columns(line: str, number: int, count: int) -> list[str]:
    """The columns of a line; those that are missing are empty, as Kafka has it."""
    columns = next(csv.reader([line.rstrip("\r")]), [])
    if len(columns) > count:
        raise ValueError(f"line {number} has {len(columns)} columns and may have {count}: {line!r}")
    return columns + [""] * (count - len(columns))


def _place(topic: str, partition: str, number: int) -> TopicPartition:
    return TopicPartition(topic, _integer(partition, number))


def _integer(text: str, number: int) -> int:
    if not text.strip():
        return 0
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"line {number}: {text!r} is not a number") from None
