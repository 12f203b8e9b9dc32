"""Reading with the JDBC source, as a task does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from connect.api.record import Record
from connect.api.settings import read
from connect.api.source import Batch, Idle, Offsets, SourceOffset
from connect.connectors.jdbc.source import JdbcSource
from connect.connectors.jdbc.source_settings import JdbcSourceSettings
from tests.connect.connectors.jdbc.sample_database import SampleDatabase

PREFIX = "db-"


def jdbc_source(database: SampleDatabase | str, mode: str, **settings: object) -> JdbcSource:
    """A source that polls as often as it is asked to. Underscores in the names of settings stand for dots."""
    url = database if isinstance(database, str) else database.url
    config = {"connection.url": url, "topic.prefix": PREFIX, "mode": mode, "poll.interval.ms": "0"}
    config |= {"connection.backoff.ms": "10"}
    config |= {name.replace("_", "."): str(value) for name, value in settings.items()}
    return JdbcSource(read(JdbcSourceSettings, config))


class Task:
    """Reads all shards of a source, from offsets on."""

    def __init__(self, source: JdbcSource, offsets: Offsets | None = None) -> None:
        self._items: Iterator[Batch | Idle] = source.read(source.shards(), offsets or Offsets())

    def batch(self) -> Batch:
        """The next batch, which must be there."""
        item = next(self._items)
        assert isinstance(item, Batch)
        return item

    def poll_for_ever(self) -> Iterator[Batch]:
        """Every batch that comes, until something fails."""
        return (item for item in self._items if isinstance(item, Batch))

    def poll(self) -> list[Batch]:
        """Everything until the source has nothing more to read for now."""
        batches: list[Batch] = []
        for item in self._items:
            if isinstance(item, Idle):
                break
            batches.append(item)
        return batches

    def records(self) -> list[Record]:
        return [record for batch in self.poll() for record in batch.records]

    def values(self, field: str) -> list[Any]:
        return [record.value[field] for record in self.records()]

    def close(self) -> None:
        close: Any = getattr(self._items, "close")  # noqa: B009 - iterators that are generators have it
        close()


def read_once(source: JdbcSource, offsets: Offsets | None = None) -> list[Batch]:
    """One poll of each table."""
    task = Task(source, offsets)
    try:
        return task.poll()
    finally:
        task.close()


def records_of(batches: list[Batch]) -> list[Record]:
    return [record for batch in batches for record in batch.records]


def offsets_after(batches: list[Batch]) -> Offsets:
    """What a worker would keep once these batches were delivered."""
    kept: dict[str, SourceOffset] = {}
    for batch in batches:
        kept |= {repr(sorted(each.partition.items())): each for each in batch.offsets}
    return Offsets(kept.values())
