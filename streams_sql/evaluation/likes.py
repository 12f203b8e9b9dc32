"""LIKE: `%` is any text, `_` any one character, line ends among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

import re2  # type: ignore[import-untyped]

Matcher: TypeAlias = Callable[[str], bool]

# A pattern may come with each record.
_MATCHERS_KEPT: Final = 256
_ANY: Final = "%"
_ONE: Final = "_"


@lru_cache(_MATCHERS_KEPT)
def matcher(pattern: str, escape: str | None) -> Matcher:
    """What tells whether a text is like the pattern."""
    parts = _parts(pattern, escape)
    literals = [text for text, is_wild in parts if not is_wild]
    shape = "".join(text if is_wild else "x" for text, is_wild in parts)
    simple = _SIMPLE.get(shape)
    if simple is not None:
        return simple(literals[0] if literals else "")
    options = re2.Options()
    options.dot_nl = True
    wild = {_ANY: ".*", _ONE: "."}
    expression = "".join(wild[text] if is_wild else re2.escape(text) for text, is_wild in parts)
    compiled = re2.compile(expression, options=options)
    return lambda text: compiled.fullmatch(text) is not None


def _parts(pattern: str, escape: str | None) -> list[tuple[str, bool]]:
    """Literal texts and wild cards in their order."""
    parts: list[tuple[str, bool]] = []
    literal = ""
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            literal += _escaped(next(characters, None))
        elif character in (_ANY, _ONE):
            parts += [(literal, False)] if literal else []
            parts.append((character, True))
            literal = ""
        else:
            literal += character
    return parts + ([(literal, False)] if literal else [])


def _escaped(character: str | None) -> str:
    if character is None:
        raise ValueError("LIKE pattern must not end with escape character")
    return character


def _equals(literal: str) -> Matcher:
    return lambda text: text == literal


def _begins(literal: str) -> Matcher:
    return lambda text: text.startswith(literal)


def _ends(literal: str) -> Matcher:
    return lambda text: text.endswith(literal)


def _contains(literal: str) -> Matcher:
    return lambda text: literal in text


_SIMPLE: Final = {
    "": _equals,
    "x": _equals,
    "x%": _begins,
    "%x": _ends,
    "%x%": _contains,
    "%": _contains,
}
"""Patterns that need no regular expression; `x` stands for the literal text."""
