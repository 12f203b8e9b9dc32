"""JSON as ksqlDB reads and writes it in functions: the first value of a text counts, whatever follows it, and numbers keep their digits."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from barnabas.kernel.java.numbers import double_text
from streams_sql.evaluation.decimals import plain_text

PLAIN_DIGITS_MAX: Final = 9999
"""A number with an exponent is written without one up to this many digits after, or zeros before, the point."""

_EXPONENT_MAX: Final = 2**31 - 1
_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_MUST_ESCAPE: Final = re.compile(r'["\\\x00-\x1f]')
_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_WORD_CHARACTER: Final = re.compile(r"[\w$]")


class JsonProblem(ValueError):
    """A text that is no JSON."""


class Missing:
    """What an empty text holds: no value at all, not even null."""


MISSING: Final = Missing()


def _no_constant(word: str) -> Any:
    raise JsonProblem(f"{word} is no JSON")


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise JsonProblem(f"{text[:80]} is too great or too small a number") from error
    if abs(number.adjusted()) > _EXPONENT_MAX:
        raise JsonProblem(f"{text[:80]} is too great or too small a number")
    return number if number else abs(number)


_DECODER: Final = json.JSONDecoder(parse_float=_number, parse_constant=_no_constant)


def parse(text: str) -> Any:
    """The first value; MISSING if there is none."""
    start = after_blanks(text, 0)
    if start == len(text):
        return MISSING
    value, end = parse_at(text, start)
    following = text[end : end + 1]
    if isinstance(value, int | Decimal) or value is None:
        is_cut_off = bool(_WORD_CHARACTER.match(following)) if _is_word(value) else bool(following.strip(" \t\n\r"))
        if is_cut_off:
            raise JsonProblem(f"Invalid JSON format:{text[:80]}")
    return value


def _is_word(value: Any) -> bool:
    """true, false, null."""
    return value is None or isinstance(value, bool)


def after_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def parse_at(text: str, position: int) -> tuple[Any, int]:
    """The value that begins at that place, and where it ends."""
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError) as error:
        raise JsonProblem(f"Invalid JSON format:{text[:80]}") from error


def text_of_value(value: Any, is_plain: bool = False) -> str:
    """Without blanks. Numbers with an exponent keep it unless `is_plain`."""
    match value:
        case str():
            return text_of_string(value)
        case dict():
            pairs = (f"{text_of_string(str(name))}:{text_of_value(part, is_plain)}" for name, part in value.items())
            return f"{{{','.join(pairs)}}}"
        case list():
            return f"[{','.join([text_of_value(part, is_plain) for part in value])}]"
        case Decimal():
            return _plain(value) if is_plain else str(value)
        case float():
            number = double_text(value)
            return number if number[-1].isdigit() else f'"{number}"'
    return _text_of_word(value)


def _text_of_word(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def text_of_string(text: str) -> str:
    return f'"{_MUST_ESCAPE.sub(_escaped, well_formed(text))}"'


def well_formed(text: str) -> str:
    """JSON can escape one half of a character that takes two; alone it cannot be written in UTF-8, and ? stands for it."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04X}"


def _plain(number: Decimal) -> str:
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > PLAIN_DIGITS_MAX:
        raise JsonProblem(f"{number} has more than {PLAIN_DIGITS_MAX} digits when it is written without its exponent")
    return plain_text(number)
