"""The JDBC sink: records as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Final

from connect.api.record import Record
from connect.api.sink import RejectedRecord, Sink, TopicPartition
from connect.connectors.jdbc.database import Database
from connect.connectors.jdbc.identifiers import TableName, parse_table_name
from connect.connectors.jdbc.sink_settings import NO_LIMIT, JdbcSinkSettings
from connect.connectors.jdbc.writing.column_forms import FormRules
from connect.connectors.jdbc.writing.delivery import Delivery
from connect.connectors.jdbc.writing.layouts import Layouts
from connect.connectors.jdbc.writing.run_writer import RunWriter
from connect.connectors.jdbc.writing.runs import RunRules
from connect.connectors.jdbc.writing.statements import Statements
from connect.connectors.jdbc.writing.stored_offsets import StoredOffsets
from connect.connectors.jdbc.writing.structures import StructureRules, Structures
from connect.connectors.jdbc.writing.transactions import Transactions
from connect.errors import ConnectError, Problem, Retry

MILLISECONDS_PER_SECOND: Final = 1000


class JdbcSink(Sink[JdbcSinkSettings]):
    """Each batch is one transaction, which is committed when `write` returns. While the database is away it raises Retry."""

    settings_type = JdbcSinkSettings

    def __init__(self, settings: JdbcSinkSettings) -> None:
        super().__init__(settings)
        self._failed_calls = 0

    def check(self) -> Iterator[Problem]:
        try:
            self._database.connect().close()
        except ConnectError as error:
            yield Problem("connection.url", str(error))

    def start(self) -> None:
        offsets = self._offsets
        if offsets is not None:
            with self._retried(), self._transactions.looking() as connection:
                offsets.make_table(connection)

    def write(self, records: Sequence[Record]) -> Sequence[RejectedRecord]:
        with self._retried():
            return self._delivery.write(records)

    def positions(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        offsets = self._offsets
        if offsets is None:
            return {}
        explained = self._database.explained("cannot read the offsets of exactly.once.table")
        with self._retried(), explained, self._transactions.transaction() as connection:
            found = offsets.positions(connection, partitions)
        return {place: offset for place, offset in found.items() if offset is not None}

    @classmethod
    def keeps_positions(cls, settings: JdbcSinkSettings) -> bool:
        return settings.exactly_once

    def stop(self) -> None:
        self._transactions.close()

    @contextmanager
    def _retried(self) -> Iterator[None]:
        """Whatever needs the database: after an outage there is a new connection."""
        try:
            yield
        except Retry as error:
            self._transactions.close()
            self._failed_calls += 1
            limit = self.settings.max_retries
            if limit != NO_LIMIT and self._failed_calls > limit:
                raise ConnectError(f"{error} (max.retries={limit} are used up)") from None
            raise Retry(str(error), self.settings.retry_backoff_ms / MILLISECONDS_PER_SECOND) from None
        self._failed_calls = 0

    def _table_of(self, topic: str) -> TableName:
        return parse_table_name(self.settings.table_for(topic))

    @cached_property
    def _database(self) -> Database:
        return Database.of(self.settings)

    @cached_property
    def _transactions(self) -> Transactions:
        return Transactions(self._database)

    @cached_property
    def _statements(self) -> Statements:
        database = self._database
        return Statements(database.capabilities, database.identifiers, self.settings.mssql_use_merge_holdlock)

    @cached_property
    def _offsets(self) -> StoredOffsets | None:
        if not self.settings.exactly_once:
            return None
        table = parse_table_name(self.settings.exactly_once_table)
        return StoredOffsets(self._database, self._statements, table, self._table_of)

    @cached_property
    def _delivery(self) -> Delivery:
        settings, database = self.settings, self._database
        structures = Structures(
            database, StructureRules(settings.auto_create, settings.auto_evolve, frozenset(settings.table_types))
        )
        forms = FormRules(
            database.capabilities, database.timezone, settings.epoch_units(), settings.replace_null_with_default
        )
        return Delivery(
            database,
            self._transactions,
            Layouts(structures, settings.field_rules(), forms),
            RunRules(settings.mode(), settings.delete_enabled),
            RunWriter(self._statements, settings.mode(), settings.batch_size),
            self._table_of,
            self._offsets,
            settings.trim_sensitive_log,
            self.tolerates_rejected,
        )
