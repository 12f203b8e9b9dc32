"""What the workers of a run share: a broker, a registry, a database, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from uuid import uuid4

from benchmarks import connect_records
from benchmarks.connect_postgres import PostgresServer
from benchmarks.connection import HOST, create_topics, delete_topics, records_in
from benchmarks.contestants import Contestant
from benchmarks.registries import OurRegistry
from benchmarks.registry_api import Api
from benchmarks.running import Launch, free_port
from benchmarks.turns import say
from benchmarks.wire import Topic, UnexpectedAnswer

# Topics and tables come in so many parts, which one task reads alone or two share.
PARTS = 2


@dataclass(frozen=True, slots=True)
class Scale:
    """How much work one measurement does."""

    lines: int
    sink_rows: int
    source_rows: int
    bare_records: int


FULL = Scale(lines=2_000_000, sink_rows=200_000, source_rows=600_000, bare_records=4_000_000)
QUICK = Scale(lines=300_000, sink_rows=30_000, source_rows=100_000, bare_records=1_500_000)


class Stage:
    """The servers start, and the data are made, when they are first asked for."""

    def __init__(self, broker: Contestant, folder: Path, scale: Scale) -> None:
        self.folder = folder
        self.scale = scale
        self._broker = broker
        self._stack = ExitStack()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @cached_property
    def broker_port(self) -> int:
        running = self._broker.start(self.folder / "broker")
        self._stack.callback(running.kill)
        return running.port

    @cached_property
    def registry_url(self) -> str:
        registry, api = OurRegistry(self.folder), Api(free_port(), "")
        command = registry.command(api.port, self.broker_port)
        launch = Launch("registry", command, api.port, self.folder / "registry.log")
        self._stack.callback(launch.start(lambda: api.succeeds(api.subjects())).kill)
        return f"http://{HOST}:{api.port}"

    @cached_property
    def postgres(self) -> PostgresServer:
        return self._stack.enter_context(PostgresServer())

    @cached_property
    def lines_file(self) -> Path:
        path = self.folder / "lines.txt"
        connect_records.write_lines(path, self.scale.lines)
        return path

    @cached_property
    def lines_topic(self) -> Topic:
        """The same lines."""
        topic = self._new_topic("lines", 1)
        lines = (connect_records.line(number).encode() for number in range(self.scale.lines))
        connect_records.fill(self.broker_port, topic.name, 0, lines)
        return topic

    @cached_property
    def bare_topic(self) -> Topic:
        """Many records that mean nothing."""
        topic = self._new_topic("bare", PARTS)
        value = connect_records.line(0).encode()
        for partition, part in enumerate(parts(self.scale.bare_records)):
            connect_records.fill(self.broker_port, topic.name, partition, (value for _ in part))
        return topic

    @cached_property
    def rows_topic(self) -> Topic:
        topic = self._new_topic("rows", PARTS)
        for partition, ids in enumerate(parts(self.scale.sink_rows)):
            connect_records.fill(self.broker_port, topic.name, partition, map(connect_records.envelope, ids))
        return topic

    @cached_property
    def source_tables(self) -> tuple[str, ...]:
        """Tables of PostgreSQL that are full."""
        say("filling tables of PostgreSQL")
        for table, ids in self._source_parts():
            self.postgres.execute(connect_records.create_table(table))
            self.postgres.execute(connect_records.fill_table(table, ids))
        return tuple(table for table, _ in self._source_parts())

    @cached_property
    def sqlite_file(self) -> Path:
        """The same tables."""
        path = self.folder / "source.db"
        connect_records.write_sqlite(path, self._source_parts())
        return path

    @contextmanager
    def topic(self, name: str) -> Iterator[Topic]:
        """An empty topic until the block ends."""
        topic = self._new_topic(name, 1)
        try:
            yield topic
        finally:
            delete_topics(self.broker_port, [topic])

    def count(self, *topics: Topic) -> int:
        return sum(records_in(self.broker_port, topic) for topic in topics)

    def expect(self, wanted: int, *topics: Topic) -> None:
        if (held := self.count(*topics)) != wanted:
            raise UnexpectedAnswer(f"the topics hold {held:,} records, not {wanted:,}")

    def _new_topic(self, name: str, partitions: int) -> Topic:
        (topic,) = create_topics(self.broker_port, [name], partitions)
        return topic

    def _source_parts(self) -> list[tuple[str, range]]:
        return [(f"orders_{number}", ids) for number, ids in enumerate(parts(self.scale.source_rows))]


def parts(count: int) -> list[range]:
    """The numbers below `count`, shared out."""
    return [range(count * part // PARTS, count * (part + 1) // PARTS) for part in range(PARTS)]


def unique(name: str) -> str:
    """Offsets of connectors outlive them: each measurement has a name of its own."""
    return f"{name}-{uuid4().hex[:8]}"
