"""How queries are run: what settings, and those of the session that made them, say of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.catalogue.command import LOWERING
from streams_sql.plan.nodes import reads_of
from streams_sql.problem import SqlProblem
from streams_sql.spark.driver.messages import (
    BATCH_RECORDS_MAX,
    REAL_TIME_INTERVAL_MS,
    STATE_ROWS_MAX,
    Former,
    Guarantee,
    StartQuery,
    Trigger,
)

STREAMS_PREFIX: Final = "ksql.streams."
SPARK_PREFIX: Final = "spark."
OFFSET_RESET: Final = "auto.offset.reset"
GUARANTEE: Final = "processing.guarantee"
FAILS_ON_BAD_RECORD: Final = "ksql.fail.on.deserialization.error"
TRIGGER: Final = "sql.trigger.interval.ms"
REAL_TIME: Final = "sql.trigger.real.time"
BATCH_RECORDS: Final = "sql.batch.max.records"
STATE_ROWS: Final = "sql.state.memory.max.rows"
TASK_IDLE: Final = "max.task.idle.ms"

_ODD: Final = re.compile(r"[^A-Za-z0-9_]")
_EXACTLY_ONCE: Final = ("exactly_once", "exactly_once_beta", "exactly_once_v2")


def plain_name(name: str) -> str:
    """Names may carry ksqlDB's prefix of settings that it hands on."""
    return name.removeprefix(STREAMS_PREFIX)


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """`properties` are the server's own values of what a session may set; `checkpoint_uri` is a folder, or a place that a cluster shares."""

    checkpoint_uri: str
    trigger_interval_ms: int = 200
    properties: Mapping[str, str] = field(default_factory=dict)

    def start_command(self, query: PersistentQuery, former: PersistentQuery | None = None) -> StartQuery:
        """`former` is the query in whose place it is built. SqlProblem where a property has a value that cannot be."""
        found = self.overridden(query.properties)
        return StartQuery(
            query_id=query.id,
            plan=query.plan,
            checkpoint=self._checkpoint(query.id),
            starting_offsets=query.positions or starting_offsets(found),
            trigger=self.real_time_trigger(found) if query.is_real_time else self.trigger(found),
            guarantee=guarantee(found),
            fails_on_bad_record=found.get(FAILS_ON_BAD_RECORD, "false").lower() == "true",
            options={name: text for name, text in found.items() if name.startswith(SPARK_PREFIX)},
            slots=query.slots,
            is_rebuilt=query.lowering != LOWERING,
            batch_records_max=number_above_0(found, BATCH_RECORDS, BATCH_RECORDS_MAX, "records"),
            state_rows_max=number_above_0(found, STATE_ROWS, STATE_ROWS_MAX, "rows"),
            follows=self._followed(former) if query.is_follower else None,
            task_idle_ms=task_idle_ms(found),
        )

    def _followed(self, former: PersistentQuery | None) -> Former:
        if former is None:
            raise SqlProblem("The query in whose place it is built is gone, and nobody knows what that has written.")
        topics = frozenset(read.source.topic for read in reads_of(former.plan.node))
        return Former(former.id, self._checkpoint(former.id), topics)

    def overridden(self, properties: Mapping[str, str]) -> Mapping[str, str]:
        """The server's own values, and before them those that a session has set."""
        return {**self.properties, **{plain_name(name): text for name, text in properties.items()}}

    def in_batches(self, query: PersistentQuery, command: StartQuery) -> StartQuery:
        """The same for a query that cannot run in real-time mode any more."""
        return replace(command, trigger=self.trigger(self.overridden(query.properties)), slots=0)

    def trigger(self, properties: Mapping[str, str]) -> Trigger:
        """Of batches."""
        text = properties.get(TRIGGER)
        if text is not None and not text.isdecimal():
            raise SqlProblem(f"{TRIGGER}={text} is no number of milliseconds.")
        return Trigger(self.trigger_interval_ms if text is None else int(text))

    def real_time_trigger(self, properties: Mapping[str, str]) -> Trigger:
        """Records do not wait for the interval: it is the time between two checkpoints, which Spark does not let be short."""
        return Trigger(max(self.trigger(properties).interval_ms, REAL_TIME_INTERVAL_MS), is_real_time=True)

    def _checkpoint(self, query_id: str) -> str:
        return f"{self.checkpoints(query_id)}/{LOWERING}"

    def checkpoints(self, query_id: str) -> str:
        """The folder of all checkpoints of a query. Its id may hold what means something in a path."""
        return f"{self.checkpoint_uri.rstrip('/')}/{_ODD.sub(_spelled, query_id)}"


def _spelled(found: re.Match[str]) -> str:
    return f"-{ord(found[0]):x}-"


def wants_real_time(properties: Mapping[str, str]) -> bool:
    return properties.get(REAL_TIME, "false").lower() == "true"


def guarantee(properties: Mapping[str, str]) -> Guarantee:
    is_exact = properties.get(GUARANTEE, "").lower() in _EXACTLY_ONCE
    return Guarantee.EXACTLY_ONCE if is_exact else Guarantee.AT_LEAST_ONCE


def number_above_0(properties: Mapping[str, str], name: str, default: int, unit: str) -> int:
    text = properties.get(name, str(default))
    if not text.isdecimal() or not int(text):
        raise SqlProblem(f"{name}={text} is no number of {unit} above 0.")
    return int(text)


def task_idle_ms(properties: Mapping[str, str]) -> int:
    """How long rows wait for partitions without unread records. Kafka's -1, which would not wait for unread ones either, is 0 here."""
    text = properties.get(TASK_IDLE, "0")
    if not text.isdecimal() and text != "-1":
        raise SqlProblem(f"{TASK_IDLE}={text} is not a number of milliseconds: use 0 or more.")
    return max(int(text), 0)


def starting_offsets(properties: Mapping[str, str]) -> str:
    text = properties.get(OFFSET_RESET, "latest").lower()
    if text not in ("earliest", "latest"):
        raise SqlProblem(f"{OFFSET_RESET}={text} is neither earliest nor latest.")
    return text
