"""The streaming queries of a driver process."""

from __future__ import annotations

import contextlib
import math
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streams_sql.formats.serde import RegistryAccess
from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import reads_of
from streams_sql.spark.driver.failures import failure
from streams_sql.spark.driver.messages import (
    Event,
    Explained,
    FailureKind,
    Guarantee,
    Idle,
    Noted,
    QueryFailed,
    Settled,
    SlotsChanged,
    Started,
    StartQuery,
    Stopped,
)
from streams_sql.spark.driver.progress import pace_of, progress_of, read_to
from streams_sql.spark.driver.query_listener import Hearing
from streams_sql.spark.driver.session import NATIVE_SETTINGS, SHARD_SETTINGS
from streams_sql.spark.jobs.native_plans import Lowering, NotNative, native_plan
from streams_sql.spark.jobs.plans import PlanLowering, Surroundings, native_frame
from streams_sql.spark.jobs.transactions import Marks, end_transaction
from streams_sql.spark.shards.tasks import places_by_topic
from streams_sql.spark.sources.batch_plan import Pace
from streams_sql.spark.sources.bounds import Bounds
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.checkpoints import Folder, Opened, Reached, first_offsets, open_checkpoint, reached
from streams_sql.spark.sources.following import former_reached, is_written_beyond, records_left
from streams_sql.spark.sources.positions import Offsets, TopicState
from streams_sql.spark.sources.topic_states import TopicMissing, TopicStates, missing_text

BATCH_WAIT_S: Final = 8.0
"""How long a query that is to stop may take for its batch. In real-time mode batches last 5 s."""
BATCH_LOOK_S: Final = 0.005
SETTLE_S: Final = 30.0
"""How long a query that has caught up with another one may take for the rest of what that has read."""
SETTLE_LOOK_S: Final = 0.05
ENDING_S: Final = 3.0
"""How long Spark may take to end queries. When the time at which nothing may run any more is as near, no batch is waited for."""


@dataclass(slots=True)
class _Run:
    """A query from a start to its end. `topics` are the ids and numbers of partitions of those that it reads, `first` the offsets at which
    it has begun to; `bounds` say how far it may, and `pace` how far ahead some of its partitions are."""

    command: StartQuery
    bounds: Bounds
    pace: Pace = field(default_factory=lambda: Pace({}))
    topics: dict[str, tuple[str, int]] = field(default_factory=dict)
    first: dict[str, Offsets] = field(default_factory=dict)
    marks: tuple[Marks, ...] = ()
    session: SparkSession | None = None
    query: StreamingQuery | None = None
    hearing: Hearing | None = None
    batches: int = 0
    is_over: bool = False

    @property
    def pace_path(self) -> Path:
        return self.bounds.path.with_suffix(".pace")

    def keep_pace(self, text: str) -> None:
        """Let the next batches read what held rows wait for. `text` is Spark's report of a batch."""
        if hosting_of(self.command.plan.node) is Hosting.SHARDS:
            topics = list(places_by_topic(reads_of(self.command.plan.node)))
            self.pace = pace_of(text, topics, self.pace)
            self.pace.write(self.pace_path)

    def remove_files(self) -> None:
        self.bounds.remove()
        self.pace_path.unlink(missing_ok=True)

    def is_between_batches(self, batches: int) -> bool:
        """Whether it does nothing now; or, as nothing can keep a query in real-time mode from its next batch, has just done with the one
        after so many others."""
        assert self.query is not None
        is_just_done = self.command.trigger.is_real_time and self.batches > batches
        return self.is_over or is_just_done or not self.query.status["isTriggerActive"]


@dataclass(frozen=True, slots=True)
class Look:
    """The ids and numbers of partitions of topics, at some moment, and the queries that ran then."""

    running: Mapping[str, _Run]
    found: Mapping[str, tuple[str, int]]


class QueryHost:
    """Starts and stops queries and tells what becomes of them. `prefix` begins the names of their groups and transactions. At `ends_s`,
    of the monotonic clock, nothing may run any more."""

    def __init__(
        self,
        session: SparkSession,
        kafka: KafkaAccess,
        registry: RegistryAccess | None,
        tell: Callable[[Event], None],
        prefix: str = "",
        ends_s: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._session = session
        self._kafka = kafka
        self._registry = registry
        self._tell = tell
        self._prefix = prefix
        self._ends_s = ends_s
        self._topics = TopicStates(kafka)
        # Spark removes it with the session.
        self._folder = Path(session.sparkContext._temp_dir)
        self._runs: dict[str, _Run] = {}

    def start(self, command: StartQuery) -> None:
        """Run a query, in place of one of the same id if that still runs."""
        query_id = command.query_id
        self._end(query_id)
        run = _Run(command, Bounds(self._folder / f"bounds-{secrets.token_hex(8)}"))
        try:
            self._begin(run)
        except TopicMissing as missing:
            self._tell(QueryFailed(query_id, str(missing), str(missing), kind=FailureKind.TOPIC_MISSING))
        except NotNative as reason:
            cause = f"It cannot run in real-time mode: {reason}."
            self._tell(QueryFailed(query_id, cause, cause, kind=FailureKind.NEEDS_PYTHON))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one query must not end the others
            self._tell(failure(query_id, str(error)))
        else:
            self._runs[query_id] = run
            self._tell(Started(query_id))
        if query_id not in self._runs:
            run.remove_files()

    def stop(self, query_id: str) -> None:
        """End a query, after its batch if that does not take long: one that is given up is done again at the next start, and writes
        again what it has written."""
        deadline_s = self._batch_deadline_s()
        self._await_batch(query_id, deadline_s)
        if any(
            run.command.follows is not None and run.command.follows.query_id == query_id for run in self._runs.values()
        ):
            self._even_out(query_id, deadline_s)
        self._end(query_id)
        self._tell(Stopped(query_id))

    def settle(self, query_id: str) -> None:
        """End a query that follows another one, which was stopped, when it is as far as that. If it is, it can go on without it: each
        record was read by one of them before, and is read by the other one from then on."""
        run = self._runs.get(query_id)
        try:
            problem = "It does not run." if run is None or run.is_over else self._settled(run)
        except (KafkaException, Py4JError, TopicMissing, OSError) as error:
            problem = str(error)
        self._end(query_id)
        self._tell(Settled(query_id, problem))

    def forget(self, query_id: str, folder: str) -> None:
        """End a query for good: its checkpoints, and the groups of its tasks, go with it."""
        self._end(query_id)
        self._tell(Stopped(query_id))
        with contextlib.suppress(KafkaException, Py4JError):
            Folder(self._session, folder).delete()
            self._topics.forget_groups(f"{self._name(query_id)}/")

    def stop_all(self) -> None:
        deadline_s = self._batch_deadline_s()
        for run in self._runs.values():
            run.bounds.close(run.topics)
        for query_id in list(self._runs):
            self._await_batch(query_id, deadline_s)
            self._end(query_id)
            self._tell(Stopped(query_id))

    def explain(self, query_id: str) -> None:
        run = self._runs.get(query_id)
        query = None if run is None else run.query
        self._tell(Explained(query_id, None if query is None else query._jsq.explainInternal(False)))

    def look_at_topics(self) -> None:
        """See whether topics that are read have become others. Spark would go on in a topic that was made again where it was in the
        former one; and a query in real-time mode takes a slot more for each partition that is added."""
        look = self.ask_for_topics()
        if look is not None:
            self.heed(look)

    def ask_for_topics(self) -> Look | None:
        """What there is to see, for `heed`; None when the broker does not answer, for which this may wait. For any thread."""
        running = {query_id: run for query_id, run in list(self._runs.items()) if not run.is_over}
        try:
            return Look(running, self._topics.ids({name for run in running.values() for name in run.topics}))
        except KafkaException:
            return None

    def heed(self, look: Look) -> None:
        for query_id, run in look.running.items():
            if run.is_over or self._runs.get(query_id) is not run:
                continue
            now = {name: look.found[name] for name in run.topics if name in look.found}
            remade = [name for name, (id_, _) in now.items() if id_ != run.topics[name][0]]
            if remade:
                self._end(query_id)
                cause = f"Topic {remade[0]} was deleted and made again."
                self._tell(QueryFailed(query_id, cause, cause, kind=FailureKind.TOPICS_CHANGED))
            elif now != run.topics and len(now) == len(run.topics):
                run.topics = now
                if run.command.trigger.is_real_time:
                    self._tell(SlotsChanged(query_id, sum(count for _, count in now.values())))

    def _name(self, query_id: str) -> str:
        return f"{self._prefix}query_{query_id}"

    def _batch_deadline_s(self) -> float:
        return min(time.monotonic() + BATCH_WAIT_S, self._ends_s() - ENDING_S)

    def _await_batch(self, query_id: str, deadline_s: float) -> None:
        """Return when the query has come to the end of a batch, or the deadline to its own. Spark has no way to ask for it: so those who
        plan its batches find nothing to read from now on."""
        run = self._runs.get(query_id)
        if run is None or run.query is None:
            return
        run.bounds.close(run.topics)
        batches = run.batches
        while time.monotonic() < deadline_s and not run.is_between_batches(batches):
            time.sleep(BATCH_LOOK_S)

    def _even_out(self, query_id: str, deadline_s: float) -> None:
        """Let places of a query that read the same topic come equally far: each asks by itself where that ends. Who follows the query goes
        on from one position."""
        run = self._runs.get(query_id)
        if run is None or run.session is None or run.command.trigger.is_real_time:
            return
        try:
            folder, topics = Folder(run.session, run.command.checkpoint), self._topics.states(run.topics)
            while time.monotonic() < deadline_s and not run.is_over and not (found := reached(folder, topics)).is_even:
                run.bounds.close(run.topics, found.furthest)
                time.sleep(SETTLE_LOOK_S)
        except (KafkaException, Py4JError, OSError):
            # Whether it has succeeded is asked of the checkpoint before somebody goes on.
            return
        self._await_batch(query_id, deadline_s)

    def _end(self, query_id: str) -> None:
        run = self._runs.pop(query_id, None)
        if run is None or run.query is None or run.hearing is None or run.session is None:
            return
        run.is_over = True
        run.query.stop()
        run.hearing.end()
        run.remove_files()
        numbered = int(run.session.conf.get("spark.sql.shuffle.partitions") or 1)
        for marks in run.marks:
            self._end_transactions(marks, numbered if marks.source is None else run.topics[marks.source][1])

    def _end_transactions(self, marks: Marks, tasks: int) -> None:
        """Of tasks that were ended in the middle: readers of the sink would wait until the broker gives them up."""
        for task in range(tasks):
            with contextlib.suppress(KafkaException):
                end_transaction(self._kafka, marks.transaction(task))

    def _begin(self, run: _Run) -> None:
        command = run.command
        topics = self._states(command)
        session = run.session = self._session.newSession()
        for name, value in {**_own_settings(command), **command.options}.items():
            session.conf.set(name, value)
        opened = open_checkpoint(Folder(session, command.checkpoint), topics)
        self._note(command, opened)
        run.topics = {name: (state.id, state.partitions) for name, state in topics.items()}
        run.marks = self._marks(command, opened, topics)
        if not command.trigger.is_real_time:
            tables = {each.source.topic for each in reads_of(command.plan.node) if each.source.is_table}
            run.first = first_offsets(Folder(session, command.checkpoint), topics, command.starting_offsets, tables)
        if command.follows is not None:
            run.bounds.raise_to(former_reached(session, command, topics).offsets)
        surroundings = Surroundings(
            session,
            self._kafka,
            self._registry,
            topics,
            run.first,
            run.marks,
            str(run.bounds.path),
            str(run.pace_path),
        )
        writer = (
            self._real_time(command, surroundings) if command.trigger.is_real_time else _batches(command, surroundings)
        )
        run.hearing = Hearing(session, _Listener(run, self._tell, self._lead))
        run.query = writer.queryName(command.query_id).option("checkpointLocation", command.checkpoint).start()

    def _lead(self, query_id: str, text: str) -> None:
        """A query has done a batch: those that follow it may read as much. Called by Spark's threads."""
        for run in list(self._runs.values()):
            former = run.command.follows
            if former is not None and former.query_id == query_id:
                read = read_to(text)
                run.bounds.raise_to({topic: read[topic] for topic in run.topics if topic in read})

    def _settled(self, run: _Run) -> str | None:
        """Why a query cannot go on in the place of the one that it follows, None if it can."""
        command, former = run.command, run.command.follows
        leading = None if former is None else self._runs.get(former.query_id)
        # One that has failed is still known.
        if former is None or run.session is None or (leading is not None and not leading.is_over):
            return "It does not follow a query that has been stopped."
        topics = self._states(command)
        to_reach = former_reached(run.session, command, topics)
        if command.guarantee is Guarantee.EXACTLY_ONCE and self._is_written_beyond(former.query_id, to_reach, topics):
            return f"Query {former.query_id} was ended in the middle of a batch, some of whose rows would be written by both."
        if to_reach.may_hold_rows:
            return f"Query {former.query_id} was stopped before it had caught up: it held rows that were read and not yet processed."
        run.bounds.raise_to(to_reach.offsets)
        own, deadline_s = Folder(run.session, command.checkpoint), time.monotonic() + SETTLE_S
        deadline_s = min(deadline_s, self._ends_s() - ENDING_S)
        while time.monotonic() < deadline_s and not run.is_over and records_left(reached(own, topics), to_reach):
            time.sleep(SETTLE_LOOK_S)
        self._await_batch(command.query_id, self._batch_deadline_s())
        self._end(command.query_id)
        found = reached(own, topics)
        if found.is_begun:
            return "It was stopped in the middle of a batch."
        left = records_left(found, to_reach)
        return f"It is {left} records behind {former.query_id} after {SETTLE_S:.0f} s." if left else None

    def _is_written_beyond(self, query_id: str, read: Reached, topics: Mapping[str, TopicState]) -> bool:
        name = self._name(query_id)
        marks = self._topics.group_offsets(f"{name}/")
        return not read.is_even or is_written_beyond(name, read, topics, marks)

    def _states(self, command: StartQuery) -> dict[str, TopicState]:
        """The topics that a query reads. TopicMissing."""
        read = {each.source.topic for each in reads_of(command.plan.node)}
        sink = command.plan.target
        for name in sorted({*read, sink} - self._topics.ids({*read, sink}).keys()):
            raise TopicMissing(missing_text(name, is_sink=name not in read))
        return self._topics.states(read)

    def _note(self, command: StartQuery, opened: Opened) -> None:
        for note in opened.notes:
            self._tell(Noted(command.query_id, note))
        if command.is_rebuilt and opened.is_new:
            self._tell(
                Noted(
                    command.query_id,
                    "An earlier version of the server has run this query in another way. It is built anew from its topics. "
                    + _rewritten(command),
                )
            )
        elif command.is_resumed and opened.is_new and not opened.notes and command.follows is None:
            self._tell(
                Noted(
                    command.query_id,
                    f"The query has run before, and there is no checkpoint of it at {command.checkpoint}. It begins anew where it has "
                    "begun at first, and writes its results once more. Servers of one ksql.service.id need one sql.checkpoint.uri.",
                )
            )

    def _marks(self, command: StartQuery, opened: Opened, topics: Mapping[str, TopicState]) -> tuple[Marks, ...]:
        """Those of places but the first have their number in their names: several may read the same topic."""
        if command.guarantee is Guarantee.AT_LEAST_ONCE or command.follows is not None:
            return ()
        name, sink = self._name(command.query_id), command.plan.target
        if hosting_of(command.plan.node) is not Hosting.STATELESS:
            return (Marks(name, f"{name}/{opened.id}", sink),)
        marks = []
        for place, read in enumerate(reads_of(command.plan.node)):
            own, topic = f"{name}/place_{place}" if place else name, read.source.topic
            marks.append(Marks(own, f"{own}/{topics[topic].id}", sink, topic))
        return tuple(marks)

    def _real_time(self, command: StartQuery, surroundings: Surroundings) -> DataStreamWriter:
        """With Spark's own sink: the records bear the time at which they are written."""
        lowering = Lowering(self._registry, command.schema_ids, command.fails_on_bad_record)
        frame = native_frame(native_plan(command.plan, lowering), surroundings, command.starting_offsets)
        options = {f"kafka.{name}": value for name, value in self._kafka.java.items()}
        options |= {"kafka.bootstrap.servers": self._kafka.bootstrap_servers, "topic": command.plan.sink.topic}
        writer = frame.writeStream.format("kafka").options(**options).outputMode("update")
        # The stubs do not know this trigger yet.
        real_time: DataStreamWriter = writer.trigger(realTime=f"{command.trigger.interval_ms} milliseconds")  # type: ignore[call-overload]
        return real_time


def _rewritten(command: StartQuery) -> str:
    """What becomes of rows that an earlier version has written."""
    if command.plan.sink.is_table:
        return "Its keys are written anew."
    is_marked = command.guarantee is Guarantee.EXACTLY_ONCE and hosting_of(command.plan.node) is Hosting.STATELESS
    return "What it has written is not written again." if is_marked else "Its rows are written once more."


def _own_settings(command: StartQuery) -> Mapping[str, str]:
    if command.trigger.is_real_time:
        return NATIVE_SETTINGS
    return SHARD_SETTINGS if hosting_of(command.plan.node) is Hosting.SHARDS else {}


def _batches(command: StartQuery, surroundings: Surroundings) -> DataStreamWriter:
    lowered = PlanLowering(surroundings, command).lowered()
    writer = lowered.frame.writeStream.format("noop").outputMode(lowered.output_mode)
    return writer.trigger(processingTime=f"{command.trigger.interval_ms} milliseconds")


class _Listener:
    """Of one run: each has a session of its own. `lead` is told of each batch that is done, by the id of the query."""

    def __init__(self, run: _Run, tell: Callable[[Event], None], lead: Callable[[str, str], None]) -> None:
        self._run = run
        self._tell = tell
        self._lead = lead

    def idled(self) -> None:
        if not self._run.is_over:
            self._tell(Idle(self._run.command.query_id))

    def progressed(self, text: str) -> None:
        self._run.batches += 1
        if not self._run.is_over:
            self._run.keep_pace(text)
            self._lead(self._run.command.query_id, text)
            self._tell(progress_of(self._run.command.query_id, text, self._run.first))

    def failed(self, cause: str) -> None:
        """What ends because it was told to is no failure, whatever it breaks off in."""
        if not self._run.is_over:
            self._run.is_over = True
            self._tell(failure(self._run.command.query_id, cause))
