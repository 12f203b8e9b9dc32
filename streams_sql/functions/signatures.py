"""Signatures from their texts: see `declaration` for how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from streams_sql.function_declaration import (
    AnyDecimal,
    AnyStruct,
    AnyType,
    ArrayOf,
    IntervalUnit,
    LambdaOf,
    MapOf,
    Pattern,
)
from streams_sql.sql_types import Array, Base, Decimal, Field, Map, SqlType, Struct

_TOKEN: Final = re.compile(r"\w+|->|=>|\.\.\.|[<>(),]")


@dataclass(frozen=True, slots=True)
class Signature:
    parameters: tuple[Pattern, ...]
    result: Pattern
    is_variadic: bool


def parse_signature(text: str) -> Signature:
    tokens = _Tokens(text)
    parameters: list[Pattern] = []
    is_variadic = False
    while not tokens.accepts("->"):
        parameters.append(_pattern(tokens))
        is_variadic = tokens.accepts("...")
        tokens.accepts(",")
    signature = Signature(tuple(parameters), _pattern(tokens), is_variadic)
    tokens.expect_end()
    return signature


class _Tokens:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._next = 0

    def take(self) -> str:
        if self._next == len(self._tokens):
            raise ValueError(f"The signature ends too early: {self._text}")
        self._next += 1
        return str(self._tokens[self._next - 1])

    def accepts(self, token: str) -> bool:
        is_there = self._tokens[self._next : self._next + 1] == [token]
        self._next += is_there
        return is_there

    def expect(self, token: str) -> None:
        found = self.take()
        if found != token:
            raise ValueError(f"{token} is expected instead of {found} in the signature: {self._text}")

    def expect_end(self) -> None:
        if self._next != len(self._tokens):
            raise ValueError(f"Nothing is expected before {self.take()} in the signature: {self._text}")


def _pattern(tokens: _Tokens) -> Pattern:
    word = tokens.take()
    if word == "(":
        return _lambda(tokens)
    if word == "ARRAY":
        return ArrayOf(*_parts(tokens, 1))
    if word == "MAP":
        return MapOf(*_parts(tokens, 2))
    if word == "STRUCT":
        return Struct(tuple(_fields(tokens))) if tokens.accepts("<") else AnyStruct()
    if word == "DECIMAL":
        return _decimal(tokens) if tokens.accepts("(") else AnyDecimal()
    if word == "INTERVALUNIT":
        return IntervalUnit()
    return AnyType(word) if len(word) == 1 else Base(word)


def _lambda(tokens: _Tokens) -> LambdaOf:
    parameters = []
    while not tokens.accepts(")"):
        parameters.append(_pattern(tokens))
        tokens.accepts(",")
    tokens.expect("=>")
    return LambdaOf(tuple(parameters), _pattern(tokens))


def _parts(tokens: _Tokens, count: int) -> list[Pattern]:
    tokens.expect("<")
    parts = [_pattern(tokens)]
    while tokens.accepts(","):
        parts.append(_pattern(tokens))
    tokens.expect(">")
    if len(parts) != count:
        raise ValueError(f"{count} types are expected between < and >, not {len(parts)}")
    return parts


def _fields(tokens: _Tokens) -> Iterator[Field]:
    while not tokens.accepts(">"):
        name = tokens.take()
        yield Field(name, _concrete(_pattern(tokens)))
        tokens.accepts(",")


def _decimal(tokens: _Tokens) -> Decimal:
    precision = int(tokens.take())
    tokens.expect(",")
    scale = int(tokens.take())
    tokens.expect(")")
    return Decimal(precision, scale)


def _concrete(pattern: Pattern) -> SqlType:
    match pattern:
        case ArrayOf(element):
            return Array(_concrete(element))
        case MapOf(key, value):
            return Map(_concrete(key), _concrete(value))
        case Base() | Decimal() | Struct() | Array() | Map():
            return pattern
    raise ValueError(f"{pattern} cannot be the type of a field")
