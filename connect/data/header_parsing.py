"""The text of a header as the value that it shows, after the rules of Kafka Connect's simple header converter.

Text that is not wholly a number, a boolean, a date, a time, an array or a map is a string. Kafka Connect itself reads `12:30` as 12 and keeps
the backslashes of escaped quotes; here nothing is cut off or added.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from barnabas.kernel.serdes.json_numbers import FLOAT_MAX, float_number
from connect.data.inference import merged
from connect.data.mismatch import Mismatch
from connect.data.schema import (
    BOOLEAN,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    array_of,
    decimal,
    map_of,
)

NESTING_MAX_LEVELS: Final = 50
NUMBER_MAX_CHARACTERS: Final = 400

_BLANK: Final = re.compile(r"\s*")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_DATE: Final = r"\d{4}-\d\d-\d\d"
_TIME: Final = r"\d\d:\d\d:\d\d\.\d{3}Z"
_TEMPORAL: Final = re.compile(rf"(?P<timestamp>{_DATE}T{_TIME})|(?P<date>{_DATE})|(?P<time>{_TIME})", re.ASCII)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WORD: Final = re.compile(r"null|true|false")
_WORDS: Final = {"null": None, "true": True, "false": False}

Parsed = tuple[Schema | None, Any]


def parse_header(text: str) -> Parsed:
    """The schema and the value; no schema for null, and for arrays and maps that hold parts of different types."""
    try:
        reader = _Reader(text)
        found = reader.value(0)
        reader.skip_blank()
        if reader.place == len(text) and not (text.lstrip().startswith('"')):
            return found
    except _NoValueError:
        # What it is instead, follows.
        pass
    return STRING, text


class _NoValueError(Exception):
    """The text shows no such value."""


class _Reader:
    """Reads values from a text, one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.place = 0

    def skip_blank(self) -> None:
        self.place = _end(_BLANK.match(self._text, self.place))

    def value(self, level: int) -> Parsed:
        if level > NESTING_MAX_LEVELS:
            raise _NoValueError
        self.skip_blank()
        if self._takes("["):
            return self._array(level)
        if self._takes("{"):
            return self._map(level)
        return self._scalar()

    def _scalar(self) -> Parsed:
        quoted = self._match(_QUOTED)
        if quoted is not None:
            content = _ESCAPED.sub(r"\1", quoted[1])
            temporal = _TEMPORAL.fullmatch(content)
            return (temporal and _temporal(temporal)) or (STRING, content)
        temporal = self._match(_TEMPORAL)
        if temporal is not None:
            return _temporal(temporal) or _no_value()
        number = self._match(_NUMBER)
        if number is not None:
            return _number(number[0])
        word = self._match(_WORD)
        if word is None:
            raise _NoValueError
        found = _WORDS[word[0]]
        return None if found is None else BOOLEAN, found

    def _array(self, level: int) -> Parsed:
        parts: list[Parsed] = []
        while not self._ends("]", parts):
            parts.append(self.value(level + 1))
        schema = _merged([schema for schema, _ in parts])
        return None if schema is None else array_of(schema), [value for _, value in parts]

    def _map(self, level: int) -> Parsed:
        keys: list[Parsed] = []
        values: list[Parsed] = []
        while not self._ends("}", keys):
            keys.append(self.value(level + 1))
            self._expect(":")
            values.append(self.value(level + 1))
        names = [name for _, name in keys]
        if any(name is None or type(name) in (list, dict) for name in names):
            raise _NoValueError
        key, item = _merged([schema for schema, _ in keys]), _merged([schema for schema, _ in values])
        schema = None if key is None or item is None else map_of(key, item)
        return schema, dict(zip(names, [value for _, value in values], strict=True))

    def _ends(self, end: str, so_far: list[Parsed]) -> bool:
        """Whether the array or map ends here; if not, a comma must part its elements."""
        self.skip_blank()
        if self._takes(end):
            return True
        if so_far:
            self._expect(",")
        return False

    def _expect(self, mark: str) -> None:
        self.skip_blank()
        if not self._takes(mark):
            raise _NoValueError

    def _takes(self, mark: str) -> bool:
        found = self._text.startswith(mark, self.place)
        self.place += found
        return found

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self.place)
        if found is not None:
            self.place = found.end()
        return found


def _end(found: re.Match[str] | None) -> int:
    assert found is not None, "the pattern matches nothing, too"
    return found.end()


def _no_value() -> Parsed:
    raise _NoValueError


def _temporal(found: re.Match[str]) -> Parsed | None:
    text = found[0]
    try:
        if found["timestamp"] is not None:
            return TIMESTAMP_SCHEMA, datetime.fromisoformat(text)
        if found["date"] is not None:
            return DATE_SCHEMA, date.fromisoformat(text)
        return TIME_SCHEMA, time.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


def _number(text: str) -> Parsed:
    """Whole numbers as the narrowest type that holds them, others as 32 bits if these hold all digits."""
    number = Decimal(text) if len(text) <= NUMBER_MAX_CHARACTERS else Decimal("NaN")
    if not number.is_finite() or abs(number.adjusted()) > NUMBER_MAX_CHARACTERS:
        raise _NoValueError
    if number == number.to_integral_value():
        return _whole_number(int(number))
    short = float(number)
    if abs(short) <= FLOAT_MAX and float_number(short) == short:
        return FLOAT32, short
    return FLOAT64, short


def _whole_number(number: int) -> Parsed:
    for schema in (INT8, INT16, INT32, INT64):
        bits = schema.type.bits
        if bits is not None and (number if number >= 0 else ~number).bit_length() < bits:
            return schema, number
    return decimal(0), Decimal(number)


def _merged(schemas: list[Schema | None]) -> Schema | None:
    """The schema of all parts, of which some may be null; None if there is none."""
    found: Schema | None = None
    for each in schemas:
        try:
            found = each if found is None else found if each is None else merged(found, each)
        except Mismatch:
            return None
    return found.as_optional() if found is not None and None in schemas else found
