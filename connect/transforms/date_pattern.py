"""Dates and times by Java's patterns, such as `yyyy-MM-dd'T'HH:mm:ss.SSSX`, in UTC unless the text names another zone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

LETTERS: Final = frozenset("yMdHhkKmsSaEDzZX")

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"
)  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT: Final = 3
_NOON: Final = 12
_MIDNIGHT: Final = 24
# A year of two digits lies within 80 years before and 20 years after today.
_CENTURY_AHEAD_YEARS: Final = 20


class _Token(NamedTuple):
    """A run of one letter, or text that stands for itself (a length of 0)."""

    letter: str
    length: int


class DatePattern:
    """A pattern, ready to write and to read. ValueError when it is none."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tokens = list(_tokens(pattern))
        self._reader = re.compile("".join(_expressions(self._tokens)), re.IGNORECASE)

    def format(self, value: datetime) -> str:
        in_utc = value.astimezone(UTC)
        return "".join(
            _WRITERS[token.letter](in_utc, token.length) if token.length else token.letter for token in self._tokens
        )

    def parse(self, text: str) -> datetime:
        found = self._reader.match(text)
        if found is None:
            raise ValueError(f"{text!r} is not of the format {self._pattern}")
        parts = {name[0]: part for name, part in found.groupdict().items() if part is not None}
        return _combined(parts)


def _tokens(pattern: str) -> Iterator[_Token]:
    for run in re.finditer(r"'((?:[^']|'')*)'|([a-zA-Z])\2*|[^a-zA-Z']+|'", pattern):
        text = run.group()
        if text == "'":
            raise ValueError(f"{pattern!r}: a quote is never closed")
        if run[1] is not None:
            yield _Token(run[1].replace("''", "'") or "'", 0)
        elif run[2] is None:
            yield _Token(text, 0)
        elif run[2] in LETTERS:
            yield _Token(run[2], len(text))
        else:
            raise ValueError(f"{pattern!r}: {run[2]} is none of the letters {''.join(sorted(LETTERS))}")


def _expressions(tokens: list[_Token]) -> Iterator[str]:
    seen: set[str] = set()
    for place, token in enumerate(tokens):
        if not token.length:
            yield re.escape(token.letter)
            continue
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        packed = following is not None and following.length > 0 and _is_number(following)
        expression = _expression(token, packed=packed)
        # A letter that occurs again must agree in form; the first counts.
        yield expression if token.letter in seen else f"(?P<{token.letter}_>{expression})"
        seen.add(token.letter)


def _expression(token: _Token, *, packed: bool) -> str:
    if token.letter == "M" and token.length >= _SHORT:
        return "|".join([*_MONTHS, *(name[:_SHORT] for name in _MONTHS)])
    words = {"a": "AM|PM", "E": "|".join([*_DAYS, *(name[:_SHORT] for name in _DAYS)])}
    if token.letter in words:
        return words[token.letter]
    if token.letter in "zZX":
        return r"Z|(?:GMT|UTC)?[+-]\d{2}:?\d{2}|[+-]\d{2}|GMT|UTC"
    # Numbers that follow each other directly have just the digits of the pattern; others may have more or fewer.
    return rf"\d{{{token.length}}}" if packed else r"-?\d{1,9}"


def _is_number(token: _Token) -> bool:
    return token.letter in "ydHhkKmsSD" or (token.letter == "M" and token.length < _SHORT)


_WRITERS: Final[Mapping[str, Callable[[datetime, int], str]]] = {
    "y": lambda at, count: f"{at.year % 100:02}" if count == 2 else f"{at.year:0{count}}",
    "M": lambda at, count: _name(_MONTHS[at.month - 1], count) if count >= _SHORT else f"{at.month:0{count}}",
    "d": lambda at, count: f"{at.day:0{count}}",
    "D": lambda at, count: f"{at.timetuple().tm_yday:0{count}}",
    "H": lambda at, count: f"{at.hour:0{count}}",
    "k": lambda at, count: f"{at.hour or _MIDNIGHT:0{count}}",
    "K": lambda at, count: f"{at.hour % _NOON:0{count}}",
    "h": lambda at, count: f"{at.hour % _NOON or _NOON:0{count}}",
    "m": lambda at, count: f"{at.minute:0{count}}",
    "s": lambda at, count: f"{at.second:0{count}}",
    "S": lambda at, count: f"{at.microsecond // 1000:0{count}}",
    "a": lambda at, _count: "PM" if at.hour >= _NOON else "AM",
    "E": lambda at, count: _name(_DAYS[at.weekday()], count),
    "z": lambda _at, _count: "UTC",
    "Z": lambda _at, _count: "+0000",
    "X": lambda _at, _count: "Z",
}


def _name(name: str, count: int) -> str:
    return name if count > _SHORT else name[:_SHORT]


def _combined(parts: Mapping[str, str]) -> datetime:
    """The time that the parts say; what they leave open is that of the first of January 1970. Days and hours beyond the usual run over, as in Java."""
    year = int(parts.get("y", "1970"))
    if len(parts.get("y", "")) == 2:
        year = _in_century(year)
    month = _month(parts["M"]) if "M" in parts else 1
    years, month_index = divmod(month - 1, 12)
    start = datetime(year + years, month_index + 1, 1, tzinfo=UTC)
    # A day of the month counts more than a day of the year.
    days = int(parts.get("d") or parts.get("D") or "1") - 1
    offset = _zone(next((parts[letter] for letter in "zZX" if letter in parts), "Z"))
    return start + timedelta(
        days=days,
        hours=_hour(parts),
        minutes=int(parts.get("m", "0")),
        seconds=int(parts.get("s", "0")),
        milliseconds=int(parts.get("S", "0")),
    ) - offset  # fmt: skip


def _in_century(year: int) -> int:
    latest = datetime.now(UTC).year + _CENTURY_AHEAD_YEARS
    return latest - (latest - year) % 100


def _month(text: str) -> int:
    if not text[-1].isdigit():
        return next(place for place, name in enumerate(_MONTHS, 1) if name[:_SHORT].lower() == text[:_SHORT].lower())
    return int(text)


def _hour(parts: Mapping[str, str]) -> int:
    if "H" in parts:
        return int(parts["H"])
    if "k" in parts:
        return int(parts["k"]) % _MIDNIGHT
    afternoon = _NOON if parts.get("a", "").upper() == "PM" else 0
    if "h" in parts:
        return int(parts["h"]) % _NOON + afternoon
    return int(parts.get("K", "0")) + afternoon


def _zone(text: str) -> timedelta:
    digits = text.upper().removeprefix("GMT").removeprefix("UTC").replace(":", "")
    if digits in ("", "Z"):
        return timedelta()
    sign = -1 if digits[0] == "-" else 1
    return sign * timedelta(hours=int(digits[1:3]), minutes=int(digits[3:5] or "0"))
