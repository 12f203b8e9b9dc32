"""Files of tests: statements, and comments that say where each test begins and how it is to end.

    --@test: totals count each order once
    --@expected.error: …
    --@expected.message: …

Statements before the first test run before each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from streams_sql.language.splitting import comments, placed_statements
from streams_sql.problem import Lines, Position, SyntaxProblem

MARK: Final = "--@"
TEST: Final = "test"
ERROR: Final = "expected.error"
MESSAGE: Final = "expected.message"
FILE_BYTES_MAX: Final = 10_000_000


class UnreadableFile(Exception):
    """A file that has no tests that could be run, and why. `line` is where, if anywhere."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement, and where in which file it begins."""

    text: str
    path: Path
    line: int
    column: int

    def line_of(self, position: Position | None) -> int:
        """The line of a word in the statement; its first one where no word is meant."""
        return self.line if position is None else self.line + position.line - 1


@dataclass(frozen=True, slots=True)
class SqlTest:
    """`setup` is what all tests of the file begin with, and must go well. `is_refused`: its last statement is to fail, with a message that has `message` in it. The error's class, which files for ksqlDB
    name, is one of Java's, and is not compared."""

    name: str
    path: Path
    line: int
    setup: tuple[PlacedStatement, ...]
    statements: tuple[PlacedStatement, ...]
    is_refused: bool = False
    message: str | None = None


def read_text(path: Path) -> str:
    """UnreadableFile."""
    try:
        with path.open("rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
        if len(raw) > FILE_BYTES_MAX:
            raise UnreadableFile(f"it has more than {FILE_BYTES_MAX} bytes")
        return raw.decode("utf-8-sig")
    except OSError as problem:
        raise UnreadableFile(f"it cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise UnreadableFile(f"it is no text in UTF-8: {problem.reason} at byte {problem.start}") from None


def read_tests(path: Path) -> list[SqlTest]:
    """The tests of a file. UnreadableFile."""
    text = read_text(path)
    lines = Lines(text)
    try:
        marks = [(start, *_directive(comment)) for start, comment in comments(text) if comment.startswith(MARK)]
        begins = [place for place, (_, name, _) in enumerate(marks) if name == TEST]
        if not begins:
            raise UnreadableFile(f"it has no tests: each begins with a comment `{MARK}{TEST}: its name`")
        for start, name, _ in marks[: begins[0]]:
            raise UnreadableFile(f"{MARK}{name} stands before the first {MARK}{TEST}", lines.position(start, 1).line)
        first = marks[begins[0]][0]
        common = tuple(placed(text[:first], path, lines, 0))
        tests = []
        for place, end in zip(begins, [*begins[1:], len(marks)], strict=True):
            start, _, name = marks[place]
            stop = marks[end][0] if end < len(marks) else len(text)
            own = tuple(placed(text[start:stop], path, lines, start))
            asked = _asked(marks[place + 1 : end], lines)
            tests.append(
                SqlTest(
                    name,
                    path,
                    lines.position(start, 1).line,
                    common,
                    own,
                    bool(asked),
                    asked.get(MESSAGE),
                )
            )
    except SyntaxProblem as problem:
        raise UnreadableFile(problem.message, None if problem.position is None else problem.position.line) from None
    return tests


def placed(text: str, path: Path, lines: Lines | None = None, offset: int = 0) -> Iterator[PlacedStatement]:
    """The statements of a text, which begins at an offset of the file that has the lines. SqlProblem."""
    lines = lines or Lines(text)
    for start, statement in placed_statements(text):
        position = lines.position(offset + start, 1)
        yield PlacedStatement(statement, path, position.line, position.column)


def _directive(comment: str) -> tuple[str, str]:
    name, _, value = comment.removeprefix(MARK).partition(":")
    return name.strip().lower(), value.strip()


def _asked(marks: list[tuple[int, str, str]], lines: Lines) -> dict[str, str]:
    """How a test is to end: nothing where all is to go well."""
    found: dict[str, str] = {}
    for start, name, value in marks:
        if name not in (ERROR, MESSAGE):
            known = ", ".join(MARK + each for each in (TEST, ERROR, MESSAGE))
            raise UnreadableFile(f"{MARK}{name} means nothing here. There are {known}.", lines.position(start, 1).line)
        found[name] = value
    return found
