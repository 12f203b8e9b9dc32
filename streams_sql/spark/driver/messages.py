"""What the server and the driver process say to each other, as pickles with their length before them."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, BinaryIO, Final, TypeAlias

from streams_sql.formats.serde import RegistryAccess
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.plan.records import ProblemKind, problem_text
from streams_sql.spark.sources.broker_access import KafkaAccess

LENGTH: Final = struct.Struct(">I")
# Spark takes no shorter one for real-time mode.
REAL_TIME_INTERVAL_MS: Final = 5_000
BATCH_RECORDS_MAX: Final = 2_000_000
"""Read in one batch unless somebody says otherwise."""
STATE_ROWS_MAX: Final = 1_000_000
"""Rows and values that each operator of a shard keeps in memory unless somebody says otherwise."""


class Guarantee(Enum):
    AT_LEAST_ONCE = "at_least_once"
    EXACTLY_ONCE = "exactly_once_v2"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A batch each `interval_ms` where there is something to read. With `is_real_time` records do not wait for batches: `interval_ms` is
    then the time between two checkpoints, and the plan must be one that `native_plans` can lower."""

    interval_ms: int
    is_real_time: bool = False


# -- commands -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Open:
    """The first command: start Spark. `settings` are Spark's own; those given here go before ours. `prefix` begins the names of groups
    and transactions, which must not be those of another service. `scratch` is a folder for what Spark needs while it runs; a process
    that was killed has left things there, so that it is emptied first."""

    master: str
    settings: Mapping[str, str]
    kafka: KafkaAccess
    registry: RegistryAccess | None = None
    prefix: str = ""
    scratch: str | None = None


@dataclass(frozen=True, slots=True)
class Former:
    """The query of a stream in whose place another one is built, its checkpoint, and the topics that it reads."""

    query_id: str
    checkpoint: str
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class StartQuery:
    """`starting_offsets` is earliest, latest, or positions in topics (see `positions`); it matters only for a new checkpoint.
    `options` are settings of Spark's SQL for this query alone; `slots` are those of Spark's tasks that it holds all the time.
    `schema_ids` are those of writers that have been met beside the registry's own for the topic. `is_rebuilt` tells that an earlier
    version of the server has written results of this query, from another checkpoint; `is_resumed`, that it has run before. A query
    that `follows` another one writes nothing, and reads no further than that one has done. `task_idle_ms` is `max.task.idle.ms`: how long
    rows wait for partitions that have no unread record."""

    query_id: str
    plan: PersistentPlan
    checkpoint: str
    starting_offsets: str
    trigger: Trigger
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    fails_on_bad_record: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    slots: int = 0
    schema_ids: frozenset[int] = frozenset()
    is_rebuilt: bool = False
    batch_records_max: int = BATCH_RECORDS_MAX
    state_rows_max: int = STATE_ROWS_MAX
    is_resumed: bool = False
    follows: Former | None = None
    task_idle_ms: int = 0


@dataclass(frozen=True, slots=True)
class StopQuery:
    query_id: str


@dataclass(frozen=True, slots=True)
class SettleQuery:
    """Stop a query that follows another one, which has been stopped: when it is as far as that, so that it can go on in its place."""

    query_id: str


@dataclass(frozen=True, slots=True)
class ForgetQuery:
    """Stop a query, if it runs, and remove what Spark and the broker know for it. `folder` is that of its checkpoints."""

    query_id: str
    folder: str


@dataclass(frozen=True, slots=True)
class ExplainQuery:
    query_id: str


@dataclass(frozen=True, slots=True)
class Lease:
    """Until when queries may run, of the monotonic clock that all processes of a machine share; None: for as long as the server is
    there. At that time another server may begin to run them, so that the process ends unless another lease has come."""

    until_s: float | None


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop all queries between batches, then end."""


Command: TypeAlias = Open | StartQuery | StopQuery | SettleQuery | ForgetQuery | ExplainQuery | Lease | Stop

# -- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """Spark is up, with so many tasks at a time."""

    slots: int
    version: str


@dataclass(frozen=True, slots=True)
class Started:
    query_id: str


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A `Problem`, as it is told."""

    topic: str
    partition: int
    offset: int
    reason: str
    kind: str = ProblemKind.DESERIALIZATION
    part: str = ""
    raw: str | None = None
    times: int = 1

    @property
    def text(self) -> str:
        return problem_text(self.topic, self.partition, self.offset, self.reason)

    @property
    def is_warning(self) -> bool:
        """Nothing has failed. An earlier warning about the same part does not hold any more if there is no reason."""
        return not self.times


@dataclass(frozen=True, slots=True)
class Progress:
    """What a batch has done. `bad_records` are those passed over in it, `failed` expressions that gave NULL since they failed: of both some
    are among the examples. `held_rows` are those that were read and wait for other partitions. `read` is the next offset of each
    partition, by topic."""

    query_id: str
    batch_id: int
    input_rows: int
    written_rows: int
    rows_per_second: float
    lag: int
    state_rows: int
    duration_ms: int
    bad_records: int = 0
    failed: int = 0
    examples: tuple[BadRecord, ...] = ()
    held_rows: int = 0
    read: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Idle:
    """A query is well, and has found nothing new for a while."""

    query_id: str


class FailureKind(Enum):
    """What a failure asks for: those below ERROR can be put right by another start."""

    ERROR = "error"
    TOPIC_MISSING = "topic missing"
    TOPICS_CHANGED = "topics changed"
    NEEDS_PYTHON = "needs Python"
    NEW_SCHEMA = "new schema"


@dataclass(frozen=True, slots=True)
class QueryFailed:
    """`cause` is what went wrong at the root; `record` is the one at which it did, where that is known. `schema_id` is that of a
    NEW_SCHEMA."""

    query_id: str
    cause: str
    details: str
    record: BadRecord | None = None
    kind: FailureKind = FailureKind.ERROR
    schema_id: int | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that was decided for a query, and that its owner should know."""

    query_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SlotsChanged:
    """A query in real-time mode holds so many slots from now on: its topics have other partitions than before."""

    query_id: str
    slots: int


@dataclass(frozen=True, slots=True)
class Stopped:
    query_id: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A query that follows another one has been stopped. `problem` tells why it cannot go on in its place, None if it can."""

    query_id: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """Spark's plan of a query; None if it does not run here."""

    query_id: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Spark cannot be started here; the reason says what to do."""

    reason: str


Event: TypeAlias = (
    Ready | Started | Idle | Progress | QueryFailed | Noted | SlotsChanged | Stopped | Settled | Explained | Unavailable
)


def frame(message: Command | Event) -> bytes:
    payload = pickle.dumps(message)
    return LENGTH.pack(len(payload)) + payload


def unframed(payload: bytes) -> Any:
    """The message of a payload. Both ends are our own processes, and nobody else has the pipe."""
    return pickle.loads(payload)  # noqa: S301


def read_message(stream: BinaryIO) -> Any | None:
    """The next message, or None at the end."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    payload = stream.read(length)
    return None if len(payload) < length else unframed(payload)
