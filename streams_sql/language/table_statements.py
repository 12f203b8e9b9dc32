"""Statements about the rows of tables, and how they are found."""

from __future__ import annotations

from dataclasses import dataclass, field

from streams_sql.language.expressions import Expression
from streams_sql.problem import Position


@dataclass(frozen=True, slots=True)
class CreateIndex:
    name: str
    table: str
    columns: tuple[str, ...]
    if_not_exists: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the table's name."""


@dataclass(frozen=True, slots=True)
class DropIndex:
    name: str
    if_exists: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class DeleteRows:
    target: str
    where: Expression
    position: Position | None = field(default=None, compare=False)
    """Of the target's name."""
