"""The types of a result's columns, from the texts in which the server tells them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from streams_sql.sql_types import Array, Base, Decimal, Field, Map, SqlType, Struct

_TOKEN: Final = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z]+|[0-9]+|[<>(),])")

PartT = TypeVar("PartT")


def parse_type(text: str) -> SqlType:
    """ValueError for a text that is no type."""
    reader = _Reader(text)
    found = reader.type()
    if not reader.is_over:
        raise ValueError(f"{text!r} is no type: it goes on behind {found}")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._place = 0

    @property
    def is_over(self) -> bool:
        return self._place == len(self._tokens)

    def type(self) -> SqlType:
        match word := self._next():
            case "ARRAY":
                return Array(self._within("<", ">", self.type))
            case "MAP":
                return self._within("<", ">", self._map)
            case "STRUCT":
                return Struct(tuple(self._within("<", ">", self._fields)))
            case "DECIMAL":
                return self._within("(", ")", self._decimal)
        try:
            return Base(word)
        except ValueError:
            raise ValueError(f"{self._text!r} is no type: {word!r} is not known") from None

    def _within(self, opening: str, closing: str, read: Callable[[], PartT]) -> PartT:
        self._expect(opening)
        found = read()
        self._expect(closing)
        return found

    def _map(self) -> Map:
        key = self.type()
        self._expect(",")
        return Map(key, self.type())

    def _decimal(self) -> Decimal:
        precision = int(self._next())
        self._expect(",")
        return Decimal(precision, int(self._next()))

    def _fields(self) -> list[Field]:
        fields: list[Field] = []
        while self._peek() != ">":
            if fields:
                self._expect(",")
            name = self._next()
            fields.append(Field(name[1:-1].replace("``", "`"), self.type()))
        return fields

    def _peek(self) -> str:
        found: str = "" if self.is_over else self._tokens[self._place]
        return found

    def _next(self) -> str:
        found = self._peek()
        self._place += 1
        return found

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise ValueError(f"{self._text!r} is no type: {token!r} is expected where {found!r} stands")
