"""What comes of analysing a query, up to its select list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streams_sql.analysis.relation import Key, Relation
from streams_sql.analysis.scope import Scope
from streams_sql.language.statements import Query
from streams_sql.plan.nodes import Node
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, Source
from streams_sql.sql_types import SqlType
from streams_sql.typed import Typed


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result. `key` is the column of the relation's key that it is, if it is one."""

    name: str
    value: Typed
    type: SqlType
    key: Key | None


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """`relation` is what the outputs are made from."""

    query: Query
    scope: Scope
    relation: Relation
    outputs: tuple[Output, ...]
    is_grouped: bool

    @property
    def node(self) -> Node:
        return self.relation.node

    @property
    def first_source(self) -> Source:
        return self.scope.sources[0].source


def check_names(columns: Iterable[Column], what: str = "value") -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name in seen:
            raise SqlProblem(
                f"Duplicate {what} columns found in schema: {column}. Give one of them another name with AS."
            )
        seen.add(column.name)
