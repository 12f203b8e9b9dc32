"""What a source connector is: something that is split into shards and read in batches, from an offset on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from connect.api.record import Record
from connect.errors import InvalidOffsets, Problem

JsonObject: TypeAlias = Mapping[str, Any]
Shard: TypeAlias = JsonObject
"""A part of the source that one task reads: a table, a file. Tasks get them as they were given, through the config topic."""


class SourceOffset(NamedTuple):
    """How far a part of the source has been read, in the source's own words; no offset forgets the part."""

    partition: JsonObject
    offset: JsonObject | None


class RejectedInput(NamedTuple):
    """Input that is no record: the bytes as they were read, why, and the topic that the record would have gone to."""

    topic: str
    data: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that were read together, and how far the source has been read once all of them are delivered."""

    records: Sequence[Record]
    offsets: Sequence[SourceOffset] = ()
    rejected: Sequence[RejectedInput] = ()


@dataclass(frozen=True, slots=True)
class Idle:
    """There is nothing to read now; look again after a pause. The status tells the reason, if there is one that somebody should know."""

    seconds: float
    reason: str = ""


class Offsets:
    """How far the parts of a source had been read when the task started."""

    def __init__(self, offsets: Iterable[SourceOffset] = ()) -> None:
        self._offsets = {_key(each.partition): each for each in offsets}

    def get(self, partition: JsonObject) -> JsonObject | None:
        found = self._offsets.get(_key(partition))
        return None if found is None else found.offset

    def __iter__(self) -> Iterator[SourceOffset]:
        return iter(self._offsets.values())


def _key(partition: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(value)) for name, value in partition.items()))


def require_names(offset: JsonObject, known: Collection[str]) -> None:
    """InvalidOffsets when an offset says what its source never looks at: a slip of the pen would change nothing, and nobody would notice."""
    unknown = sorted(offset.keys() - set(known))
    if unknown:
        raise InvalidOffsets(f"an offset has no {', '.join(unknown)}: expected {', '.join(known)}")


SettingsT = TypeVar("SettingsT")


class Source(ABC, Generic[SettingsT]):
    """Base of source connectors. `settings_type` is a dataclass whose fields were made with `connect.api.settings.setting`.

    `shards` and `check` run in a process of their own, `read` in the process of each task, so that all of them may block.
    """

    settings_type: ClassVar[type[Any]]
    tasks_max: int = 1
    """How many tasks there may be, for sources whose shards follow from that; known to `shards` and `check_offsets` alone."""

    def __init__(self, settings: SettingsT) -> None:
        self.settings = settings

    def shards(self) -> Sequence[Shard]:
        """The parts that tasks can share out among themselves."""
        return ({},)

    @property
    def rescan_s(self) -> float | None:
        """How soon `shards` should be asked again whether there are new ones; None: never."""
        return None

    def check(self) -> Iterable[Problem]:
        """What is wrong with the settings that only a look at the source can tell, such as a database that does not answer."""
        return ()

    @abstractmethod
    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle] | AsyncIterator[Batch | Idle]:
        """Yield batches for ever, from the offsets on; close what was opened when the generator is closed."""

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        """InvalidOffsets when `read` could not go on from what somebody wants to set."""

    @property
    def is_exactly_once(self) -> bool:
        """Whether offsets say exactly what has been read, so that nothing is read twice after a crash."""
        return True
