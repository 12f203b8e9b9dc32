"""Offsets that are kept in the database, in the transactions of the rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

from sqlalchemy import Connection

from connect.api.record import Record
from connect.api.sink import TopicPartition
from connect.connectors.jdbc.database import Database
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.writing.definitions import NewColumn
from connect.connectors.jdbc.writing.executions import ExecutingWriter
from connect.connectors.jdbc.writing.rows import Rows, Target
from connect.connectors.jdbc.writing.statements import Statements
from connect.connectors.jdbc.writing.structures import StructureRules, Structures
from connect.data.schema import INT32, INT64, STRING

log = logging.getLogger(__name__)

_KEYS: Final = ("target_table", "topic", "kafka_partition")
_NEXT_OFFSET: Final = "next_offset"
_COLUMNS: Final = (
    *(NewColumn(name, schema, is_key=True) for name, schema in zip(_KEYS, (STRING, STRING, INT32), strict=True)),
    NewColumn(_NEXT_OFFSET, INT64.as_optional()),
)


class StoredOffsets:
    """The next offset of each partition, for the table that its records go to: a connector that is made anew goes on where another was."""

    def __init__(
        self, database: Database, statements: Statements, table: TableName, table_of: Callable[[str], TableName]
    ) -> None:
        self._database = database
        self._statements = statements
        self._table_of = table_of
        self._target = Target(table, (*_KEYS, _NEXT_OFFSET), len(_KEYS))
        self._structures = Structures(database, StructureRules(creates=True, evolves=False, kinds=frozenset({"TABLE"})))

    def make_table(self, connection: Connection) -> None:
        self._structures.with_columns(connection, self._target.table, _COLUMNS)

    def positions(
        self, connection: Connection, partitions: Iterable[TopicPartition], *, locks: bool = False
    ) -> dict[TopicPartition, int | None]:
        """The offsets of the partitions that are known, None for those of which nothing was written yet. Locked, they stay as they are
        until the transaction ends, whoever else writes.
        """
        statement = self._statements.select(self._target) + (self._database.capabilities.row_lock if locks else "")
        found: dict[TopicPartition, int | None] = {}
        with closing(connection.connection.cursor()) as cursor:
            # In one order, so that two tasks never wait for each other.
            for place in sorted(partitions):
                cursor.execute(statement, self._key(place))
                row = cursor.fetchone()
                if row is not None:
                    found[place] = row[0]
        return found

    def fresh(self, connection: Connection, records: Sequence[Record]) -> Sequence[Record]:
        """Without the records that were written before. What is left is ours alone until the transaction ends."""
        places = _ends(records)
        positions = self.positions(connection, places, locks=True)
        if len(positions) < len(places):
            self._claim(connection, [place for place in places if place not in positions])
            positions = self.positions(connection, places, locks=True)
        fresh = [record for record in records if not _is_before(record, positions)]
        if len(fresh) < len(records):
            log.info("%d records are in the tables already and are passed over", len(records) - len(fresh))
        return fresh

    def store(self, connection: Connection, records: Sequence[Record]) -> None:
        """Say that everything up to these records is written. They were `fresh` before."""
        rows = [(*self._key(place), end) for place, end in _ends(records).items()]
        if rows:
            ExecutingWriter(connection, self._statements).update(self._target, Rows(list(zip(*rows, strict=True))))

    def _claim(self, connection: Connection, places: Iterable[TopicPartition]) -> None:
        """Make rows that can be locked; whoever does the same at the same time waits."""
        rows = [self._key(place) for place in sorted(places)]
        writer = ExecutingWriter(connection, self._statements)
        writer.upsert(self._target.key_alone, Rows(list(zip(*rows, strict=True))))

    def _key(self, place: TopicPartition) -> tuple[Any, ...]:
        return (str(self._table_of(place.topic)), place.topic, place.partition)


def _is_before(record: Record, positions: Mapping[TopicPartition, int | None]) -> bool:
    if record.offset is None or record.partition is None:
        return False
    return record.offset < (positions.get(TopicPartition(record.topic, record.partition)) or 0)


def _ends(records: Iterable[Record]) -> Mapping[TopicPartition, int]:
    """The offsets behind the last records of each partition."""
    ends: dict[TopicPartition, int] = {}
    for record in records:
        if record.offset is not None and record.partition is not None:
            place = TopicPartition(record.topic, record.partition)
            ends[place] = max(ends.get(place, 0), record.offset + 1)
    return ends
