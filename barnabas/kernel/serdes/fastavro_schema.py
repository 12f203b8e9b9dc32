"""Schemas in the form to which fastavro's own parser brings them, so that none is parsed for each record, and names never meet.

Two things differ from what that parser makes. To read, branches and symbols are dicts by their number: in a list, a negative number that
data names would count from the end. And a branch whose name must not be lost is a record of one field, which takes no bytes of its own, so
that the value is `{branch: value}`.
"""

from __future__ import annotations

from typing import Any, Final

from fastavro.read import LOGICAL_READERS

from barnabas.kernel.serdes.avro_check import checked_int
from barnabas.kernel.serdes.avro_form import AvroForm, Convert, LeafType
from barnabas.kernel.serdes.avro_types import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    RecordType,
    UnionType,
)

WHOLE: Final = "value"
"""The only field of the record around a schema that is no record itself."""

# Logical types of our own: fastavro calls what is registered for them, with each value that it has read. It does nothing about others.
_CONVERTED: Final = "barnabas-converted"
_INT: Final = "barnabas-int"


def reading_schema(kind: AvroType, form: AvroForm) -> dict[str, Any]:
    return _parsed(kind, _Description(form, reads=True))


def writing_schema(kind: AvroType, form: AvroForm) -> dict[str, Any]:
    return _parsed(kind, _Description(form, reads=False))


def _parsed(kind: AvroType, description: _Description) -> dict[str, Any]:
    made = description.of(kind)
    if not isinstance(kind, RecordType):
        made = {"type": "record", "name": WHOLE, "fields": [{"name": WHOLE, "type": made}]}
    # By these marks fastavro knows what it has parsed.
    return {**made, "__fastavro_parsed": True, "__named_schemas": {}}


class _Description:
    def __init__(self, form: AvroForm, *, reads: bool) -> None:
        self._form = form
        self._reads = reads
        self._records: dict[RecordType, dict[str, Any]] = {}

    def of(self, kind: AvroType) -> Any:
        if isinstance(kind, RecordType):
            return self._records.get(kind) or self._record(kind)
        if isinstance(kind, UnionType):
            branches = self._branches(kind)
            return {"type": "union"} | dict(enumerate(branches)) if self._reads else branches
        if isinstance(kind, ArrayType):
            return {"type": "array", "items": self.of(kind.items)}
        if isinstance(kind, MapType):
            return {"type": "map", "values": self.of(kind.values)}
        if isinstance(kind, EnumType):
            symbols = dict(enumerate(kind.symbols)) if self._reads else list(kind.symbols)
            return {"type": "enum", "name": kind.name, "symbols": symbols}
        return self._leaf(kind)

    def _record(self, kind: RecordType) -> dict[str, Any]:
        fields: list[dict[str, Any]] = []
        # A record that holds itself is itself inside.
        made = self._records[kind] = {"type": "record", "name": kind.name, "fields": fields}
        fields += [{"name": each.name, "type": self.of(each.type)} for each in kind.fields]
        return made

    def _branches(self, kind: UnionType) -> list[Any]:
        wraps = self._form.wraps(kind)
        return [
            {"type": "record", "name": branch.name, "fields": [{"name": branch.name, "type": self.of(branch)}]}
            if wraps and branch.name != "null"
            else self.of(branch)
            for branch in kind.branches
        ]

    def _leaf(self, kind: LeafType) -> Any:
        made = {"type": "fixed", "name": kind.name, "size": kind.size} if isinstance(kind, FixedType) else kind.name
        convert = self._form.reader(kind) if self._reads else None
        if convert is None and not (self._reads and kind.name == "int"):
            return made
        described = made if isinstance(made, dict) else {"type": made}
        if convert is None:
            return described | {"logicalType": _INT}
        return described | {"logicalType": _CONVERTED, _CONVERTED: _of_int(convert) if kind.name == "int" else convert}


def _of_int(convert: Convert) -> Convert:
    return lambda value: convert(checked_int(value))


def _read_converted(value: Any, described: Any = None, _reader: Any = None) -> Any:
    return described[_CONVERTED](value)


def _read_int(value: int, _described: Any = None, _reader: Any = None) -> int:
    return checked_int(value)


LOGICAL_READERS[f"int-{_INT}"] = _read_int
for _name in ("boolean", "int", "long", "float", "double", "bytes", "string", "fixed"):
    LOGICAL_READERS[f"{_name}-{_CONVERTED}"] = _read_converted
