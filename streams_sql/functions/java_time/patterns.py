"""Patterns of Java's DateTimeFormatter, compiled to elements: `yyyy-MM-dd'T'HH:mm:ss[.SSS][X]`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from streams_sql.functions.java_time.elements import (
    DIGITS_MAX,
    Element,
    Fraction,
    Literal,
    Number,
    Optional,
    Padded,
    ReducedYear,
    Sign,
    Words,
)
from streams_sql.functions.java_time.fields import DateProblem, Field
from streams_sql.functions.java_time.zone_elements import LocalizedOffset, Offset, ZoneName

PATTERN_LENGTH_MAX: Final = 1000

MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
_FRACTION_DIGITS_MAX: Final = 9

_Texts = dict[int, dict[int, str]]
"""Words of values by the number of letters in the pattern."""


def _texts(first: int, short: list[str], full: list[str], narrow: list[str]) -> _Texts:
    return {letters: dict(enumerate(words, first)) for letters, words in ((3, short), (4, full), (5, narrow))}


_MONTH_TEXTS: Final = _texts(1, [m[:3] for m in MONTHS], MONTHS, [m[0] for m in MONTHS])
_DAY_TEXTS: Final = _texts(1, [d[:3] for d in DAYS], DAYS, [d[0] for d in DAYS])
_QUARTER_TEXTS: Final = _texts(
    1, ["Q1", "Q2", "Q3", "Q4"], [f"{n} quarter" for n in ("1st", "2nd", "3rd", "4th")], ["1", "2", "3", "4"]
)
_ERA_TEXTS: Final = _texts(0, ["BC", "AD"], ["Before Christ", "Anno Domini"], ["B", "A"])

_TWO_DIGITS: Final = {
    "d": Field.DAY_OF_MONTH,
    "h": Field.CLOCK_HOUR_OF_AMPM,
    "H": Field.HOUR_OF_DAY,
    "k": Field.CLOCK_HOUR_OF_DAY,
    "K": Field.HOUR_OF_AMPM,
    "m": Field.MINUTE_OF_HOUR,
    "s": Field.SECOND_OF_MINUTE,
}
_ANY_DIGITS: Final = {"A": Field.MILLI_OF_DAY, "n": Field.NANO_OF_SECOND, "N": Field.NANO_OF_DAY}
_YEARS: Final = {"u": Field.YEAR, "y": Field.YEAR_OF_ERA, "Y": Field.WEEK_BASED_YEAR}
_NUMBER_OR_WORD: Final = {
    "M": (Field.MONTH_OF_YEAR, _MONTH_TEXTS),
    "L": (Field.MONTH_OF_YEAR, _MONTH_TEXTS),
    "Q": (Field.QUARTER_OF_YEAR, _QUARTER_TEXTS),
    "q": (Field.QUARTER_OF_YEAR, _QUARTER_TEXTS),
}
_OFFSET_STYLES: Final = {
    1: ("", "if any", "never"),
    2: ("", "always", "never"),
    3: (":", "always", "never"),
    4: ("", "always", "if any"),
    5: (":", "always", "if any"),
}


def compile_pattern(pattern: str) -> tuple[Element, ...]:
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise DateProblem(f"The pattern has {len(pattern)} characters; {PATTERN_LENGTH_MAX} are the most")
    sections = [_Section()]
    position = 0
    while position < len(pattern):
        letter = pattern[position]
        if letter.isascii() and letter.isalpha():
            position = _letters(pattern, position, sections[-1])
        elif letter == "'":
            position = _quoted(pattern, position, sections[-1])
        else:
            _punctuation(pattern, letter, sections)
            position += 1
    while len(sections) > 1:
        _end_optional(sections)
    return tuple(sections[0].elements)


class _Section:
    """The elements between two brackets. Numbers of fixed width right after a number take their digits from it."""

    def __init__(self) -> None:
        self.elements: list[Element] = []
        self._number: int | None = None
        self._width = 0

    def pad_next(self, width: int) -> None:
        self._width = width
        self._number = None

    def append(self, element: Element) -> None:
        if self._width:
            element = Padded(element, self._width)
        self._width = 0
        self._number = None
        self.elements.append(element)

    def append_number(self, number: Number) -> None:
        base = self._number
        is_padded = self._width > 0
        self.append(number)
        if base is not None and number.is_fixed:
            before = self.elements[base]
            assert isinstance(before, Number)
            self.elements[base] = before.reserving(number.most)
            self._number = base
        elif not is_padded:
            self._number = len(self.elements) - 1

    def end_run(self) -> None:
        self._number = None


def _punctuation(pattern: str, letter: str, sections: list[_Section]) -> None:
    if letter == "[":
        sections[-1].end_run()
        sections.append(_Section())
    elif letter == "]":
        if len(sections) == 1:
            raise DateProblem("Pattern invalid as it contains ] without previous [")
        _end_optional(sections)
    elif letter in "{}#":
        raise DateProblem(f"Pattern includes reserved character: '{letter}'")
    else:
        sections[-1].append(Literal(letter))


def _end_optional(sections: list[_Section]) -> None:
    section = sections.pop()
    if section.elements:
        sections[-1].append(Optional(tuple(section.elements)))


def _quoted(pattern: str, start: int, section: _Section) -> int:
    """A text between quotes, in which two quotes are one; two quotes alone are one as well."""
    match = re.compile("'((?:[^']|'')*)'").match(pattern, start)
    if match is None:
        raise DateProblem(f"Pattern ends with an incomplete string literal: {pattern}")
    text = match.group(1)
    section.append(Literal(text.replace("''", "'") if text else "'"))
    return match.end()


def _run(pattern: str, start: int) -> int:
    end = start + 1
    while end < len(pattern) and pattern[end] == pattern[start]:
        end += 1
    return end


def _letters(pattern: str, start: int, section: _Section) -> int:
    end = _run(pattern, start)
    if pattern[start] == "p":
        if end == len(pattern) or not (pattern[end].isascii() and pattern[end].isalpha()) or pattern[end] == "p":
            raise DateProblem(f"Pad letter 'p' must be followed by valid pad pattern: {pattern}")
        section.pad_next(end - start)
        start, end = end, _run(pattern, end)
    letter, count = pattern[start], end - start
    maker = _MAKERS.get(letter)
    if maker is None:
        raise DateProblem(f"Unknown pattern letter: {letter}")
    element = maker(letter, count)
    if isinstance(element, Number):
        section.append_number(element)
    else:
        section.append(element)
    return end


# -- elements by letter ---------------------------------------------------------------------------


def _too_many(letter: str) -> DateProblem:
    return DateProblem(f"Too many pattern letters: {letter}")


def _year(letter: str, count: int) -> Element:
    field = _YEARS[letter]
    if count == 2:
        return ReducedYear(field, 2, 2, Sign.NOT_NEGATIVE)
    if count > DIGITS_MAX:
        raise DateProblem(f"The minimum width must be from 1 to 19 inclusive but was {count}")
    return Number(field, count, DIGITS_MAX, Sign.NORMAL if count < 4 else Sign.EXCEEDS_PAD)


def _number(field: Field, count: int) -> Element:
    """One letter: as many digits as it takes; two: two digits."""
    if count == 1:
        return Number(field, 1, DIGITS_MAX, Sign.NORMAL)
    return Number(field, count, count, Sign.NOT_NEGATIVE)


def _two_digits(letter: str, count: int) -> Element:
    if count > 2:
        raise _too_many(letter)
    return _number(_TWO_DIGITS[letter], count)


def _any_digits(letter: str, count: int) -> Element:
    if count > DIGITS_MAX:
        raise DateProblem(f"The minimum width must be from 1 to 19 inclusive but was {count}")
    return Number(_ANY_DIGITS[letter], count, DIGITS_MAX, Sign.NOT_NEGATIVE)


def _number_or_word(letter: str, count: int) -> Element:
    field, texts = _NUMBER_OR_WORD[letter]
    return _number(field, count) if count < 3 else _words(letter, count, field, texts)


def _words(letter: str, count: int, field: Field, texts: _Texts) -> Element:
    if count not in texts:
        raise _too_many(letter)
    return Words(field, texts[count])


def _day_of_week(letter: str, count: int) -> Element:
    if letter == "E" or count > 2:
        return _words(letter, max(3, count), Field.DAY_OF_WEEK, _DAY_TEXTS)
    if letter == "c" and count == 2:
        raise DateProblem('Invalid pattern "cc"')
    return Number(Field.LOCALIZED_DAY_OF_WEEK, count, count, Sign.NOT_NEGATIVE)


def _week(letter: str, count: int) -> Element:
    if letter == "W":
        if count > 1:
            raise _too_many(letter)
        return Number(Field.WEEK_OF_MONTH, 1, 1, Sign.NOT_NEGATIVE)
    if count > 2:
        raise _too_many(letter)
    return Number(Field.WEEK_OF_WEEK_BASED_YEAR, count, 2, Sign.NOT_NEGATIVE)


def _day_of_year(letter: str, count: int) -> Element:
    if count > 3:
        raise _too_many(letter)
    return _number(Field.DAY_OF_YEAR, 1) if count == 1 else Number(Field.DAY_OF_YEAR, count, 3, Sign.NOT_NEGATIVE)


def _aligned_day(letter: str, count: int) -> Element:
    if count > 1:
        raise _too_many(letter)
    return _number(Field.ALIGNED_DAY_OF_WEEK_IN_MONTH, 1)


def _half_day(letter: str, count: int) -> Element:
    if count > 1:
        raise _too_many(letter)
    return Words(Field.AMPM_OF_DAY, {0: "AM", 1: "PM"})


def _fraction(letter: str, count: int) -> Element:
    if count > _FRACTION_DIGITS_MAX:
        raise DateProblem(f"Minimum width must be from 0 to 9 inclusive but was {count}")
    return Fraction(Field.NANO_OF_SECOND, count, count, Sign.NOT_NEGATIVE)


def _zone_id(letter: str, count: int) -> Element:
    if count != 2:
        raise DateProblem(f"Pattern letter count must be 2: {letter}")
    return ZoneName("id")


def _zone_words(letter: str, count: int) -> Element:
    if count > 4:
        raise _too_many(letter)
    return ZoneName("full" if count == 4 else "short")


def _localized_offset(letter: str, count: int) -> Element:
    if count not in (1, 4):
        raise DateProblem(f"Pattern letter count must be 1 or 4: {letter}")
    return LocalizedOffset(count == 4)


def _offset(letter: str, count: int) -> Element:
    if count > 5:
        raise _too_many(letter)
    if letter == "Z":
        if count == 4:
            return LocalizedOffset(True)
        return Offset("Z", *_OFFSET_STYLES[5]) if count == 5 else Offset("+0000", *_OFFSET_STYLES[2])
    separator, minutes, seconds = _OFFSET_STYLES[count]
    if letter == "X":
        return Offset("Z", separator, minutes, seconds)
    return Offset("+00" if count == 1 else f"+00{separator}00", separator, minutes, seconds)


_MAKERS: Final[dict[str, Callable[[str, int], Element]]] = {
    **dict.fromkeys(_YEARS, _year),
    **dict.fromkeys(_TWO_DIGITS, _two_digits),
    **dict.fromkeys(_ANY_DIGITS, _any_digits),
    **dict.fromkeys(_NUMBER_OR_WORD, _number_or_word),
    "G": lambda letter, count: _words(letter, max(3, count), Field.ERA, _ERA_TEXTS),
    "E": _day_of_week,
    "e": _day_of_week,
    "c": _day_of_week,
    "w": _week,
    "W": _week,
    "D": _day_of_year,
    "F": _aligned_day,
    "g": lambda letter, count: Number(Field.MODIFIED_JULIAN_DAY, count, DIGITS_MAX, Sign.NORMAL),
    "a": _half_day,
    "S": _fraction,
    "V": _zone_id,
    "z": _zone_words,
    "O": _localized_offset,
    "Z": _offset,
    "X": _offset,
    "x": _offset,
}
