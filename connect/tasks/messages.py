"""What the worker and the processes of its connectors and tasks say to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from connect.api.source import Shard, SourceOffset
from connect.errors import Problem

# --- to the process ---


@dataclass(frozen=True, slots=True)
class Pause:
    pass


@dataclass(frozen=True, slots=True)
class Resume:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    """Finish what is under way, commit, and end."""


@dataclass(frozen=True, slots=True)
class SetLogLevel:
    logger: str
    level: str


@dataclass(frozen=True, slots=True)
class FindShards:
    """Split the source; answered with ShardList."""


@dataclass(frozen=True, slots=True)
class Check:
    """Look whether the settings fit what the connector talks to; answered with CheckResult."""


@dataclass(frozen=True, slots=True)
class CheckOffsets:
    """Could the source go on from these? Answered with OffsetsCheckResult."""

    offsets: Sequence[SourceOffset]


@dataclass(frozen=True, slots=True)
class FenceTasks:
    """Fence producers that still write under the transactional ids of the first `count` tasks; answered with FenceResult."""

    count: int


ConnectorRequest: TypeAlias = FindShards | Check | CheckOffsets | FenceTasks

# --- from the process ---


@dataclass(frozen=True, slots=True)
class RunningState:
    pass


@dataclass(frozen=True, slots=True)
class PausedState:
    pass


@dataclass(frozen=True, slots=True)
class RetryState:
    """The other side is away: the task tries on. It counts as running, and its status tells the reason."""

    reason: str
    attempt: int


@dataclass(frozen=True, slots=True)
class IdleState:
    """There is nothing to do, for a reason that the status tells. It counts as running."""

    reason: str


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """The task has ended: the cause first, then where it came up."""

    trace: str


@dataclass(frozen=True, slots=True)
class TaskEnd:
    pass


@dataclass(frozen=True, slots=True)
class UsedTopics:
    topics: Sequence[str]


@dataclass(frozen=True, slots=True)
class OffsetReport:
    """For a worker that keeps the offsets itself."""

    offsets: Sequence[SourceOffset]


@dataclass(frozen=True, slots=True)
class MetricsReport:
    """Counters and gauges of a task since it started, by name."""

    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ShardList:
    """`rescan_s`: how soon to ask again whether there are new ones; None: never."""

    shards: Sequence[Shard]
    rescan_s: float | None = None
    is_exactly_once: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    problems: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class OffsetsCheckResult:
    """`refusal` says why the source could not go on from the offsets."""

    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class FenceResult:
    pass


TaskMessage: TypeAlias = (
    RunningState
    | PausedState
    | RetryState
    | IdleState
    | TaskFailure
    | TaskEnd
    | UsedTopics
    | OffsetReport
    | MetricsReport
)
