"""What in an Avro schema lets few bytes stand for much."""

from __future__ import annotations

import sys
from typing import Final

from barnabas.kernel.serdes.avro_types import (
    ArrayType,
    AvroType,
    FixedType,
    MapType,
    PrimitiveType,
    RecordType,
    UnionType,
)

NESTED_MAX_BYTES: Final = 256
"""Each level takes a byte at least: so little nests no deeper than the stack of fastavro allows."""


def trusted_bytes(kind: AvroType) -> int:
    """How long data may be to be read without a check. Always checked are arrays of items, and records in themselves, that take no bytes."""
    search = _Search()
    search.takes_bytes(kind)
    if not all(map(search.takes_bytes, search.items)) or (search.is_recursive and not all(search.records.values())):
        return -1
    return NESTED_MAX_BYTES if search.is_recursive else sys.maxsize


class _Search:
    def __init__(self) -> None:
        self.is_recursive = False
        self.records: dict[RecordType, bool] = {}
        self.items: list[AvroType] = []
        self._open: set[RecordType] = set()

    def takes_bytes(self, kind: AvroType) -> bool:
        """Whether each value of the type takes a byte at least."""
        if isinstance(kind, RecordType):
            return self._record_takes_bytes(kind)
        if isinstance(kind, ArrayType) and kind.items not in self.items:
            self.items.append(kind.items)
        for inside in _inside(kind):
            self.takes_bytes(inside)
        if isinstance(kind, PrimitiveType):
            return kind.name != "null"
        return not isinstance(kind, FixedType) or kind.size != 0

    def _record_takes_bytes(self, kind: RecordType) -> bool:
        self.is_recursive |= kind in self._open
        if kind not in self.records:
            self.records[kind] = False
            self._open.add(kind)
            for each in kind.fields:
                self.records[kind] |= self.takes_bytes(each.type)
            self._open.discard(kind)
        return self.records[kind]


def _inside(kind: AvroType) -> tuple[AvroType, ...]:
    if isinstance(kind, UnionType):
        return kind.branches
    if isinstance(kind, ArrayType):
        return (kind.items,)
    return (kind.values,) if isinstance(kind, MapType) else ()
