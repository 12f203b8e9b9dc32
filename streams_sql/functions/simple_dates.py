"""Dates of texts by the patterns of Java's SimpleDateFormat, as PARSE_DATE takes them.

They are read leniently: a number that is too great goes on into the next month or year, and what follows the date is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from streams_sql.evaluation.time_texts import MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE, MS_PER_SECOND, days_from_civil
from streams_sql.functions.java_time.elements import digits_end
from streams_sql.functions.java_time.fields import DateProblem
from streams_sql.functions.java_time.patterns import DAYS, MONTHS, PATTERN_LENGTH_MAX

PATTERNS_CACHED: Final = 1000
DIGITS_MAX: Final = 9
_YEARS_OF_TWO_DIGITS_BACK: Final = 80

_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z'])")
_HOURS: Final = re.compile(r"([+-]\d\d)|Z", re.ASCII)
_HOURS_MINUTES: Final = re.compile(r"([+-]\d{4})|Z", re.ASCII)
_HOURS_COLON_MINUTES: Final = re.compile(r"([+-]\d\d:\d\d)|Z", re.ASCII)
_ISO_ZONES: Final = {"X": _HOURS, "X" * 2: _HOURS_MINUTES, "X" * 3: _HOURS_COLON_MINUTES, "ZZ": _HOURS_COLON_MINUTES}
_ZONE: Final = re.compile(r"((?:GMT)?[+-]\d{4}|GMT[+-]\d{1,2}:\d\d)|GMT|UTC", re.ASCII | re.IGNORECASE)
_NUMBERS: Final = frozenset("yMdDFHkhKmsSWwYu")
_MONTH_WORDS: Final = {word.lower(): number for number, month in enumerate(MONTHS, 1) for word in (month, month[:3])}
_DAY_WORDS: Final = {word.lower(): number for number, day in enumerate(DAYS, 1) for word in (day, day[:3])}
_HALF_WORDS: Final = {"am": 0, "pm": 1}
_ERA_WORDS: Final = {"bc": 0, "ad": 1}

_Found = dict[str, int]
_Part = Callable[[str, int, _Found], int]
"""Reads its piece of a text and returns the place after it."""


@lru_cache(PATTERNS_CACHED)
def simple_pattern(pattern: str) -> tuple[_Part, ...]:
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise DateProblem(f"The pattern has {len(pattern)} characters; {PATTERN_LENGTH_MAX} are the most")
    tokens, position = [], 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            raise DateProblem("Unterminated quote")
        tokens.append(match)
        position = match.end()
    return tuple(_part(token, after) for token, after in zip(tokens, [*tokens[1:], None], strict=True))


def date_of(text: str, pattern: str) -> int:
    """Days since the epoch."""
    found: _Found = {}
    position = 0
    for part in simple_pattern(pattern):
        position = part(text, position, found)
    days, rest = divmod(_millis(found), MS_PER_DAY)
    if rest:
        raise DateProblem("Date format contains time field.")
    return days


def _part(token: re.Match[str], after: re.Match[str] | None) -> _Part:
    quoted, letters, letter, other = token.groups()
    if letters is None:
        return _literal(quoted.replace("''", "'") or "'" if quoted is not None else other)
    if _is_number(token):
        # Numbers side by side have as many digits as the pattern has letters.
        digits = len(letters) if after is not None and _is_number(after) else 0
        return _number("yy" if letter == "y" and len(letters) <= 2 else letter, digits)
    if letters in _ISO_ZONES or letter in "zZ":
        return _zone(_ISO_ZONES.get(letters, _ZONE))
    words = {"M": _MONTH_WORDS, "L": _MONTH_WORDS, "E": _DAY_WORDS, "a": _HALF_WORDS, "G": _ERA_WORDS}.get(letter)
    if words is None:
        raise DateProblem(f"Illegal pattern component: {letters}")
    return _word("M" if letter == "L" else letter, words)


def _is_number(token: re.Match[str]) -> bool:
    letters = token.group(2) or ""
    return letters[:1] in _NUMBERS and letters != "" and not (letters[0] == "M" and len(letters) > 2)


def _unparseable(text: str) -> DateProblem:
    return DateProblem(f"Unparseable date: {text[:80]}")


def _literal(literal: str) -> _Part:
    def read(text: str, position: int, found: _Found) -> int:
        if not text.startswith(literal, position):
            raise _unparseable(text)
        return position + len(literal)

    return read


def _number(name: str, digits: int) -> _Part:
    def read(text: str, position: int, found: _Found) -> int:
        while not digits and text[position : position + 1].isspace():
            position += 1
        end = digits_end(text, position, digits or DIGITS_MAX)
        if end == position:
            raise _unparseable(text)
        found[name] = int(text[position:end])
        return end

    return read


def _word(name: str, words: dict[str, int]) -> _Part:
    longest_first = sorted(words, key=len, reverse=True)

    def read(text: str, position: int, found: _Found) -> int:
        for word in longest_first:
            if text[position : position + len(word)].lower() == word:
                found[name] = words[word]
                return position + len(word)
        raise _unparseable(text)

    return read


def _zone(form: re.Pattern[str]) -> _Part:
    def read(text: str, position: int, found: _Found) -> int:
        match = form.match(text, position)
        if match is None:
            raise _unparseable(text)
        found["zone"] = _offset(match[1]) if match[1] else 0
        return match.end()

    return read


def _offset(text: str) -> int:
    """Seconds of +0100, +01:00, GMT+1:00."""
    hours, minutes = (*re.findall(r"\d{1,2}", text), 0)[:2]
    return (-1 if "-" in text else 1) * (int(hours) * 3600 + int(minutes) * 60)


def _millis(found: _Found) -> int:
    year = _century(found["yy"]) if "yy" in found else found.get("y", found.get("Y", 1970))
    if found.get("G") == 0:
        year = 1 - year
    years, month = divmod(found.get("M", 1) - 1, 12)
    days = days_from_civil(year + years, month + 1, 1) + found.get("d", 1) - 1
    if "D" in found and "d" not in found:
        days = days_from_civil(year, 1, 1) + found["D"] - 1
    if "H" in found or "k" in found:
        hours = found.get("H", _from_zero(found.get("k", 0), 24))
    else:
        hours = found.get("K", _from_zero(found.get("h", 0), 12)) + 12 * found.get("a", 0)
    clock = (
        hours * MS_PER_HOUR + found.get("m", 0) * MS_PER_MINUTE + found.get("s", 0) * MS_PER_SECOND + found.get("S", 0)
    )
    return days * MS_PER_DAY + clock - found.get("zone", 0) * MS_PER_SECOND


def _from_zero(hour: int, last: int) -> int:
    return 0 if hour == last else hour


def _century(year: int) -> int:
    """Two digits mean a year from 80 years ago on."""
    if year >= 100:
        return year
    first = datetime.now(UTC).year - _YEARS_OF_TWO_DIGITS_BACK
    return first + (year - first) % 100
