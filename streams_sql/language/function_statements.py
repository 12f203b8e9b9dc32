"""Statements about functions of users, as they were written."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from streams_sql.language.expressions import TypeName
from streams_sql.problem import Position


class FunctionKind(Enum):
    """The values are how they are created."""

    SCALAR = "FUNCTION"
    AGGREGATE = "AGGREGATE FUNCTION"
    TABLE = "TABLE FUNCTION"


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    name: str
    type: TypeName
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CreateFunction:
    """CREATE [OR REPLACE] [AGGREGATE|TABLE] FUNCTION [IF NOT EXISTS] name (a type, …) RETURNS type LANGUAGE PYTHON AS …

    `place` is the module and the name in it; without one, `source` is the code itself. `is_strict`: a NULL among the arguments gives NULL
    without a call."""

    kind: FunctionKind
    name: str
    parameters: tuple[FunctionParameter, ...]
    result: TypeName
    place: tuple[str, str] | None
    source: str = ""
    or_replace: bool = False
    if_not_exists: bool = False
    is_strict: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class DropFunction:
    name: str
    if_exists: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""
