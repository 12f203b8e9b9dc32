"""Texts with several statements: each with its place, as soon as it is whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from streams_sql.language.splitting import placed_statements
from streams_sql.problem import Lines, SqlProblem, SyntaxProblem, shown


@dataclass(frozen=True, slots=True)
class Position:
    """Where a statement begins: in a file or in what else was given, as the number-th statement. Lines and columns begin at 1. `margin` are
    the columns that stand before each line of the text in its file; None: unknown."""

    script: str
    number: int
    line: int
    column: int
    margin: int | None = 0

    def prefix(self, line: int | None = None, column: int | None = None) -> str:
        """The place of the statement, or of a word in it, whose line and column count from the statement's beginning. The first statement
        of a text without a name needs no place unless it has several lines."""
        is_first = not self.script and self.number == 1
        which = "" if is_first else f"statement {self.number}: "
        script = f"{self.script}:" if self.script else "line "
        if line is None or column is None:
            return "" if is_first else f"{script}{self.line}: {which}"
        if self.margin is None:
            return f"{script}{self.line + line - 1}: {which}"
        within = column + self.margin + (self.column - 1 if line == 1 else 0)
        return f"{script}{self.line + line - 1}:{within}: {which}"


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    text: str
    place: Position


class UnreadableScript(Exception):
    """The text comes to its end within a string, a quoted name or a comment."""


def placed(lines: Iterable[str], script: str, margin: int | None = 0) -> Iterator[PlacedStatement]:
    """The statements of a text that comes line by line. UnreadableScript."""
    pending, first_line, count = "", 1, 0
    for line in lines:
        pending += line
        if ";" not in line or not is_whole(pending):
            continue
        for statement in _within(pending, Position(script, count, first_line, 1, margin)):
            count += 1
            yield statement
        first_line += pending.count("\n")
        pending = ""
    try:
        yield from _within(pending, Position(script, count, first_line, 1, margin))
    except SyntaxProblem as problem:
        place = Position(script, count + 1, first_line, 1, margin)
        raise UnreadableScript(problem_text(pending, problem, place)) from None


def problem_text(text: str, problem: SqlProblem, place: Position | None) -> str:
    """What is wrong with a text that begins at a place, with its line and a caret."""
    position = problem.position
    if place is None:
        return shown(text, problem)
    if position is None:
        return place.prefix() + problem.message
    return place.prefix(position.line, position.column) + shown(text, problem)


def is_whole(text: str) -> bool:
    """Whether the last statement has its semicolon. One inside of a string or a comment ends nothing."""
    try:
        statements = placed_statements(text)
    except SqlProblem:
        # A string or a comment goes on in the next line.
        return False
    return bool(statements) and statements[-1][1].endswith(";")


def _within(text: str, before: Position) -> Iterator[PlacedStatement]:
    """The statements of a text that begins where others end."""
    starts = Lines(text)
    for number, (start, statement) in enumerate(placed_statements(text), before.number + 1):
        position = starts.position(start, 1)
        place = replace(before, number=number, line=before.line + position.line - 1, column=position.column)
        yield PlacedStatement(statement, place)
