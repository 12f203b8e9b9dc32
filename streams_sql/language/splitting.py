"""Texts with several statements, taken apart at the semicolons that are no part of a string, a quoted name or a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from streams_sql.problem import Lines, SyntaxProblem

STRING_OR_NAME: Final = r"""'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|`[^`]*(?:``[^`]*)*`"""
CODE_MARK: Final = "$$"
CODE: Final = r"\$\$(?P<code>.*?)\$\$"
"""Python, of CREATE FUNCTION."""
QUOTED: Final = STRING_OR_NAME + r"|\$\$.*?\$\$"
COMMENT: Final = r"--[^\r\n]*|/\*.*?\*/"

_OPENINGS: Final = {"'": "string", '"': "quoted name", "`": "quoted name", "/*": "comment", CODE_MARK: "text"}
_PIECE: Final = re.compile(
    rf"(?P<blank>\s+|{COMMENT})|(?P<quoted>{QUOTED})|(?P<open>['\"`]|/\*|\$\$)|(?P<end>;)|[^\s'\"`;/$-]+|[/$-]",
    re.DOTALL,
)


def split_statements(text: str) -> list[str]:
    """The statements in order, each with its semicolon and without the comments before it. Empty ones are left out."""
    return [statement for _, statement in placed_statements(text)]


def placed_statements(text: str) -> list[tuple[int, str]]:
    """The same with the places at which they begin."""
    statements: list[tuple[int, str]] = []
    start: int | None = None
    for piece in _PIECE.finditer(text):
        if piece["blank"]:
            continue
        if start is None:
            start = piece.start()
        if piece["open"]:
            raise _unfinished(text, piece.start(), piece["open"])
        if piece["end"]:
            if piece.start() > start:
                statements.append((start, text[start : piece.end()]))
            start = None
    if start is not None:
        statements.append((start, text[start:].rstrip()))
    return statements


def comments(text: str) -> Iterator[tuple[int, str]]:
    """All comments, and the places at which they begin."""
    for piece in _PIECE.finditer(text):
        if piece["open"]:
            raise _unfinished(text, piece.start(), piece["open"])
        if piece["blank"] and not piece["blank"].isspace():
            yield piece.start(), piece["blank"]


def _unfinished(text: str, start: int, opening: str) -> SyntaxProblem:
    kind = _OPENINGS[opening]
    ending = "*/" if opening == "/*" else opening
    return SyntaxProblem(
        f"The {kind} that begins here is not finished: {ending} is missing.", Lines(text).position(start, len(opening))
    )
