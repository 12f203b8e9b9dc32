"""Values as text: the lines of COPY, and the literals of a statement. A column is written at a time, since a call for each value is slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from connect.data.mismatch import not_a

Text = Callable[[Any], str]
NULL: Final = "\\N"
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _bytes(value: bytes) -> str:
    return f"\\x{value.hex()}"


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _decimal(value: Decimal) -> str:
    return format(value, "f")


def _array(values: Sequence[Any]) -> str:
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return _array(value)
    text = _text_of(value, TEXTS)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


TEXTS: Final[Mapping[type, Text]] = {
    str: str,
    int: str,
    float: repr,
    bool: _boolean,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    Decimal: _decimal,
    datetime: str,
    date: str,
    time: str,
    list: _array,
}
"""What PostgreSQL reads as a value of any type, so that the column says which it is."""


def _text_of(value: Any, texts: Mapping[type, Text]) -> str:
    write = texts.get(type(value))
    if write is None:
        raise not_a("a value for which a column has a form", value)
    return write(value)


def text_column(values: Sequence[Any], texts: Mapping[type, Text] = TEXTS) -> list[str | None]:
    """The values as text; null stays as it is."""
    classes = set(map(type, values))
    if classes == {str} and texts[str] is str:
        return list(values)
    if len(classes) == 1 and (only := texts.get(classes.pop())) is not None:
        return list(map(only, values))
    return [None if value is None else _text_of(value, texts) for value in values]


def copy_lines(columns: Sequence[Sequence[Any]], texts: Mapping[type, Text] = TEXTS) -> str:
    """Rows as COPY reads them in its text form, and LOAD DATA by default."""
    lines = map("\t".join, zip(*(_copy_column(values, texts) for values in columns), strict=True))
    return "\n".join(lines) + "\n"


def _copy_column(values: Sequence[Any], written: Mapping[type, Text]) -> list[str]:
    texts = text_column(values, written)
    present = [text for text in texts if text is not None]
    whole = "".join(present)
    if any(character in whole for character in "\\\t\n\r"):
        texts = [None if text is None else text.translate(_ESCAPES) for text in texts]
    if len(present) == len(texts):
        return texts  # type: ignore[return-value]  # there is no None among them
    return [NULL if text is None else text for text in texts]


def finite_text(value: float) -> str:
    if not isfinite(value):
        raise not_a("a number that the database knows", value)
    return repr(value)


class Literals:
    """Values as they stand in a statement of MySQL. `quoted` writes a string in quotes, whatever is in it."""

    def __init__(self, quoted: Text) -> None:
        as_text: Text = lambda value: f"'{value}'"  # noqa: E731 - one of several in a table
        self._texts: Mapping[type, Text] = {
            str: quoted,
            int: str,
            float: finite_text,
            bool: lambda value: "1" if value else "0",
            bytes: _hexadecimal,
            bytearray: _hexadecimal,
            memoryview: _hexadecimal,
            Decimal: _decimal,
            datetime: as_text,
            date: as_text,
            time: as_text,
        }

    def rows(self, columns: Sequence[Sequence[Any]]) -> list[str]:
        """Each row in brackets."""
        texts = zip(*map(self._column, columns), strict=True)
        return [f"({row})" for row in map(",".join, texts)]

    def _column(self, values: Sequence[Any]) -> Iterable[str]:
        if set(map(type, values)) == {str}:
            whole = "".join(values)
            # Without these, no server in any mode reads a string in quotes as anything else.
            if not any(character in whole for character in "'\\\0"):
                return [f"'{value}'" for value in values]
        return [text or "NULL" for text in text_column(values, self._texts)]


def _hexadecimal(value: bytes) -> str:
    return f"x'{value.hex()}'"
