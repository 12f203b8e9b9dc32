"""The shape of a statement: its text with the literals cut out, so that statements that differ in nothing else are told at a glance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

LiteralValue: TypeAlias = str | int

INTEGER_MAX: Final = 2**31 - 1
BIGINT_MAX: Final = 2**63 - 1

# What is in double quotes or backticks is a name, and comments are nothing: both stay as they are. Numbers that are part of a name or
# of another number do not count.
_PIECE: Final = re.compile(
    r"""(?P<kept>"[^"]*"|`[^`]*`|--[^\r\n]*|/\*.*?\*/)|'(?P<text>(?:[^']|'')*)'|(?<![\w@.])(?P<number>[0-9]{1,19})(?![\w@.])""",
    re.DOTALL,
)
_TEXT: Final = "?'"
_INTEGER: Final = "?i"
_BIGINT: Final = "?b"


class Cut(NamedTuple):
    """`pieces` are what stands around the literals, one more than there are; `marks` are the kinds of the literals."""

    pieces: tuple[str, ...]
    marks: tuple[str, ...]
    literals: tuple[LiteralValue, ...]

    @property
    def shape(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.pieces, self.marks

    def text_with(self, literals: Sequence[LiteralValue]) -> str:
        """The statement with other literals."""
        parts = [self.pieces[0]]
        for literal, piece in zip(literals, self.pieces[1:], strict=True):
            written = str(literal) if isinstance(literal, int) else f"'{literal.replace(chr(39), chr(39) * 2)}'"
            parts += [written, piece]
        return "".join(parts)


def cut(text: str) -> Cut:
    """Texts, and whole numbers by the type that they have: INTEGER or BIGINT. All other literals stay in the text."""
    pieces: list[str] = []
    marks: list[str] = []
    literals: list[LiteralValue] = []
    start = 0
    for found in _PIECE.finditer(text):
        group = found.lastgroup
        if group == "text":
            mark: str | None = _TEXT
            literal: LiteralValue = found[group].replace("''", "'")
        elif group == "number":
            literal = int(found[group])
            mark = _kind(literal)
        else:
            continue
        if mark is None:
            continue
        pieces.append(text[start : found.start()])
        marks.append(mark)
        literals.append(literal)
        start = found.end()
    pieces.append(text[start:])
    return Cut(tuple(pieces), tuple(marks), tuple(literals))


def _kind(number: int) -> str | None:
    """None for the one number whose type depends on a minus before it, and for what is too large."""
    if number <= INTEGER_MAX:
        return _INTEGER
    return _BIGINT if INTEGER_MAX + 1 < number <= BIGINT_MAX else None


def stand_ins(parts: Cut, used: frozenset[LiteralValue]) -> list[LiteralValue]:
    """A literal of the same kind for each, all different, and none that the statement has."""
    first = {_TEXT: 0, _INTEGER: 1_000_003, _BIGINT: 1_000_000_000_000_037}
    found: list[LiteralValue] = []
    taken = set(used)
    for mark in parts.marks:
        number = first[mark]
        while (literal := f"stand-in {number}" if mark == _TEXT else number) in taken:
            number += 1
        taken.add(literal)
        found.append(literal)
    return found
