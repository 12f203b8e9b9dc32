"""Plans that move partitions: the JSON that `kafka-reassign-partitions` reads and writes, and how it makes one up."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.kafka_tools.shell import json_input
from barnabas.kafka_tools.shell.exits import ToolError

VERSION: Final = 1
ANY_FOLDER: Final = "any"

Partition = tuple[str, int]
# Topic, partition and broker.
Replica = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """Where partitions shall be: brokers of each, and log directories of replicas that shall be in a certain one."""

    partitions: list[tuple[Partition, list[int]]] = field(default_factory=list)
    folders: dict[Replica, str] = field(default_factory=dict)

    @property
    def targets(self) -> dict[Partition, list[int]]:
        return dict(self.partitions)


def name_of(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"


def parse_plan(text: str) -> Plan:
    document = json_input.parse(text, "The reassignment file is no valid JSON")
    _check_version(document)
    plan = Plan()
    for entry in document.get("partitions", ()):
        partition = (json_input.field(entry, "topic", str), json_input.field(entry, "partition", int))
        replicas = _list(entry, "replicas", int)
        folders = _list(entry, "log_dirs", str) if "log_dirs" in entry else [ANY_FOLDER] * len(replicas)
        if len(replicas) != len(folders):
            raise ToolError(
                f"Size of replicas list {replicas} is different from size of log dirs list "
                f"[{', '.join(folders)}] for partition {name_of(partition)}"
            )
        plan.partitions.append((partition, replicas))
        for broker, folder in zip(replicas, folders, strict=True):
            if folder != ANY_FOLDER:
                plan.folders[*partition, broker] = folder
    return plan


def check_executable(plan: Plan) -> None:
    if not plan.partitions:
        raise ToolError("Partition reassignment list cannot be empty")
    if any(not replicas for _, replicas in plan.partitions):
        raise ToolError("Partition replica list cannot be empty")
    names = [partition for partition, _ in plan.partitions]
    repeated = _repeated(names)
    if repeated:
        shown = ",".join(name_of(partition) for partition in repeated)
        raise ToolError(f"Partition reassignment contains duplicate topic partitions: {shown}")
    doubled = [(partition, _repeated(replicas)) for partition, replicas in plan.partitions if _repeated(replicas)]
    if doubled:
        shown = ". ".join(
            f"{name_of(partition)} contains multiple entries for {','.join(map(str, brokers))}"
            for partition, brokers in doubled
        )
        raise ToolError(f"Partition replica lists may not contain duplicate entries: {shown}")


def parse_topics(text: str) -> list[str]:
    document = json_input.parse(text, "The input string is not a valid JSON")
    _check_version(document)
    topics = [json_input.field(entry, "topic", str) for entry in document.get("topics", ())]
    repeated = _repeated(topics)
    if repeated:
        raise ToolError(f"List of topics to reassign contains duplicate entries: [{', '.join(repeated)}]")
    return topics


def parse_brokers(text: str) -> list[int]:
    words = text.split(",")
    wrong = [word for word in words if not word.lstrip("+-").isdigit()]
    if wrong:
        raise ToolError(f'For input string: "{wrong[0]}"')
    brokers = [int(word) for word in words]
    repeated = _repeated(brokers)
    if repeated:
        raise ToolError(f"Broker list contains duplicate entries: {repeated}")
    return brokers


def to_json(assignment: Mapping[Partition, Sequence[int]], folders: Mapping[Replica, str] | None = None) -> str:
    """The plan that leads to an assignment; replicas whose log directory is known stay in it."""
    known = folders or {}
    partitions = [
        {
            "topic": topic,
            "partition": index,
            "replicas": list(assignment[topic, index]),
            "log_dirs": [known.get((topic, index, broker), ANY_FOLDER) for broker in assignment[topic, index]],
        }
        for topic, index in sorted(assignment)
    ]
    return json.dumps({"version": VERSION, "partitions": partitions}, separators=(",", ":"), ensure_ascii=False)


def propose(
    current: Mapping[Partition, Sequence[int]], racks: Mapping[int, str | None], dice: random.Random
) -> dict[Partition, list[int]]:
    """Spreads the partitions over the brokers, as many replicas each as now; `racks` are the brokers with their racks."""
    proposed: dict[Partition, list[int]] = {}
    for topic in sorted({name for name, _ in current}):
        indexes = sorted(index for name, index in current if name == topic)
        factor = len(current[topic, indexes[0]])
        if factor > len(racks):
            raise ToolError(f"Replication factor: {factor} larger than available brokers: {len(racks)}.")
        for index, replicas in enumerate(spread(len(indexes), factor, racks, dice)):
            proposed[topic, index] = replicas
    return proposed


def spread(partitions: int, factor: int, racks: Mapping[int, str | None], dice: random.Random) -> list[list[int]]:
    """Replicas of each partition: leaders round robin, followers shifted further with each round, over as many racks as can be."""
    brokers = _by_turns(racks)
    known_racks = {rack for rack in racks.values() if rack is not None}
    rack_count = max(len(known_racks), 1)
    start, shift = dice.randrange(len(brokers)), dice.randrange(len(brokers))
    found = []
    for partition in range(partitions):
        if partition > 0 and partition % len(brokers) == 0:
            shift += 1
        first = (partition + start) % len(brokers)
        replicas = [brokers[first]]
        step = 0
        while len(replicas) < factor:
            offset = 1 + (shift * rack_count + step) % (len(brokers) - 1)
            candidate = brokers[(first + offset) % len(brokers)]
            step += 1
            used = {racks[broker] for broker in replicas}
            fresh_rack = not known_racks or racks[candidate] not in used or len(used) == rack_count
            if candidate not in replicas and fresh_rack:
                replicas.append(candidate)
        found.append(replicas)
    return found


def _by_turns(racks: Mapping[int, str | None]) -> list[int]:
    """The brokers, one of each rack in turn."""
    groups: dict[str | None, list[int]] = {}
    for broker in sorted(racks):
        groups.setdefault(racks[broker], []).append(broker)
    queues = [groups[rack] for rack in sorted(groups, key=lambda rack: rack or "")]
    longest = max(map(len, queues), default=0)
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def _check_version(document: Any) -> None:
    if not isinstance(document, dict):
        raise ToolError(f"Expected JSON object, received {json.dumps(document)}")
    version = document.get("version", VERSION)
    if version != VERSION:
        raise ToolError(f"Not supported version field value {version}")


def _list(entry: object, name: str, kind: type) -> list[Any]:
    values = json_input.field(entry, name, list)
    if not all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
        raise ToolError(f"Expected a list of `{kind.__name__}` as `{name}`, received {json.dumps(values)}")
    return list(values)


def _repeated(items: Sequence[Any]) -> list[Any]:
    return sorted({item for item in items if items.count(item) > 1})
