"""The JDBC source: rows of tables, or of a query, as records."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from connect.api.source import Batch, Idle, JsonObject, Offsets, Shard, Source, SourceOffset, require_names
from connect.connectors.jdbc.column_readings import ReadingRules
from connect.connectors.jdbc.database import Database, MissingTableError
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.increments import Mode
from connect.connectors.jdbc.positions import (
    INCREMENTING,
    POSITION_NAMES,
    PROTOCOL,
    QUERY,
    QUERY_PARTITION,
    TABLE,
    TIMESTAMP,
    older_table_partition,
    position_of,
    table_partition,
)
from connect.connectors.jdbc.queries import Selection, Target
from connect.connectors.jdbc.reader import Reader, ReaderRules
from connect.connectors.jdbc.row_positions import RowPositions
from connect.connectors.jdbc.session import Session
from connect.connectors.jdbc.source_settings import JdbcSourceSettings
from connect.errors import ConnectError, InvalidOffsets, Problem, Retry

log = logging.getLogger(__name__)

MILLISECONDS_PER_SECOND: Final = 1000
SCHEMA: Final = "schema"
CHECKED_TABLES_MAX: Final = 20
"""How many tables are looked at when a configuration is validated."""
_PARTITION_NAMES: Final = ({TABLE, PROTOCOL}, {TABLE}, {QUERY})


class JdbcSource(Source[JdbcSourceSettings]):
    """Each table is a shard, and so is the query."""

    settings_type = JdbcSourceSettings

    def __init__(self, settings: JdbcSourceSettings) -> None:
        super().__init__(settings)
        self._failed_reads = 0

    def shards(self) -> Sequence[Shard]:
        if self.settings.all_query:
            return (dict(QUERY_PARTITION),)
        database = self._database()
        with closing(database.connect_patiently(self.settings.connection_attempts)) as connection:
            found = self._tables(database, connection)
        missing = self._missing(found)
        if not found:
            if missing:
                raise MissingTableError(", ".join(missing))
            log.warning("the settings want no table of %s", database.name)
        for name in missing:
            log.error("%s; the other tables are read on", MissingTableError(name))
        return [{TABLE: str(table), SCHEMA: table.schema} for table in found]

    @property
    def rescan_s(self) -> float | None:
        return None if self.settings.all_query else self.settings.table_poll_interval_ms / MILLISECONDS_PER_SECOND

    @property
    def is_exactly_once(self) -> bool:
        """Rows of equal times are read again after a crash among them, and so are those of a window of look-back, and a bulk."""
        return Mode(self.settings.mode).has_incrementing and not self.settings.window().is_open

    def check(self) -> Iterator[Problem]:
        try:
            database = self._database()
            with closing(database.connect()) as connection:
                yield from self._table_problems(database, connection)
        except ConnectError as error:
            yield Problem("connection.url", str(error))

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        """What is forgotten may be of a table that is not there any more."""
        for partition, offset in offsets:
            if set(partition) not in _PARTITION_NAMES:
                example = table_partition(TableName("public", "users"))
                raise InvalidOffsets(f"{dict(partition)} names no table: expected a partition such as {example}")
            if offset is not None:
                self._check_offset(offset)
        self._check_partitions([partition for partition, offset in offsets if offset is not None])

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        try:
            yield from self._read(shards, offsets)
        except Retry as error:
            self._failed_reads += 1
            attempts = self.settings.query_retry_attempts
            if 0 <= attempts < self._failed_reads:
                raise ConnectError(f"{error} (query.retry.attempts={attempts} are used up)") from None
            raise

    def _read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        database = self._database()
        rules = self._rules(database)
        readers = [self._reader(database, rules, shard, offsets) for shard in shards]
        with closing(Session(database, self.settings.isolation)) as session:
            yield from self._turns(readers, session)

    def _turns(self, readers: Sequence[Reader], session: Session) -> Iterator[Batch | Idle]:
        """Poll each table when it is due. A table that is missing is no reason to stop, unless all are."""
        interval_s = self.settings.poll_interval_ms / MILLISECONDS_PER_SECOND
        due = dict.fromkeys(readers, 0.0)
        missing: set[Reader] = set()
        while True:
            for reader in [reader for reader in readers if due[reader] <= time.monotonic()]:
                due[reader] = time.monotonic() + interval_s
                try:
                    yield from reader.poll(session)
                except MissingTableError as error:
                    if len(missing | {reader}) == len(readers):
                        raise
                    if reader not in missing:
                        log.error("%s; the other tables are read on", error)
                    missing.add(reader)
                    continue
                self._failed_reads = 0
                missing.discard(reader)
                if reader.has_more:
                    due[reader] = 0.0
            next_due = min(due.values(), default=time.monotonic() + interval_s)
            if next_due > 0:
                yield Idle(max(next_due - time.monotonic(), 0))

    def _database(self) -> Database:
        """ConnectError where there is none: drivers would make an empty file, in which nothing is ever found."""
        file = self.settings.database_url().file
        if file is not None and not file.exists():
            raise ConnectError(f"there is no file {file.absolute()}: name that of a database in connection.url")
        return Database.of(self.settings)

    def _rules(self, database: Database) -> ReaderRules:
        settings = self.settings
        return ReaderRules(
            settings.increments(),
            ReadingRules(database.capabilities, database.timezone, settings.numbers(), settings.granularity()),
            settings.batch_max_rows,
            settings.window(),
            timedelta(milliseconds=settings.timestamp_delay_interval_ms),
            settings.timestamp_initial,
            settings.query_suffix.strip(),
        )

    def _reader(self, database: Database, rules: ReaderRules, shard: Shard, offsets: Offsets) -> Reader:
        prefix = self.settings.topic_prefix
        if QUERY in shard:
            position = position_of(offsets.get(QUERY_PARTITION))
            return Reader(database, Target(None, self.settings.all_query), prefix, QUERY_PARTITION, position, rules)
        table = _table_of(shard)
        partition = table_partition(table)
        found = offsets.get(partition) or offsets.get(older_table_partition(table))
        return Reader(database, Target(table), f"{prefix}{table.name}", partition, position_of(found), rules)

    def _check_offset(self, offset: JsonObject) -> None:
        mode = Mode(self.settings.mode)
        if mode is Mode.BULK:
            raise InvalidOffsets("mode bulk has no offsets: a table is read as a whole each time")
        require_names(offset, POSITION_NAMES)
        position = position_of(offset)
        is_reached = (mode.has_incrementing and position.incrementing is not None) or (
            mode.has_timestamps and position.timestamp is not None
        )
        if not is_reached:
            names = [INCREMENTING] * mode.has_incrementing + [TIMESTAMP] * mode.has_timestamps
            raise InvalidOffsets(
                f"the offset {dict(offset)} has no {' and no '.join(names)}, as mode={mode.value} needs"
            )

    def _check_partitions(self, partitions: Sequence[JsonObject]) -> None:
        if not partitions:
            return
        known: list[JsonObject] = [QUERY_PARTITION]
        older: list[JsonObject] = []
        if not self.settings.all_query:
            try:
                database = self._database()
                with closing(database.connect()) as connection:
                    tables = self._tables(database, connection)
            except ConnectError as error:
                log.warning("whether there are tables for the offsets is not known: %s", error)
                return
            known = [table_partition(table) for table in tables]
            older = [older_table_partition(table) for table in tables]
        for partition in partitions:
            if partition not in known and partition not in older:
                shown = (
                    ", ".join(str(dict(each)) for each in known[:CHECKED_TABLES_MAX]) or "none, as there are no tables"
                )
                raise InvalidOffsets(f"{dict(partition)} is nothing that this connector reads: expected {shown}")

    def _tables(self, database: Database, connection: Connection) -> list[TableName]:
        with database.explained(f"cannot look for tables in {database.name}"):
            reflection = database.reflection(connection)
            return self.settings.table_filter().tables(reflection, database.capabilities)

    def _missing(self, found: Sequence[TableName]) -> list[str]:
        """Tables that the settings name and that are not there."""
        names = {name for table in found for name in (table.name, str(table))}
        return [wanted for wanted in self.settings.table_whitelist if wanted not in names]

    def _table_problems(self, database: Database, connection: Connection) -> Iterator[Problem]:
        if self.settings.all_query:
            yield from self._query_problems(database, connection)
            return
        tables = self._tables(database, connection)
        for name in self._missing(tables):
            yield Problem("table.whitelist", str(MissingTableError(name)))
        increments = self.settings.increments()
        for each in tables[:CHECKED_TABLES_MAX]:
            table = database.describe(connection, each)
            if table is not None:
                try:
                    increments.of(table)
                except ConnectError as error:
                    yield Problem("mode", str(error))

    def _query_problems(self, database: Database, connection: Connection) -> Iterator[Problem]:
        """A query that is wrong, or has not the columns. In bulk mode it may be what no other query can go around."""
        increment = self.settings.increments().of_query()
        target = Target(None, self.settings.all_query)
        selection = Selection(target, increment, database.identifiers, database.capabilities)
        if not selection.is_ordered:
            return
        try:
            with database.explained(f"cannot read {target}"), closing(connection.connection.cursor()) as cursor:
                cursor.execute(selection.no_rows().text, [])
                RowPositions.of(str(target), increment, None, [column[0] for column in cursor.description])
        except ConnectError as error:
            yield Problem("query", str(error))


def _table_of(shard: Shard) -> TableName:
    """The table of a shard. The schema stands there by itself, since names of tables may have dots."""
    name, schema = str(shard[TABLE]), shard.get(SCHEMA)
    return TableName(None, name) if schema is None else TableName(str(schema), name.removeprefix(f"{schema}."))
