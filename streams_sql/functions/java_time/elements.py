"""The parts of a compiled pattern: each writes its piece of a text, and reads it back.

Reading returns the place after the piece, or the complement (~) of the place where the text does not fit, as Java's parsers do: that
place is in the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Protocol

from streams_sql.functions.java_time.fields import DateProblem, Field, Moment

DIGITS_MAX: Final = 19
# Numbers beyond a Java long lose their last digit, which is then no part of the number.
_LONG_BITS: Final = 63
_REDUCED_BASE: Final = 2000


class Reading:
    """A text that is being read, and the fields that were found in it. Upper and lower case are the same."""

    __slots__ = ("_folded", "fields", "text", "zone")

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: str | None = None
        self.fields: dict[Field, int] = {}
        self.zone: str | None = None

    def has(self, word: str, position: int) -> bool:
        if self.text.startswith(word, position):
            return True
        if self._folded is None:
            self._folded = _folded(self.text)
        return self._folded.startswith(_folded(word), position)

    def cut(self, end: int) -> Reading:
        """The same text, which ends sooner; what is found in it is found in this one."""
        head = Reading(self.text[:end])
        head.fields = self.fields
        return head

    def put(self, field: Field, value: int, start: int, end: int) -> int:
        """Two different values for one field do not fit."""
        known = self.fields.setdefault(field, value)
        return end if known == value else ~start


def _folded(text: str) -> str:
    """Lower case, character by character, so that places stay the same."""
    lower = text.upper().lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


class Element(Protocol):
    def write(self, moment: Moment, is_optional: bool) -> str | None:
        """None where the moment lacks the field and `is_optional`."""

    def read(self, reading: Reading, position: int) -> int: ...


class Sign(Enum):
    NORMAL = "only a minus"
    NOT_NEGATIVE = "no sign"
    EXCEEDS_PAD = "a plus where the number is longer than it must be"


def value_of(moment: Moment, field: Field, is_optional: bool) -> int | None:
    if is_optional and not moment.supports(field):
        return None
    return moment.value(field)


@dataclass(frozen=True, slots=True)
class Literal:
    text: str

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        return self.text

    def read(self, reading: Reading, position: int) -> int:
        return position + len(self.text) if reading.has(self.text, position) else ~position


@dataclass(frozen=True, slots=True)
class Number:
    """A number of `least` to `most` digits. It leaves `reserved` digits to the numbers of fixed width right after it."""

    field: Field
    least: int
    most: int
    sign: Sign
    reserved: int = 0

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most and self.sign is Sign.NOT_NEGATIVE

    def reserving(self, digits: int) -> Number:
        return replace(self, reserved=self.reserved + digits)

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        value = value_of(moment, self.field, is_optional)
        return None if value is None else self._text(value)

    def _text(self, value: int) -> str:
        digits = str(abs(value))
        if len(digits) > self.most:
            raise DateProblem(
                f"Field {self.field} cannot be printed as the value {value} exceeds the maximum print width of {self.most}"
            )
        digits = digits.zfill(self.least)
        if value < 0:
            if self.sign is Sign.NOT_NEGATIVE:
                raise DateProblem(
                    f"Field {self.field} cannot be printed as the value {value} cannot be negative according to the SignStyle"
                )
            return f"-{digits}"
        return f"+{digits}" if self.sign is Sign.EXCEEDS_PAD and len(digits) > self.least else digits

    def read(self, reading: Reading, position: int) -> int:
        text = reading.text
        sign = text[position : position + 1]
        if (sign == "+" and self.sign is Sign.EXCEEDS_PAD) or (sign == "-" and self.sign is not Sign.NOT_NEGATIVE):
            position += 1
        else:
            sign = ""
        end = self._end(text, position)
        if end is None:
            return ~position
        digits = text[position:end]
        value = int(digits)
        if value.bit_length() > _LONG_BITS:
            value, end = value // 10, end - 1
        if sign == "-":
            return self.put(reading, -value, position, end) if value else ~(position - 1)
        if self.sign is Sign.EXCEEDS_PAD and (len(digits) > self.least) != (sign == "+"):
            return ~(position - len(sign))
        return self.put(reading, value, position, end)

    def _end(self, text: str, position: int) -> int | None:
        """Where the digits end that are this number's."""
        end = digits_end(text, position, self.most + self.reserved)
        if end - position < self.least:
            return None
        if self.reserved:
            end = min(end, position + max(self.least, end - position - self.reserved))
        return end

    def put(self, reading: Reading, value: int, start: int, end: int) -> int:
        return reading.put(self.field, value, start, end)


@dataclass(frozen=True, slots=True)
class ReducedYear(Number):
    """The last two digits of a year of 2000 to 2099."""

    def _text(self, value: int) -> str:
        return f"{abs(value) % 100:02}"

    def put(self, reading: Reading, value: int, start: int, end: int) -> int:
        return reading.put(self.field, _REDUCED_BASE + value if end - start == 2 else value, start, end)


@dataclass(frozen=True, slots=True)
class Fraction(Number):
    """The first digits of the fraction of a second."""

    def _text(self, value: int) -> str:
        return f"{value:09}"[: self.most]

    def _end(self, text: str, position: int) -> int | None:
        end = digits_end(text, position, self.most)
        return end if end - position == self.most else None

    def put(self, reading: Reading, value: int, start: int, end: int) -> int:
        return reading.put(self.field, value * 10 ** (9 - self.most), start, end)


def digits_end(text: str, position: int, most: int) -> int:
    end, limit = position, min(position + most, len(text))
    while end < limit and "0" <= text[end] <= "9":
        end += 1
    return end


@dataclass(frozen=True, slots=True)
class Words:
    """A field as a word. Where two values have the same word, it is read as the greater one."""

    field: Field
    words: Mapping[int, str]
    _longest_first: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        order = sorted(self.words.items(), key=lambda item: (-len(item[1]), -item[0]))
        object.__setattr__(self, "_longest_first", tuple(order))

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        value = value_of(moment, self.field, is_optional)
        return None if value is None else self.words[value]

    def read(self, reading: Reading, position: int) -> int:
        for value, word in self._longest_first:
            if reading.has(word, position):
                return reading.put(self.field, value, position, position + len(word))
        return ~position


@dataclass(frozen=True, slots=True)
class Padded:
    """An element that takes up `width` characters, blanks before it."""

    element: Element
    width: int

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        text = self.element.write(moment, is_optional)
        if text is not None and len(text) > self.width:
            raise DateProblem(f"Cannot print as output of {len(text)} characters exceeds pad width of {self.width}")
        return None if text is None else text.rjust(self.width)

    def read(self, reading: Reading, position: int) -> int:
        end = position + self.width
        if end > len(reading.text):
            return ~position
        start = position
        while start < end and reading.text[start] == " ":
            start += 1
        head = reading.cut(end)
        found = self.element.read(head, start)
        reading.zone = head.zone or reading.zone
        return found if found == end else ~(position + start)


@dataclass(frozen=True, slots=True)
class Optional:
    """What stands between [ and ]: all of it or nothing."""

    elements: tuple[Element, ...]

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        pieces = []
        for element in self.elements:
            piece = element.write(moment, True)
            if piece is None:
                return ""
            pieces.append(piece)
        return "".join(pieces)

    def read(self, reading: Reading, position: int) -> int:
        fields, zone, start = dict(reading.fields), reading.zone, position
        for element in self.elements:
            position = element.read(reading, position)
            if position < 0:
                reading.fields, reading.zone = fields, zone
                return start
        return position
