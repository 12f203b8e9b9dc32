"""What a test asserts: rows that a source is to have, and what a source is to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from streams_sql.analysis.catalogue_view import CatalogueView, choice_hint, source_hint
from streams_sql.analysis.definition import declared_schema
from streams_sql.analysis.insertion import column_value
from streams_sql.analysis.with_clause import WithClause
from streams_sql.language.expressions import Expression
from streams_sql.language.statements import AssertRows, AssertSource
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column, KeyWindow, Source
from streams_sql.typed import Literal, Typed


@dataclass(frozen=True, slots=True)
class Expectation:
    """The next rows of a source. A column that is not named is to be NULL, as INSERT would leave it; ROWTIME and the bounds of windows
    are compared where they are named. `is_deletion`: the keys of records without a value."""

    source: Source
    rows: tuple[Mapping[str, Typed], ...]
    is_deletion: bool


class Difference(NamedTuple):
    what: str
    expected: str
    found: str


def plan_expectation(statement: AssertRows, catalogue: CatalogueView) -> Expectation:
    rows = statement.rows
    source = _source(rows.target, catalogue, rows.position)
    key = source.schema.key
    columns = key if statement.is_deletion else (*key, *source.schema.value)
    if statement.is_deletion and not key:
        raise SqlProblem(f"{source.name} has no key, so that no record of it deletes anything.", rows.position)
    extra = {ROWTIME: PSEUDO_COLUMNS[ROWTIME]} | (WINDOW_BOUNDS if source.key_window is not None else {})
    known = {column.name: column for column in (*columns, *(Column(name, type_) for name, type_ in extra.items()))}
    names = rows.columns or tuple(column.name for column in columns)
    for place, name in enumerate(names):
        if name not in known:
            position = rows.places[place] if rows.places else rows.position
            raise SqlProblem(f"{source.name} has no column {name} to compare.{choice_hint(name, known)}", position)
    if len(set(names)) < len(names):
        raise SqlProblem("A column is named more than once.", rows.position)
    nothing: Mapping[str, Typed] = {column.name: Literal(None, column.type) for column in columns}
    found = tuple({**nothing, **_values(names, row, known, rows.position)} for row in rows.rows)
    return Expectation(source, found, statement.is_deletion)


def _values(
    names: tuple[str, ...], row: tuple[Expression, ...], known: Mapping[str, Column], position: Position | None
) -> Mapping[str, Typed]:
    if len(names) != len(row):
        raise SqlProblem(
            f"Expected a value for each column: there are {len(names)} columns ({', '.join(names)}) and {len(row)} values.",
            row[0].position if row else position,
        )
    return {name: column_value(known[name], each) for name, each in zip(names, row, strict=True)}


def _source(name: str, catalogue: CatalogueView, position: Position | None) -> Source:
    source = catalogue.source(name)
    if source is None:
        raise SqlProblem(f"There is no stream or table {name}.{source_hint(catalogue, name)}", position)
    return source


def differences(statement: AssertSource, catalogue: CatalogueView) -> list[Difference]:
    """In what a source is not what a test asks for. What the statement does not say is not compared. SqlProblem where there is none."""
    source = _source(statement.source.name, catalogue, statement.source.position)
    return [each for each in _compared(statement, source) if each.expected != each.found]


def _compared(statement: AssertSource, source: Source) -> Iterator[Difference]:
    wanted = statement.source
    yield Difference("type", wanted.kind.value, source.kind.value)
    if wanted.columns:
        schema = declared_schema(wanted)
        yield Difference("schema", str(schema), str(source.schema))
        yield Difference("headers", str(schema.headers), str(source.schema.headers))
    clause = WithClause(wanted.properties, is_source=True)
    key, value, timestamp = clause.key_format, clause.value_format, source.timestamp
    named = (
        ("kafka topic", clause.topic, source.topic),
        ("key format", key.name and key.name.upper(), source.key_format.name),
        ("value format", value.name and value.name.upper(), source.value_format.name),
        ("key delimiter", key.delimiter, source.key_format.delimiter),
        ("value delimiter", value.delimiter, source.value_format.delimiter),
        ("value schema name", value.full_name, source.value_format.full_name),
        ("serde options", clause.wrap_single_value, source.value_format.is_wrapped),
        ("timestamp column", clause.timestamp_column, None if timestamp is None else timestamp.column),
        ("timestamp format", clause.timestamp_format, None if timestamp is None else timestamp.pattern),
        ("window", _window_text(clause.window), _window_text(source.key_window)),
    )
    for what, expected, found in named:
        if expected is not None:
            yield Difference(what, str(expected), "none" if found is None else str(found))


def _window_text(window: KeyWindow | None) -> str | None:
    if window is None:
        return None
    return window.kind.value if window.size_ms is None else f"{window.kind.value} of {window.size_ms} ms"
