"""The tables that are written to: found, made, or given new columns."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from connect.connectors.jdbc.database import Database
from connect.connectors.jdbc.identifiers import QuoteMode, TableName
from connect.connectors.jdbc.tables import Table
from connect.connectors.jdbc.writing.definitions import Definitions, NewColumn
from connect.errors import ConnectError, DataError, Retry

log = logging.getLogger(__name__)

_VIEWS: Final = ("VIEW",)


@dataclass(frozen=True, slots=True)
class StructureRules:
    """What of `auto.create`, `auto.evolve` and `table.types` is set."""

    creates: bool
    evolves: bool
    kinds: frozenset[str]


class Structures:
    """Knows the tables until somebody tells that they may have changed."""

    def __init__(self, database: Database, rules: StructureRules) -> None:
        self._database = database
        self._rules = rules
        self._definitions = Definitions(database.capabilities, database.identifiers)
        self._tables: dict[TableName, Table] = {}

    def forget(self) -> None:
        self._tables.clear()

    def find(self, connection: Connection, name: TableName) -> Table | None:
        """The table, if there is one."""
        if name not in self._tables:
            table = self._described(connection, name)
            if table is None:
                return None
            self._tables[name] = table
        return self._tables[name]

    def with_columns(self, connection: Connection, name: TableName, columns: Sequence[NewColumn]) -> Table:
        """The table with columns for all of these, which it gets now if it lacks them. Not within a transaction. DataError when it may not
        get them: other records may do without."""
        table = self.find(connection, name)
        if table is None:
            table = self._created(connection, name, columns)
        missing = [column for column in columns if table.column(column.name) is None]
        return self._evolved(connection, table, missing) if missing else table

    def _created(self, connection: Connection, name: TableName, columns: Sequence[NewColumn]) -> Table:
        if not self._rules.creates:
            raise ConnectError(
                f"there is no table {name} in {self._database.name}: create it, set auto.create=true, or correct table.name.format"
            )
        log.info("table %s is made for the fields %s", name, ", ".join(column.name for column in columns))
        return self._defined(connection, name, columns, self._definitions.create_table(name, columns))

    def _evolved(self, connection: Connection, table: Table, missing: Sequence[NewColumn]) -> Table:
        names = ", ".join(column.name for column in missing)
        if not self._rules.evolves:
            raise DataError(
                f"table {table.name} has no column for {names}: add it, set auto.evolve=true, or leave the field out with fields.whitelist"
            )
        if self._is_view(connection, table.name):
            raise ConnectError(f"the view {table.name} has no column for {names}: columns are added to tables alone")
        hopeless = [column.name for column in missing if not column.may_be_added]
        if hopeless:
            raise DataError(
                f"table {table.name} has no column for {', '.join(hopeless)}, and rows that are there already would have no value for it: "
                "make the field optional or give it a default, or add the column yourself"
            )
        log.info("table %s gets columns for the fields %s", table.name, names)
        for column in missing:
            table = self._defined(connection, table.name, [column], self._definitions.add_column(table.name, column))
        return table

    def _defined(self, connection: Connection, name: TableName, columns: Sequence[NewColumn], statement: str) -> Table:
        """That another task has been quicker is no failure: what counts is that the columns are there."""
        failure = None
        try:
            with self._database.explained(f"cannot do {statement}"):
                connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
                connection.commit()
        except Retry:
            raise
        except ConnectError as error:
            connection.rollback()
            failure = error
        self._tables.pop(name, None)
        table = self.find(connection, name)
        if table is not None and all(table.column(column.name) for column in columns):
            return table
        raise failure or ConnectError(f"{statement} has not made the columns: the user may not see table {name}")

    def _described(self, connection: Connection, name: TableName) -> Table | None:
        names = [name]
        if self._database.identifiers.mode is QuoteMode.NEVER:
            # Without quotes, the database decides on upper and lower case.
            names += [name._replace(name=name.name.lower()), name._replace(name=name.name.upper())]
        found = (self._database.describe(connection, each) for each in names)
        table = next((each for each in found if each is not None), None)
        if table is not None and "VIEW" not in self._rules.kinds and self._is_view(connection, table.name):
            raise ConnectError(f"{name} is a view, and table.types does not allow VIEW: add it, or name a table")
        return table

    def _is_view(self, connection: Connection, name: TableName) -> bool:
        with self._database.explained(f"cannot look for views in {self._database.name}"):
            reflection = self._database.reflection(connection)
            views = reflection.tables(name.schema or reflection.own_schema(), _VIEWS)
        return name.name in {view.name for view in views}
