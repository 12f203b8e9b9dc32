"""What is wrong with a statement, and where."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

WORD_CHARACTERS_MAX: Final = 60
"""Of what a message quotes."""

DOUBLE_QUOTE: Final = '"'
"""Around names, as the backtick."""

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the text of a statement: line and column begin at 1, `length` is that of the word that is meant."""

    line: int
    column: int
    length: int = 1


class Lines:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(newline.end() for newline in _NEWLINE.finditer(text))]

    def is_at(self, start: int, sign: str) -> bool:
        """Whether it stands at this offset."""
        return self._text.startswith(sign, start)

    def position(self, start: int, length: int) -> Position:
        """Of the word that begins at this offset."""
        line = bisect_right(self._starts, start)
        return Position(line, start - self._starts[line - 1] + 1, length)


class SqlProblem(Exception):
    """A statement that cannot be done. `message` says what, which value, why and what to do; the caret is drawn by who has the text."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


@contextmanager
def placed_at(position: Position | None) -> Iterator[None]:
    """What goes wrong within and has no place of its own is about this one."""
    try:
        yield
    except SqlProblem as problem:
        if problem.position is None:
            problem.position = position
        raise


class SyntaxProblem(SqlProblem):
    """The text is no statement at all."""


def shortened(text: str) -> str:
    """For a message: statements may have very long words."""
    return text if len(text) <= WORD_CHARACTERS_MAX else f"{text[:WORD_CHARACTERS_MAX]}…"


def shown(text: str, problem: SqlProblem) -> str:
    """The message with the line of the statement and a caret below the word that is meant."""
    position = problem.position
    lines = _NEWLINE.split(text)
    if position is None or not 0 < position.line <= len(lines):
        return problem.message
    line = lines[position.line - 1]
    lead = "".join("\t" if character == "\t" else " " for character in line[: position.column - 1])
    length = max(1, min(position.length, len(line) - len(lead)))
    return f"{problem.message}\n  {line}\n  {lead}{'^' * length}"
