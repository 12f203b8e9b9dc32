"""Values of a query's state as bytes that hold data and nothing else.

Checkpoints may be in storage that others can write to, so decoding them never runs code. Values of a list are encoded together, as columns:
tuples of one length become a column for each position, lists and dicts become their lengths and the column of their elements. What is left
are columns of plain values, which msgpack encodes in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from enum import IntEnum
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, TypeAlias

import msgspec

VERSION: Final = 1
"""The first byte. Another encoding has another number."""
POSITIONS_MAX: Final = 64
"""Longer tuples and lists are encoded by their elements: a column has its price."""

Encoded: TypeAlias = list[Any]
"""A column: its kind, and what the kind needs."""


class StateNotReadable(Exception):
    """State that this version did not write, or that is damaged."""


class StateNotPlain(TypeError):
    """A value of a type that has no encoding."""

    def __init__(self, kind: type) -> None:
        super().__init__(
            f"cannot store a state of type {kind.__module__}.{kind.__qualname__}: a state consists of None, bool, int, float, str, bytes, "
            f"bytearray, Decimal, and tuples, lists, sets and dicts of them"
        )


class _Kind(IntEnum):
    PLAIN = 0
    MIXED = 1
    TUPLE = 2
    LIST = 3
    TUPLES = 4
    """Of several lengths, as in the following ones."""
    LISTS = 5
    DICTS = 6
    SETS = 7
    FROZENSETS = 8
    DECIMAL = 9
    BYTEARRAY = 10
    LARGE_INT = 11
    TEXT = 12


_PLAIN: Final = frozenset({type(None), bool, int, float, str, bytes})
_BINARY: Final = frozenset({bytes})


def encoded(value: Any) -> bytes:
    """Encode a value. Raises StateNotPlain for a type that has no encoding."""
    try:
        content = msgspec.msgpack.encode(_Encoder(is_checked=False).column([value]))
    except (OverflowError, UnicodeEncodeError):
        # Rare: an integer beyond 64 bits, or half of a surrogate pair. Each plain value is looked at to find it.
        content = msgspec.msgpack.encode(_Encoder(is_checked=True).column([value]))
    return bytes((VERSION,)) + content


def decoded(content: bytes) -> Any:
    """Decode what `encoded` returned."""
    if not content or content[0] != VERSION:
        found = f"version {content[0]}" if content else "nothing"
        raise StateNotReadable(f"the state of the query has {found}, and this program reads version {VERSION}")
    try:
        (value,) = _decoded(msgspec.msgpack.decode(memoryview(content)[1:]))
    except (
        msgspec.DecodeError,
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
        RecursionError,
    ) as error:
        raise StateNotReadable(f"the state of the query is damaged: {error}") from error
    return value


class _Encoder:
    """Encodes columns. Where `is_checked`, plain values that msgpack has no form for get one of ours."""

    def __init__(self, *, is_checked: bool) -> None:
        self._is_checked = is_checked

    def column(self, values: Sequence[Any]) -> Encoded:
        kinds = set(map(type, values))
        if kinds <= _PLAIN:
            return self._checked(values) if self._is_checked else [_Kind.PLAIN, values]
        if len(kinds) > 1:
            return self._mixed(values, lambda value: type(value) if type(value) not in _PLAIN else None)
        (kind,) = kinds
        encode = _ENCODERS.get(kind)
        if encode is None:
            raise StateNotPlain(kind)
        return encode(self, values)

    def _mixed(self, values: Sequence[Any], kind_of: Callable[[Any], Any]) -> Encoded:
        """Values of several kinds: the number of the kind of each, and a column for each kind."""
        groups: dict[Any, tuple[int, list[Any]]] = {}
        numbers = bytearray()
        for value in values:
            number, group = groups.setdefault(kind_of(value), (len(groups), []))
            numbers.append(number)
            group.append(value)
        return [_Kind.MIXED, bytes(numbers), [self.column(group) for _, group in groups.values()]]

    def _checked(self, values: Sequence[Any]) -> Encoded:
        kinds = {_plain_kind(value) for value in values}
        if kinds <= {_Kind.PLAIN}:
            return [_Kind.PLAIN, values]
        if len(kinds) > 1:
            return self._mixed(values, _plain_kind)
        if kinds == {_Kind.LARGE_INT}:
            return [_Kind.LARGE_INT, list(map(hex, values))]
        return [_Kind.TEXT, [value.encode(errors="surrogatepass") for value in values]]

    def sequences(self, values: Sequence[Sequence[Any]]) -> Encoded:
        """Tuples, or lists."""
        is_tuple = isinstance(values[0], tuple)
        lengths = list(map(len, values))
        if 0 < lengths[0] <= POSITIONS_MAX and lengths.count(lengths[0]) == len(lengths):
            columns = [self.column(list(map(itemgetter(each), values))) for each in range(lengths[0])]
            return [_Kind.TUPLE if is_tuple else _Kind.LIST, columns]
        return [_Kind.TUPLES if is_tuple else _Kind.LISTS, lengths, self._elements(values)]

    def dicts(self, values: Sequence[dict[Any, Any]]) -> Encoded:
        contents = self._elements([each.values() for each in values])
        return [_Kind.DICTS, list(map(len, values)), self._elements(values), contents]

    def sets(self, values: Sequence[set[Any]]) -> Encoded:
        return [_Kind.SETS, list(map(len, values)), self._elements(values)]

    def frozensets(self, values: Sequence[frozenset[Any]]) -> Encoded:
        return [_Kind.FROZENSETS, list(map(len, values)), self._elements(values)]

    def decimals(self, values: Sequence[Decimal]) -> Encoded:
        return [_Kind.DECIMAL, list(map(str, values))]

    def bytearrays(self, values: Sequence[bytearray]) -> Encoded:
        return [_Kind.BYTEARRAY, values]

    def _elements(self, values: Iterable[Iterable[Any]]) -> Encoded:
        return self.column(list(chain.from_iterable(values)))


_ENCODERS: Final[dict[type, Callable[[_Encoder, Any], Encoded]]] = {
    tuple: _Encoder.sequences,
    list: _Encoder.sequences,
    dict: _Encoder.dicts,
    set: _Encoder.sets,
    frozenset: _Encoder.frozensets,
    Decimal: _Encoder.decimals,
    bytearray: _Encoder.bytearrays,
}


def _plain_kind(value: Any) -> _Kind:
    if type(value) is int and not -(2**63) <= value < 2**64:
        return _Kind.LARGE_INT
    if type(value) is str and not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
        return _Kind.TEXT
    return _Kind.PLAIN


def _decoded(column: Encoded) -> list[Any]:
    kind, content = column[0], column[1]
    match kind:
        case _Kind.PLAIN:
            return _of_types(_PLAIN, content)
        case _Kind.TUPLE:
            return list(zip(*map(_decoded, content), strict=True))
        case _Kind.LIST:
            return list(map(list, zip(*map(_decoded, content), strict=True)))
        case _Kind.MIXED:
            return _mixed(content, list(map(_decoded, column[2])))
        case _Kind.TUPLES | _Kind.LISTS | _Kind.SETS | _Kind.FROZENSETS:
            return _parts(_CONTAINERS[kind], content, _decoded(column[2]))
        case _Kind.DICTS:
            return _parts(dict, content, list(zip(_decoded(column[2]), _decoded(column[3]), strict=True)))
        case _Kind.DECIMAL:
            return list(map(Decimal, content))
        case _Kind.BYTEARRAY:
            return list(map(bytearray, _of_types(_BINARY, content)))
        case _Kind.LARGE_INT:
            return [int(each, 16) for each in content]
        case _Kind.TEXT:
            return [each.decode(errors="surrogatepass") for each in content]
    raise ValueError(f"no column has the kind {kind!r}")


_CONTAINERS: Final[dict[int, Callable[[Iterable[Any]], Any]]] = {
    _Kind.TUPLES: tuple,
    _Kind.LISTS: list,
    _Kind.SETS: set,
    _Kind.FROZENSETS: frozenset,
}


def _of_types(kinds: frozenset[type], values: list[Any]) -> list[Any]:
    """msgpack knows other values as well, and a bytearray of a number is as long as that."""
    if type(values) is not list or not kinds.issuperset(map(type, values)):
        raise ValueError("a column has values of another kind")
    return values


def _mixed(numbers: bytes, groups: Sequence[list[Any]]) -> list[Any]:
    if any(numbers.count(number) != len(group) for number, group in enumerate(groups)):
        raise ValueError("a column of several kinds has not as many values of each as it says")
    remaining = list(map(iter, groups))
    return [next(remaining[number]) for number in numbers]


def _parts(container: Callable[[Iterable[Any]], Any], lengths: Sequence[int], elements: list[Any]) -> list[Any]:
    """Containers of these lengths, of elements that follow each other."""
    if sum(lengths) != len(elements) or min(lengths, default=0) < 0:
        raise ValueError("the lengths of containers are not those of their elements")
    remaining = iter(elements)
    return [container(islice(remaining, length)) for length in lengths]
