"""The statements that change rows, in the words of each database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from connect.connectors.jdbc.capabilities import Capabilities, Upsert
from connect.connectors.jdbc.identifiers import Identifiers, TableName
from connect.connectors.jdbc.writing.rows import Target

STAGE_ALIAS: Final = "staged"


def sentence(*words: str) -> str:
    return " ".join(filter(None, words))


@dataclass(frozen=True, slots=True)
class Statements:
    """`uses_holdlock` is SQL Server's care for a MERGE that others disturb."""

    capabilities: Capabilities
    identifiers: Identifiers
    uses_holdlock: bool = True

    def table(self, table: TableName) -> str:
        return self.identifiers.table(table)

    def columns(self, names: Iterable[str]) -> str:
        return self.identifiers.columns(tuple(names))

    def into(self, target: Target) -> str:
        return f"{self.table(target.table)} ({self.columns(target.columns)})"

    def insert(self, target: Target) -> str:
        """With a mark for each parameter, as all that follow without `from`."""
        marks = ", ".join(self._mark_list(len(target.columns)))
        return sentence("INSERT INTO", self._marked(self.into(target)), "VALUES", f"({marks})")

    def upsert(self, target: Target) -> str:
        """For databases that have one statement for it."""
        if self.capabilities.upsert is Upsert.MERGE:
            return self._merge(target)
        return sentence(self.insert(target), self._marked(self.conflict_clause(target)))

    def conflict_clause(self, target: Target) -> str:
        """What stands behind an INSERT to make it change rows that exist."""
        column = self.identifiers.column
        if self.capabilities.upsert is Upsert.ON_DUPLICATE_KEY:
            changes = self._list(lambda name: f"{column(name)} = VALUES({column(name)})", target.others or target.keys)
            return f"ON DUPLICATE KEY UPDATE {changes}"
        keys = self.columns(target.keys)
        if not target.others:
            return f"ON CONFLICT ({keys}) DO NOTHING"
        changes = self._list(lambda name: f"{column(name)} = excluded.{column(name)}", target.others)
        return f"ON CONFLICT ({keys}) DO UPDATE SET {changes}"

    def update(self, target: Target) -> str:
        """The parameters are those of the other columns, and then the key's."""
        column = self.identifiers.column
        marks = iter(self._mark_list(len(target.columns)))
        changes = ", ".join(f"{self._marked(column(name))} = {next(marks)}" for name in target.others)
        keys = " AND ".join(f"{self._marked(column(name))} = {next(marks)}" for name in target.keys)
        return sentence("UPDATE", self._marked(self.table(target.table)), "SET", changes, "WHERE", keys)

    def delete(self, target: Target) -> str:
        return sentence("DELETE FROM", self._where_key(target))

    def select(self, target: Target) -> str:
        """The other columns of a row by its key."""
        return sentence("SELECT", self._marked(self.columns(target.others)), "FROM", self._where_key(target))

    def _where_key(self, target: Target) -> str:
        marks = zip(target.keys, self._mark_list(target.key_count), strict=True)
        keys = " AND ".join(f"{self._marked(self.identifiers.column(name))} = {mark}" for name, mark in marks)
        return f"{self._marked(self.table(target.table))} WHERE {keys}"

    def update_from(self, target: Target, source: str) -> str:
        """`source` has the rows, under the names of the columns."""
        column = self.identifiers.column
        changes = self._list(lambda name: f"{column(name)} = {STAGE_ALIAS}.{column(name)}", target.others)
        table, source = self.table(target.table), f"{source} AS {STAGE_ALIAS}"
        return sentence("UPDATE", table, "AS target SET", changes, "FROM", source, "WHERE", self._same(target))

    def update_join(self, target: Target, source: str) -> str:
        """The same in the words of MySQL."""
        column = self.identifiers.column
        changes = self._list(lambda name: f"target.{column(name)} = {STAGE_ALIAS}.{column(name)}", target.others)
        table, source = self.table(target.table), f"{source} AS {STAGE_ALIAS}"
        return sentence("UPDATE", table, "AS target JOIN", source, "ON", self._same(target), "SET", changes)

    def delete_from(self, target: Target, source: str) -> str:
        table, source = self.table(target.table), f"{source} AS {STAGE_ALIAS}"
        return sentence("DELETE FROM", table, "AS target USING", source, "WHERE", self._same(target))

    def _same(self, target: Target) -> str:
        column = self.identifiers.column
        return " AND ".join(f"target.{column(name)} = {STAGE_ALIAS}.{column(name)}" for name in target.keys)

    def _merge(self, target: Target) -> str:
        """SQL Server's and Oracle's; the latter takes neither AS before an alias nor a SELECT without FROM."""
        column = self.identifiers.column
        alias = self.capabilities.subquery_alias
        hint = " WITH (HOLDLOCK)" if self.capabilities.has_merge_holdlock and self.uses_holdlock else ""
        changes = self._list(lambda name: f"target.{column(name)} = {STAGE_ALIAS}.{column(name)}", target.others)
        matched = f"WHEN MATCHED THEN UPDATE SET {changes}" if target.others else ""
        inserted = self._list(lambda name: f"{STAGE_ALIAS}.{column(name)}", target.columns)
        marks = zip(self._mark_list(len(target.columns)), target.columns, strict=True)
        values = ", ".join(f"{mark} AS {self._marked(column(name))}" for mark, name in marks)
        return sentence(
            "MERGE INTO",
            f"{self._marked(self.table(target.table))}{hint} {alias}target",
            sentence("USING (SELECT", values, f"{'' if alias else 'FROM DUAL'})", f"{alias}{STAGE_ALIAS}"),
            self._marked(f"ON ({self._same(target)}) {matched}"),
            self._marked(f"WHEN NOT MATCHED THEN INSERT ({self.columns(target.columns)})"),
            self._marked(f"VALUES ({inserted})") + (";" if alias else ""),
        )

    def _mark_list(self, count: int) -> list[str]:
        match self.identifiers.dialect.paramstyle:
            case "qmark":
                return ["?"] * count
            case "format" | "pyformat":
                return ["%s"] * count
            case "numeric_dollar":
                return [f"${number}" for number in range(1, count + 1)]
            case _:
                return [f":{number}" for number in range(1, count + 1)]

    def _marked(self, text: str) -> str:
        """Where % is a mark for parameters, names have it doubled."""
        return text.replace("%", "%%") if "format" in self.identifiers.dialect.paramstyle else text

    @staticmethod
    def _list(write: Callable[[str], str], names: Iterable[str]) -> str:
        return ", ".join(map(write, names))
