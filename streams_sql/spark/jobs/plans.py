"""Plans as Spark's streaming queries.

What has no state runs in stages of Python (see `stages`); what has, in Spark's own operators between them, one for each query. In
real-time mode, where Spark allows no Python, `native_plans` has it in Spark's SQL.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as spark

from streams_sql.formats.serde import Layout, RegistryAccess
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import Aggregate, Node, PersistentPlan, Read
from streams_sql.plan.pipeline import chain_of, chains_of, columns_of
from streams_sql.plan.records import ProblemKind
from streams_sql.sources import Source
from streams_sql.spark.driver.messages import BATCH_RECORDS_MAX, StartQuery
from streams_sql.spark.jobs import native_plans
from streams_sql.spark.jobs.aggregates import aggregated
from streams_sql.spark.jobs.native_plans import Clause, NativePlan, Select, Where
from streams_sql.spark.jobs.stages import (
    EXAMPLES_MAX,
    PROBLEM,
    Operator,
    RecordsHead,
    RowsHead,
    Stage,
    Tail,
    TopicTail,
)
from streams_sql.spark.jobs.transactions import BATCH_RECORDS_MAX as TRANSACTION_RECORDS_MAX
from streams_sql.spark.jobs.transactions import Marks
from streams_sql.spark.shards.processor import ShardProcessor
from streams_sql.spark.shards.stage import PARTITION, REACHED, TOPIC, PlaceReading, ShardStage, ignored
from streams_sql.spark.shards.tasks import BATCH_ROWS_MAX, HELD, PackedHead, places_by_topic, shard_numbers, sharded
from streams_sql.spark.sources import topic_source
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.positions import Offsets, TopicState, starting_offsets
from streams_sql.spark.sources.topic_source import FORMAT, Alignment, Reading, TopicReading, TopicSource

OBSERVED_WRITES: Final = "writes"
OBSERVED_READS: Final = "reads"
OBSERVED_TIMES: Final = "times"
OBSERVED_HELD: Final = "held"
_REACHED: Final = f"struct({TOPIC}, {PARTITION}, {REACHED})"
_PROBLEMS: Final = f"sum(CASE WHEN {PROBLEM}.kind {{}} '{ProblemKind.PROCESSING}' THEN {PROBLEM}.times END)"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a plan is lowered with. `topics` are those that it reads, as they are now, and `first` are the offsets at which it begins;
    `marks` are for what is written exactly once: for each place where something is read if a query has no state, else for all of it.
    `bounds` is the file that says how far may be read, `pace` the one that says how far ahead partitions are."""

    session: SparkSession
    kafka: KafkaAccess
    registry: RegistryAccess | None = None
    topics: Mapping[str, TopicState] = field(default_factory=dict)
    first: Mapping[str, Offsets] = field(default_factory=dict)
    marks: tuple[Marks, ...] = ()
    bounds: str | None = None
    pace: str = ""

    def layouts(self, source: Source) -> tuple[Layout, Layout]:
        """Those of the keys and of the values of a source."""
        schema, topic = source.schema, source.topic
        return (
            Layout(source.key_format, schema.key, topic, is_key=True, registry=self.registry),
            Layout(source.value_format, schema.value, topic, is_key=False, registry=self.registry),
        )

    def records(self, read: Read, wanted_offsets: str) -> DataFrame:
        """The records of a topic as Spark's source gives them. Records that are gone before they are read fail the query: the next start
        says so and goes on behind them."""
        topic = read.source.topic
        options = {f"kafka.{name}": value for name, value in self.kafka.java.items()}
        options |= {
            "kafka.bootstrap.servers": self.kafka.bootstrap_servers,
            # What was written by a transaction that did not come to its end is no record.
            "kafka.isolation.level": "read_committed",
            # A topic that is deleted under a query must not come back, empty, because the query asks for it.
            "kafka.allow.auto.create.topics": "false",
            "subscribe": topic,
            "startingOffsets": starting_offsets(wanted_offsets, topic, self.topics[topic]),
            "includeHeaders": str(bool(read.source.schema.headers)).lower(),
        }
        return self.session.readStream.format("kafka").options(**options).load()

    def staged(
        self,
        reads: Sequence[Read],
        stages: Sequence[Stage] | Sequence[ShardStage],
        schema: str,
        records_max: int,
        *,
        must_be_bounded: bool,
        alignment: Alignment | None = None,
    ) -> DataFrame:
        """What stages make of the records of topics, which they read themselves; there is a stage for each of the reads."""
        topics = tuple(
            TopicReading(read.source.topic, self.first[read.source.topic], bool(read.source.schema.headers))
            for read in reads
        )
        reading = Reading(
            topics,
            self.kafka,
            records_max=min(records_max, TRANSACTION_RECORDS_MAX) if self.marks else records_max,
            bounds=self.bounds,
            must_be_bounded=must_be_bounded,
            alignment=alignment,
        )
        self.session.dataSource.register(TopicSource)
        stream = self.session.readStream.format(FORMAT).schema(schema)
        return stream.options(**topic_source.options(reading, stages)).load()


@dataclass(frozen=True, slots=True)
class Lowered:
    """A data frame whose rows are reports of what was written, and the mode in which it must run."""

    frame: DataFrame
    output_mode: str


class PlanLowering:
    """Makes the data frame of one query."""

    def __init__(self, surroundings: Surroundings, start: StartQuery) -> None:
        self._surroundings = surroundings
        self._start = start
        self._reads = 0

    def lowered(self) -> Lowered:
        plan = self._start.plan
        chain = chain_of(plan.node)
        hosting = hosting_of(plan.node)
        if hosting is Hosting.STATELESS:
            frame = self._put_together(plan.node, lambda place, read: self._topic_tail(plan, place, read))
        else:
            is_sharded, tail = hosting is Hosting.SHARDS, self._topic_tail(plan)
            rows = self._sharded(plan.node) if is_sharded else self._stateful(chain.base)
            head = PackedHead() if is_sharded else RowsHead(chain.base.shape.columns)
            operators = () if is_sharded else chain.operators
            stage = Stage(head, operators, tail, self._start.fails_on_bad_record)
            frame = rows.mapInArrow(stage, tail.schema)
        written = frame.observe(
            OBSERVED_WRITES,
            spark.sum("written").alias("written"),
            spark.sum("bad").alias("bad"),
            spark.sum("failed").alias("failed"),
            spark.expr(f"slice(flatten(collect_list(examples)), 1, {EXAMPLES_MAX})").alias("examples"),
        )
        return Lowered(written, _output_mode(hosting))

    def tailed(self, node: Node, tail: Tail) -> DataFrame:
        """What a tail makes of the rows of a node below one with state. Problems are observed and left out."""
        return self._observed(self._put_together(node, lambda _place, _read: tail))

    def _put_together(self, node: Node, tail: Callable[[int, Read], Tail]) -> DataFrame:
        """What stages make of the records of each topic that stands below a node without state. The place of a read tells it from others
        of the same topic."""
        frames = []
        for place, chain in enumerate(chains_of(node)):
            if not isinstance(chain.base, Read):
                raise TypeError(f"{type(chain.base).__name__} stands below another operator with state")
            frames.append(self._staged(chain.base, chain.operators, tail(place, chain.base)))
        return reduce(DataFrame.unionByName, frames)

    def _sharded(self, node: Node) -> DataFrame:
        pipeline, start = Pipeline(node, ignored), self._start
        partitions = int(self._surroundings.session.conf.get("spark.sql.shuffle.partitions") or 1)
        shards = shard_numbers(partitions if pipeline.can_be_spread else 1)
        processor = ShardProcessor(secrets.token_hex(8), node, start.state_rows_max, is_spread=len(shards) > 1)
        stages = [
            ShardStage(node, number, self._places(pipeline, places), shards, start.fails_on_bad_record)
            for number, places in enumerate(places_by_topic(pipeline.reads).values())
        ]
        packed = self._surroundings.staged(
            [stage.places[0].head.read for stage in stages],
            stages,
            ShardStage.schema,
            min(start.batch_records_max, BATCH_ROWS_MAX),
            must_be_bounded=start.follows is not None,
            alignment=Alignment(self._surroundings.pace, start.task_idle_ms),
        )
        reached = packed.observe(
            OBSERVED_TIMES,
            spark.expr(f"collect_list(CASE WHEN {REACHED} IS NOT NULL THEN {_REACHED} END)").alias("times"),
        )
        made = sharded(self._observed(reached), processor)
        return made.observe(OBSERVED_HELD, spark.sum(HELD).alias("rows"))

    def _places(self, pipeline: Pipeline, places: Sequence[int]) -> tuple[PlaceReading, ...]:
        leaves = [(place, pipeline.leaves[place]) for place in places]
        return tuple(
            PlaceReading(
                place, RecordsHead(leaf.read, *self._surroundings.layouts(leaf.read.source)), tuple(leaf.operators)
            )
            for place, leaf in leaves
        )

    def _observed(self, frame: DataFrame) -> DataFrame:
        """Without problems, which are observed."""
        rows = frame.observe(
            f"{OBSERVED_READS}{self._reads}",
            spark.expr(_PROBLEMS.format("<>")).alias("bad"),
            spark.expr(_PROBLEMS.format("=")).alias("failed"),
            spark.expr(f"slice(collect_list({PROBLEM}), 1, {EXAMPLES_MAX})").alias("examples"),
        )
        self._reads += 1
        return rows.where(f"{PROBLEM} IS NULL").drop(PROBLEM)

    def _staged(
        self, read: Read, operators: tuple[Operator, ...], tail: Tail, records_max: int = BATCH_RECORDS_MAX
    ) -> DataFrame:
        head = RecordsHead(read, *self._surroundings.layouts(read.source))
        stage = Stage(head, operators, tail, self._start.fails_on_bad_record)
        return self._surroundings.staged(
            [read],
            [stage],
            tail.schema,
            min(self._start.batch_records_max, records_max),
            must_be_bounded=self._start.follows is not None,
        )

    def _stateful(self, node: Node) -> DataFrame:
        if isinstance(node, Aggregate):
            return aggregated(node, self.tailed)
        raise TypeError(f"Spark has no operator for {type(node).__name__}")

    def _topic_tail(self, plan: PersistentPlan, place: int = 0, read: Read | None = None) -> TopicTail:
        """With `read`, each row comes from one record of what is read at that place."""
        key, value = self._surroundings.layouts(plan.sink)
        marks = self._surroundings.marks
        return TopicTail(
            query_id=self._start.query_id,
            sink=plan.sink,
            columns=columns_of(plan.node),
            key=key,
            value=value,
            kafka=self._surroundings.kafka,
            marks=marks[place] if marks else None,
            source=None if read is None else read.source.topic,
            topic=plan.target,
            is_silent=self._start.follows is not None,
        )


def native_frame(plan: NativePlan, surroundings: Surroundings, wanted_offsets: str) -> DataFrame:
    """What `native_plans` has written, over the records of its topic. Problems are observed and left out."""
    frame = _with_clauses(surroundings.records(plan.read, wanted_offsets), plan.reading)
    example = f"struct(topic, partition, offset, {native_plans.PROBLEM} AS reason)"
    frame = frame.observe(
        f"{OBSERVED_READS}0",
        spark.count(native_plans.PROBLEM).alias("bad"),
        spark.expr(
            f"slice(collect_list(CASE WHEN {native_plans.PROBLEM} IS NOT NULL THEN {example} END), 1, {EXAMPLES_MAX})"
        ).alias("examples"),
    )
    return _with_clauses(frame.where(f"{native_plans.PROBLEM} IS NULL"), plan.clauses)


def _with_clauses(frame: DataFrame, clauses: Sequence[Clause]) -> DataFrame:
    for clause in clauses:
        match clause:
            case Where(condition):
                frame = frame.where(condition)
            case Select(columns):
                frame = frame.selectExpr(*columns)
    return frame


def _output_mode(hosting: Hosting) -> str:
    """Spark's own aggregates write changes as they come."""
    return "update" if hosting is Hosting.NATIVE else "append"
