"""ASSERT in tests: the next rows of a source, and what a source is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from streams_sql.analysis.expectation import Expectation, differences, plan_expectation
from streams_sql.analysis.relation import read
from streams_sql.analysis.scope import NamedSource
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.statements.inserts import worked_out
from streams_sql.language.statements import AssertRows, AssertSource
from streams_sql.local.topic_records import record_reader
from streams_sql.plan.pipeline import columns_of
from streams_sql.plan.records import Problem, Records
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column, Source
from streams_sql.testing.memory_queries import RegistryOf
from streams_sql.testing.memory_topics import MemoryTopics, Record
from streams_sql.testing.row_tables import row_table

ROWS_SHOWN_MAX: Final = 20
"""Of a topic, when it has fewer rows than are asserted."""


class NotAsAsserted(SqlProblem):
    """An assertion that does not hold."""


class Checks:
    """Each topic is read from its first record on, one record for each row that is asserted."""

    def __init__(self, catalogue: Catalogue, topics: MemoryTopics, registry_of: RegistryOf) -> None:
        self._catalogue = catalogue
        self._topics = topics
        self._registry_of = registry_of
        self._read: dict[str, int] = {}

    def forget(self, topic: str) -> None:
        """It is read from its beginning again."""
        self._read.pop(topic, None)

    def source(self, statement: AssertSource) -> None:
        found = differences(statement, self._catalogue)
        if found:
            first = found[0]
            raise NotAsAsserted(
                f"Expected {first.what} does not match actual for source {statement.source.name}.\n"
                f"\tExpected: {first.expected}\n\tActual: {first.found}",
                statement.source.position,
            )

    def rows(self, statement: AssertRows) -> None:
        expectation = plan_expectation(statement, self._catalogue)
        for row in expectation.rows:
            expected = {name: worked_out(name, each) for name, each in row.items()}
            self._check(expectation, expected, statement.rows.position)

    def _check(self, expectation: Expectation, expected: Mapping[str, Any], position: Position | None) -> None:
        source = expectation.source
        place, records = self._read.get(source.topic, 0), self._topics.records(source.topic)
        if place >= len(records):
            read_before = [("read", self._found(source, record).values) for record in records[-ROWS_SHOWN_MAX:]]
            rows = row_table(_columns(source), [("expected", expected), *read_before])
            raise NotAsAsserted(
                f"Expected another record, but all records have already been read: {source.name} has {len(records)}.\n{rows}",
                position,
            )
        self._read[source.topic] = place + 1
        found = self._found(source, records[place])
        different = [name for name, value in expected.items() if not _is_same(value, found.values.get(name))]
        if found.is_deletion is not expectation.is_deletion:
            reason = "it deletes its key" if found.is_deletion else "it does not delete its key, but has a value"
        elif different:
            reason = f"{', '.join(different)} {'is' if len(different) == 1 else 'are'} not as expected"
        else:
            return
        rows = row_table(_columns(source), [("expected", expected), ("found", found.values)], different)
        raise NotAsAsserted(
            f"Expected record does not match actual: record {place + 1} of {source.name}: {reason}.\n{rows}", position
        )

    def _found(self, source: Source, record: Record) -> _Found:
        """NotAsAsserted where it cannot be decoded."""
        problems: list[Problem] = []
        plan = read(NamedSource(source.name, source), "")
        reader = record_reader(plan, self._registry_of(source), problems.append)
        rows = reader.rows(Records([record.key], [record.value], [record.timestamp], [0], [record.offset], [()]))
        if problems:
            raise NotAsAsserted(f"Record {record.offset + 1} of {source.name} cannot be read: {problems[0].reason}")
        if not rows:
            # A record of a table that has no key stands for no row.
            return _Found({}, is_deletion=record.value is None)
        values = dict(zip(columns_of(plan), rows[0][:-1], strict=True))
        if rows[0][-1][0]:
            values = {name: value for name, value in values.items() if name not in _value_names(source)}
        return _Found(values, is_deletion=rows[0][-1][0])


class _Found(NamedTuple):
    values: Mapping[str, Any]
    is_deletion: bool


def _value_names(source: Source) -> set[str]:
    return {column.name for column in source.schema.value}


def _columns(source: Source) -> list[Column]:
    bounds = WINDOW_BOUNDS if source.key_window is not None else {}
    beside = {**bounds, ROWTIME: PSEUDO_COLUMNS[ROWTIME]}
    return [*source.schema.key, *source.schema.value, *(Column(name, type_) for name, type_ in beside.items())]


def _is_same(expected: Any, found: Any) -> bool:
    match expected, found:
        case float(), float():
            return expected == found or (math.isnan(expected) and math.isnan(found))
        case list(), list():
            return len(expected) == len(found) and all(map(_is_same, expected, found))
        case dict(), dict():
            return expected.keys() == found.keys() and all(_is_same(expected[key], found[key]) for key in expected)
    return type(expected) is type(found) and bool(expected == found)
