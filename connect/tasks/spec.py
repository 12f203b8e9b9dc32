"""What a task's process is told when it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.kernel.logging import LogForm
from connect.api.source import SourceOffset


@dataclass(frozen=True, slots=True)
class TaskId:
    connector: str
    number: int

    def __str__(self) -> str:
        return f"{self.connector}-{self.number}"


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """What all tasks of a worker share. `properties` is the worker's own configuration under Kafka Connect's names: `bootstrap.servers`,
    security settings, those with the prefixes `producer.`, `consumer.` and `admin.`, and the converters of connectors that name none.
    """

    worker_id: str
    group_id: str
    properties: Mapping[str, str]
    offsets_topic: str | None
    """None: a standalone worker keeps the offsets, which the task reports."""
    exactly_once_source: bool = False
    offset_flush_interval_ms: int = 60_000
    offset_flush_timeout_ms: int = 5_000
    topic_creation: bool = True
    """Whether tasks may create the topics that their configurations describe (`topic.creation.enable`)."""
    log: LogForm = field(default_factory=LogForm)
    """How the worker's own log looks; a task's runs together with it."""


@dataclass(frozen=True, slots=True)
class ConnectorSpec:
    """A connector with its configuration, in which references to secrets are resolved already."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    worker: WorkerConfig = field(repr=False)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task with its configuration, in which references to secrets are resolved already."""

    id: TaskId
    config: Mapping[str, str] = field(repr=False)
    worker: WorkerConfig = field(repr=False)
    offsets: Sequence[SourceOffset] = ()
    starts_paused: bool = False
