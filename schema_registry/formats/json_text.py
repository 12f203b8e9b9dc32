"""JSON as Confluent's registry reads and prints it: positions in errors, numbers unharmed, members in their order.

The text of a schema makes its identity, so what is printed here is what Jackson prints, to the byte.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NoReturn, TypeAlias

from barnabas.kernel.java.numbers import double_text
from schema_registry.formats.parsed_schema import NESTING_MAX_LEVELS, InvalidSchema

JsonValue: TypeAlias = "bool | int | float | Decimal | str | list[JsonValue] | dict[str, JsonValue] | None"

NUMBER_MAX_CHARACTERS = 1000
"""Longer numbers are refused, as Jackson does: their arithmetic takes more than linear time."""

EXCERPT_MAX_CHARACTERS = 20
"""How much of the text an error shows."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a reader takes beyond the standard, and what it makes of numbers with a fraction or an exponent.

    `comments`: `/* … */` and `// …` between tokens. `non_numbers`: NaN, Infinity and -Infinity. `exact_decimals`: a Decimal for
    each number that is no integer; otherwise a float, as Java's double.
    """

    comments: bool = False
    non_numbers: bool = False
    exact_decimals: bool = True


STANDARD: Final = Dialect()

_STRING: Final = r'"(?:[^"\\]|\\.)*+"?'
_BRACKETS: Final = re.compile(rf"{_STRING}|([\[{{])|[\]}}]", re.DOTALL)
_COMMENT: Final = re.compile(rf"{_STRING}|(/\*.*?\*/|//[^\r\n]*)|/\*.*", re.DOTALL)
_NOT_A_LINE_END: Final = re.compile(r"[^\r\n]")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_MUST_BE_ESCAPED: Final = re.compile(r'[\x00-\x1f"\\]')
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def parse(text: str, dialect: Dialect = STANDARD) -> JsonValue:
    """Read one value. Of a member that occurs twice the last counts, in the place of the first; InvalidSchema says where it fails."""
    bare = _without_comments(text) if dialect.comments else text
    _check_nesting(bare)
    try:
        value = _decode(bare, dialect)
    except json.JSONDecodeError as error:
        _refuse(error)
    _check_end(text, len(bare.rstrip()))
    _check_surrogates(text, value)
    return value


def print_compact(value: JsonValue) -> str:
    """One line without blanks, with every character raw that may be."""
    parts: list[str] = []
    _print(value, parts)
    return "".join(parts)


def print_string(text: str) -> str:
    if _MUST_BE_ESCAPED.search(text):
        text = _MUST_BE_ESCAPED.sub(_escape, text)
    return f'"{text}"'


def print_double(number: float) -> str:
    """A number as Java prints it. NaN and infinities are strings, as Jackson writes them."""
    text = double_text(number)
    return text if math.isfinite(number) else f'"{text}"'


def _decode(text: str, dialect: Dialect) -> JsonValue:
    def no_constant(word: str) -> NoReturn:
        raise InvalidSchema(
            f"not valid JSON: {word} is no number of JSON; write a number, or null, or the word in quotes"
        )

    def constant(word: str) -> float:
        return float(word) if dialect.non_numbers else no_constant(word)

    value: JsonValue = json.loads(
        text,
        parse_constant=constant,
        parse_int=_integer,
        parse_float=_decimal if dialect.exact_decimals else _double,
    )
    return value


def _check_end(text: str, end: int) -> None:
    """Comments may stand anywhere but behind the value: Avro takes nothing there."""
    dangling = text[end:].strip()
    if dangling:
        excerpt = dangling[:EXCERPT_MAX_CHARACTERS]
        raise InvalidSchema(f"{_place(text, end)}: dangling content after end of schema: {excerpt}; remove it")


def _integer(digits: str) -> int:
    return int(_not_too_long(digits))


def _decimal(digits: str) -> Decimal:
    number = Decimal(_not_too_long(digits))
    return number if number else abs(number)  # Java's BigDecimal knows no negative zero.


def _double(digits: str) -> float:
    return float(_not_too_long(digits))


def _not_too_long(digits: str) -> str:
    if len(digits) > NUMBER_MAX_CHARACTERS:
        raise InvalidSchema(
            f"the number {digits[:EXCERPT_MAX_CHARACTERS]}… has {len(digits)} characters; at most {NUMBER_MAX_CHARACTERS} are allowed"
        )
    return digits


def _check_nesting(text: str) -> None:
    if text.count("{") + text.count("[") <= NESTING_MAX_LEVELS:
        return
    level = 0
    for found in _BRACKETS.finditer(text):
        if found.group(1):
            level += 1
        elif found.group() in "]}":
            level -= 1
        if level > NESTING_MAX_LEVELS:
            raise InvalidSchema(
                f"{_place(text, found.start())}: nested more than {NESTING_MAX_LEVELS} levels deep; take inner parts out and refer to them by name"
            )


def _check_surrogates(text: str, value: JsonValue) -> None:
    """Half of a surrogate pair is no character: it could be neither stored nor sent."""
    if text.isascii() and not _SURROGATE_ESCAPE.search(text):
        return
    try:
        print_compact(value).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise InvalidSchema(
            f"a text holds \\u{ord(half):04x}, which is half of a surrogate pair and no character"
        ) from None


def _without_comments(text: str) -> str:
    """The text with blanks for comments, so that places in it stay the same."""
    if "/" not in text:
        return text
    return _COMMENT.sub(
        lambda found: _NOT_A_LINE_END.sub(" ", found.group()) if found.group(1) else found.group(), text
    )


def _refuse(error: json.JSONDecodeError) -> NoReturn:
    found = error.doc[error.pos : error.pos + EXCERPT_MAX_CHARACTERS].split("\n")[0]
    where = f"line {error.lineno}, column {error.colno}"
    what = error.msg[0].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting at")
    raise InvalidSchema(
        f"not valid JSON at {where}: {what}, found {found!r}"
        if found
        else f"not valid JSON at {where}: {what}, found the end"
    )


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"line {line}, column {position - text.rfind(chr(10), 0, position)}"


def _print(value: JsonValue, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(print_string(value))
    elif isinstance(value, dict):
        separator = "{"
        for name, member in value.items():
            parts.append(f"{separator}{print_string(name)}:")
            _print(member, parts)
            separator = ","
        parts.append("}" if value else "{}")
    elif isinstance(value, list):
        separator = "["
        for element in value:
            parts.append(separator)
            _print(element, parts)
            separator = ","
        parts.append("]" if value else "[]")
    else:
        parts.append(_print_scalar(value))


def _print_scalar(value: bool | int | float | Decimal | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return print_double(value) if isinstance(value, float) else str(value)


def _escape(found: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(found.group()) or f"\\u{ord(found.group()):04X}"
