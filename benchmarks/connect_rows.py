"""The rows of the Connect workers' benchmark: files, databases, the engine alone, and the life of a worker."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from psycopg import Connection, sql

from benchmarks import connect_flow
from benchmarks.comparison import Aim, Metric
from benchmarks.connect_flow import Flow
from benchmarks.connect_postgres import USER
from benchmarks.connect_records import LINE_BYTES, OLD_QUANTITY, create_table, fill_table
from benchmarks.connect_stage import Stage, parts, unique
from benchmarks.connect_workers import Deployment, InsertMode, Worker
from benchmarks.job import Figures
from benchmarks.lifecycle import MB, SETTLE_SECONDS
from benchmarks.processes import cpu_seconds, proportional_bytes
from benchmarks.spread import at_least, at_most
from benchmarks.wire import UnexpectedAnswer

JSON = "org.apache.kafka.connect.json.JsonConverter"
AVRO = "io.confluent.connect.avro.AvroConverter"
FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
FILE_SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
Format = Literal["JSON", "Avro"]
Database = Literal["PostgreSQL", "SQLite"]
# Our worker hears from its tasks once a second. The topic holds more than is waited for, so that the last time is one at work.
COUNTED_SHARE = 0.7
COUNTED_PROBE_SECONDS = 0.1
SENT = "connect_task_sink_record_send_total"


@contextmanager
def file_source(stage: Stage, _: Deployment) -> Iterator[Flow]:
    name, lines = unique("file-source"), stage.scale.lines
    with stage.topic(name) as topic:
        config = {"connector.class": FILE_SOURCE, "file": str(stage.lines_file), "topic": name}
        yield Flow(name, config, lines, partial(stage.count, topic), partial(stage.expect, lines, topic))


@contextmanager
def file_sink(stage: Stage, _: Deployment) -> Iterator[Flow]:
    name, lines = unique("file-sink"), stage.scale.lines
    target = stage.folder / f"{name}.txt"

    def count() -> int:
        return target.stat().st_size // LINE_BYTES if target.exists() else 0

    def verify() -> None:
        if target.read_bytes() != stage.lines_file.read_bytes():
            raise UnexpectedAnswer(f"the lines of {target} are not those of the topic")

    config = {"connector.class": FILE_SINK, "file": str(target), "topics": stage.lines_topic.name}
    try:
        yield Flow(name, config, lines, count, verify)
    finally:
        target.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class JdbcSink:
    """Rows of a topic into a table with a primary key. For an upsert, every second row is there before."""

    mode: InsertMode
    tasks: int = 1
    tuned: bool = False

    @contextmanager
    def __call__(self, stage: Stage, deployment: Deployment) -> Iterator[Flow]:
        worker, rows = deployment.worker, stage.scale.sink_rows
        name = unique(f"jdbc-{self.mode}")
        stage.postgres.execute(create_table(name))
        if self.mode == "upsert":
            stage.postgres.execute(fill_table(name, range(0, rows, 2), OLD_QUANTITY))
        with stage.postgres.connect() as connection:
            config = {
                **worker.jdbc_sink(stage.postgres.url, name, self.mode),
                **(worker.tuned_jdbc_sink if self.tuned else {}),
                "topics": stage.rows_topic.name,
                "tasks.max": str(self.tasks),
                "value.converter": JSON,
            }
            yield Flow(
                name, config, rows, partial(written, connection, name, rows), partial(expect, connection, name, rows)
            )
        stage.postgres.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))


def written(connection: Connection[Any], table: str, rows: int) -> int:
    """How many rows of the load are in the table: those of a partition come in their order, so that few have to be looked for."""
    query = sql.SQL("SELECT 1 FROM {} WHERE id = %s AND quantity >= 0").format(sql.Identifier(table))

    def is_missing(number: int) -> bool:
        return connection.execute(query, (number,)).fetchone() is None

    return sum(bisect_left(ids, True, key=is_missing) for ids in parts(rows))


def expect(connection: Connection[Any], table: str, rows: int) -> None:
    query = sql.SQL("SELECT count(*) FROM {} WHERE quantity >= 0").format(sql.Identifier(table))
    (found,) = connection.execute(query).fetchone() or (0,)
    if found != rows:
        raise UnexpectedAnswer(f"{found:,} rows are in the table, not {rows:,}")


@dataclass(frozen=True, slots=True)
class JdbcSource:
    """The rows of some tables, each into a topic of its own."""

    database: Database
    format: Format
    tasks: int = 1

    @contextmanager
    def __call__(self, stage: Stage, _: Deployment) -> Iterator[Flow]:
        name, rows, tables = unique("jdbc-source"), stage.scale.source_rows, stage.source_tables
        config = {
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            **self._connection(stage),
            "table.whitelist": ",".join(tables),
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": f"{name}-",
            "tasks.max": str(self.tasks),
            **self._converter(stage),
        }
        with ExitStack() as stack:
            topics = [stack.enter_context(stage.topic(f"{name}-{table}")) for table in tables]
            yield Flow(name, config, rows, partial(stage.count, *topics), partial(stage.expect, rows, *topics))

    def _connection(self, stage: Stage) -> dict[str, str]:
        if self.database == "PostgreSQL":
            return {"connection.url": stage.postgres.url, "connection.user": USER}
        return {"connection.url": f"jdbc:sqlite:{stage.sqlite_file}"}

    def _converter(self, stage: Stage) -> dict[str, str]:
        if self.format == "JSON":
            return {"value.converter": JSON, "value.converter.schemas.enable": "false"}
        return {"value.converter": AVRO, "value.converter.schema.registry.url": stage.registry_url}


@contextmanager
def generator(stage: Stage, _: Deployment) -> Iterator[Flow]:
    name, records = unique("generator"), stage.scale.bare_records
    with stage.topic(name) as topic:
        config = {
            "connector.class": "DatagenConnector",
            "kafka.topic": name,
            "text.bytes": str(LINE_BYTES),
            "iterations": str(records),
        }
        yield Flow(name, config, records, partial(stage.count, topic), partial(stage.expect, records, topic))


@contextmanager
def null_sink(tasks: int, stage: Stage, deployment: Deployment) -> Iterator[Flow]:
    name = unique("null-sink")
    config = {"connector.class": "null-sink", "topics": stage.bare_topic.name, "tasks.max": str(tasks)}
    records = int(stage.scale.bare_records * COUNTED_SHARE)
    count = partial(deployment.api.counted, name, SENT)
    yield Flow(name, config, records, count, lambda: None, COUNTED_PROBE_SECONDS)


def live(stage: Stage, worker: Worker) -> Figures:
    """Starts without and with topics, and memory: before, beside and after connectors that have done their work."""
    with Deployment(worker, stage.broker_port, stage.folder) as deployment:
        found = {"first_start_s": deployment.running.seconds_to_answer}
        deployment.restart()
        found |= {"start_s": deployment.running.seconds_to_answer, "start_cpu_s": cpu_seconds(deployment.pid)}
        time.sleep(SETTLE_SECONDS)
        found["idle_mb"] = proportional_bytes(deployment.pid) / MB
        with ExitStack() as stack:
            for open_flow in (file_source, file_sink, JdbcSink("insert")):
                flow = stack.enter_context(open_flow(stage, deployment))
                stack.enter_context(deployment.api.connector(flow.connector, flow.config))
                connect_flow.watch(flow, deployment, flow.records)
            time.sleep(SETTLE_SECONDS)
            found["used_mb"] = proportional_bytes(deployment.pid) / MB
        time.sleep(SETTLE_SECONDS)
        return found | {"left_mb": proportional_bytes(deployment.pid) / MB}


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A row measured on workers that stay up for all rows of this kind. `peer` says what it takes to run beside ours."""

    name: str
    metrics: tuple[Metric, ...]
    open: Callable[[Stage, Deployment], AbstractContextManager[Flow]]
    peer: Literal["file", "jdbc", "none"] = "none"

    def measure(self, stage: Stage, deployment: Deployment, share: float = 1.0) -> Figures:
        with self.open(stage, deployment) as flow:
            return connect_flow.run(flow, deployment, share)

    def suits(self, worker: Worker) -> bool:
        if worker.name == "ours":
            return True
        return self.peer == "file" or (self.peer == "jdbc" and worker.has_jdbc_sink)


@dataclass(frozen=True, slots=True)
class LifeRow:
    """A row that starts workers of its own."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Stage, Worker], Figures]


Row = FlowRow | LifeRow


def metrics(title: str, *aims: Aim) -> tuple[Metric, ...]:
    return Metric("records_s", title, "records/s", aims), Metric("cpu_us", "… worker's CPU per record", "µs")


def times(bound: float) -> Aim:
    return Aim(at_least(bound), "kafka")


def _jdbc_source(database: Database, format_: Format, bound: float, tasks: int = 1) -> FlowRow:
    suffix = f"-{tasks}" if tasks > 1 else ""
    title = f"{database} → {format_}, 5 columns, {tasks} task{'s' if tasks > 1 else ''}"
    aims = (Aim(at_least(bound)),) if tasks == 1 else ()
    name = f"{database}-{format_}{suffix}".lower()
    return FlowRow(name, metrics(title, *aims), JdbcSource(database, format_, tasks))


FLOW_ROWS = (
    FlowRow("file-source", metrics(f"file → topic, lines of {LINE_BYTES} B", times(2)), file_source, "file"),
    FlowRow("file-sink", metrics(f"topic → file, lines of {LINE_BYTES} B", times(1)), file_sink, "file"),
    FlowRow("jdbc-insert", metrics("topic → PostgreSQL, insert", times(5)), JdbcSink("insert"), "jdbc"),
    FlowRow("jdbc-insert-2", metrics("… 2 tasks"), JdbcSink("insert", tasks=2), "jdbc"),
    FlowRow("jdbc-insert-tuned", metrics("… Debezium with UNNEST, batches of 3,000"), JdbcSink("insert", tuned=True), "jdbc"),
    FlowRow("jdbc-upsert", metrics("topic → PostgreSQL, upsert", times(3)), JdbcSink("upsert"), "jdbc"),
    FlowRow("jdbc-upsert-tuned", metrics("… Debezium with UNNEST, batches of 3,000"), JdbcSink("upsert", tuned=True), "jdbc"),
    _jdbc_source("PostgreSQL", "JSON", 80_000),
    _jdbc_source("PostgreSQL", "JSON", 80_000, tasks=2),
    _jdbc_source("PostgreSQL", "Avro", 60_000),
    _jdbc_source("SQLite", "JSON", 80_000),
    _jdbc_source("SQLite", "Avro", 60_000),
    FlowRow("generator", metrics(f"generator → topic, {LINE_BYTES} B"), generator),
    FlowRow("null-sink", metrics(f"topic → nothing, {LINE_BYTES} B, 1 task"), partial(null_sink, 1)),
    FlowRow("null-sink-2", metrics("… 2 tasks"), partial(null_sink, 2)),
)  # fmt: skip
STARTED = (Aim(at_most(1 / 8), "kafka"),)
MEMORY = (Aim(at_most(1 / 5), "kafka"),)
LIFE_ROW = LifeRow(
    "life",
    (
        Metric("first_start_s", "first start, exec to first answer", "s", STARTED),
        Metric("start_s", "start, exec to first answer", "s", STARTED),
        Metric("start_cpu_s", "… worker's CPU", "s"),
        Metric("idle_mb", "memory (PSS of all processes), idle", "MB", MEMORY),
        Metric("used_mb", "… with 3 connectors that have done their work", "MB", MEMORY),
        Metric("left_mb", "… after these are deleted", "MB", MEMORY),
    ),
    live,
)
ROWS: tuple[Row, ...] = (*FLOW_ROWS, LIFE_ROW)
