"""What a sink connector is: something that takes batches of records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple

from connect.api.record import Record
from connect.api.source import SettingsT
from connect.errors import Problem


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class RejectedRecord(NamedTuple):
    """A record of the batch that the target will never take, by its place, and why."""

    place: int
    error: Exception


class Sink(ABC, Generic[SettingsT]):
    """Base of sink connectors. `settings_type` is a dataclass whose fields were made with `connect.api.settings.setting`.

    All methods but `check` run in the process of a task, one after the other, and may block.
    """

    settings_type: ClassVar[type[Any]]
    tolerates_rejected = True
    """Whether the task goes on after a rejected record; the task sets it before `start`. Where it does not, the batch is written again when
    the task is restarted: a target that can undo writes should hold nothing of a batch with a rejected record."""

    def __init__(self, settings: SettingsT) -> None:
        self.settings = settings

    def check(self) -> Iterable[Problem]:
        """What is wrong with the settings that only a look at the target can tell."""
        return ()

    def start(self) -> None:
        """Called once before the first batch."""

    @abstractmethod
    def write(
        self, records: Sequence[Record]
    ) -> Sequence[RejectedRecord] | Awaitable[Sequence[RejectedRecord] | None] | None:
        """Write a batch in order. All but what is returned as rejected counts as written, once `flush` has returned.

        Retry when the target is away: the same records come again.
        """

    def flush(self) -> None:
        """Make everything that was written durable; Kafka's offsets are committed when this has returned."""

    def stop(self) -> None:
        """Close what was opened; called once, also after a failure."""

    def positions(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The next offset to write for each partition whose offsets the target itself keeps, in the transaction of the records.

        The task then reads from there, whatever Kafka's group says, so that each record is written once.
        """
        return {}

    @classmethod
    def keeps_positions(cls, settings: SettingsT) -> bool:
        """Whether the target keeps offsets with these settings. Who changes those of the group is told that the target has its own."""
        return cls.positions is not Sink.positions

    def close_partitions(self, partitions: Sequence[TopicPartition]) -> None:
        """Another task takes over these partitions; called after `flush`."""
