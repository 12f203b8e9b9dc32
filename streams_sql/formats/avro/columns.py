"""Plain Avro records to columns: field by field, for many records at once, on an array of all their bytes.

Where a field of one record begins depends on those before it, but not on other records: so each step reads the same field of all of them.
Whatever is out of the ordinary is left to those who read records one by one, of which `avro_rows` is the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from barnabas.kernel.serdes.avro_types import AvroType, UnionType
from streams_sql.evaluation.integers import INTEGER_MAX
from streams_sql.formats.avro.rows import NULL, plain_fields
from streams_sql.formats.serde import DecodeColumns
from streams_sql.formats.written import Part, same_fields
from streams_sql.sources import Column

Places: TypeAlias = NDArray[np.int64]

PADDING: Final = bytes(16)
"""More than is read at once behind the place up to which a record was read."""
LONG_SHIFT_MAX: Final = 56
"""Longer numbers do not fit the arithmetic."""


class _OutOfTheOrdinary(Exception):
    """The records must be read one by one."""


class _Bodies:
    """Records one behind the other. All begin with the same bytes, which are passed over."""

    def __init__(self, payloads: Sequence[bytes | None], prefix: bytes) -> None:
        self.joined = b"".join(payloads)  # type: ignore[arg-type]
        self._padded = self.joined + PADDING
        self.data = np.frombuffer(self._padded, np.uint8)
        sizes = np.fromiter(map(len, payloads), np.int64, len(payloads))  # type: ignore[arg-type]
        self.ends: Places = np.cumsum(sizes)
        starts = self.ends - sizes
        if not (self.anywhere(f"V{len(prefix)}")[starts] == np.void(prefix)).all():
            raise _OutOfTheOrdinary
        self.begin: Places = starts + len(prefix)

    def anywhere(self, kind: str) -> NDArray[Any]:
        """A value of this kind from each byte on."""
        return np.ndarray((len(self.joined),), np.dtype(kind), self._padded, strides=(1,))


ReadField: TypeAlias = Callable[[_Bodies, Places], tuple[Sequence[Any], Places]]
"""The values of one field, and the places behind them."""


def column_reader(kind: AvroType, part: Part, columns: Sequence[Column], prefix: bytes) -> DecodeColumns | None:
    """Of records with the prefix of this schema. None where a field is not plain, or a column is of another type than its field."""
    fields = plain_fields(kind, _READING)
    wanted = same_fields(part, columns)
    if fields is None or wanted is None:
        return None
    readers = {field.name: _field_reader(isinstance(field.type, UnionType), branches) for field, branches in fields}

    def decode_columns(payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]] | None:
        found: dict[str | None, Sequence[Any]] = {None: (None,) * len(payloads)}
        try:
            bodies = _Bodies(payloads, prefix)
            places = bodies.begin
            for name, read in readers.items():
                found[name], places = read(bodies, places)
        except (_OutOfTheOrdinary, IndexError, TypeError, UnicodeDecodeError):
            return None
        return [found[name] for name in wanted] if (places == bodies.ends).all() else None

    return decode_columns


def _field_reader(is_union: bool, branches: Sequence[str]) -> ReadField:
    (kind,) = [name for name in branches if name != NULL]
    read = _READING[kind]
    if not is_union:
        return read
    # The numbers of branches are written with a sign.
    tags = {name: 2 * number for number, name in enumerate(branches)}
    value, null = tags[kind], tags.get(NULL)

    def read_union(bodies: _Bodies, places: Places) -> tuple[Sequence[Any], Places]:
        found, places = bodies.data[places], places + 1
        present = found == value
        if present.all():
            return read(bodies, places)
        if not (present | (found == null)).all():
            raise _OutOfTheOrdinary
        values: list[Any] = [None] * len(places)
        some, places[present] = read(bodies, places[present])
        for place, each in zip(np.flatnonzero(present).tolist(), some, strict=True):
            values[place] = each
        return values, places

    return read_union


def _numbers(bodies: _Bodies, places: Places) -> tuple[NDArray[np.int64], Places]:
    """Those of variable length, lowest bits first, in which the lowest is the sign."""
    byte, places = bodies.data[places], places + 1
    bits = (byte & 0x7F).astype(np.int64)
    more, shift = byte > 0x7F, 7
    while more.any():
        if shift > LONG_SHIFT_MAX:
            raise _OutOfTheOrdinary
        byte, places = np.where(more, bodies.data[places], 0), places + more
        bits |= (byte & 0x7F).astype(np.int64) << shift
        more, shift = byte > 0x7F, shift + 7
    return (bits >> 1) ^ -(bits & 1), places


def _longs(bodies: _Bodies, places: Places) -> tuple[Sequence[Any], Places]:
    values, places = _numbers(bodies, places)
    return values.tolist(), places


def _ints(bodies: _Bodies, places: Places) -> tuple[Sequence[Any], Places]:
    values, places = _numbers(bodies, places)
    if len(values) and not -INTEGER_MAX - 1 <= values.min() <= values.max() <= INTEGER_MAX:
        raise _OutOfTheOrdinary
    return values.tolist(), places


def _booleans(bodies: _Bodies, places: Places) -> tuple[Sequence[Any], Places]:
    return (bodies.data[places] != 0).tolist(), places + 1


def _floats(bodies: _Bodies, places: Places) -> tuple[Sequence[Any], Places]:
    return bodies.anywhere("<f4")[places].tolist(), places + 4


def _doubles(bodies: _Bodies, places: Places) -> tuple[Sequence[Any], Places]:
    return bodies.anywhere("<f8")[places].tolist(), places + 8


def _texts(bodies: _Bodies, places: Places) -> tuple[Sequence[Any], Places]:
    sizes, starts = _numbers(bodies, places)
    if ((sizes < 0) | (sizes > len(bodies.joined))).any():
        raise _OutOfTheOrdinary
    ends, joined = starts + sizes, bodies.joined
    return [joined[start:end].decode() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)], ends


_READING: Final[Mapping[str, ReadField]] = {
    "boolean": _booleans,
    "int": _ints,
    "long": _longs,
    "float": _floats,
    "double": _doubles,
    "string": _texts,
}
