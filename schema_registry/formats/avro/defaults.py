"""Which values may be the default of a field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from schema_registry.formats.avro.types import ArrayType, AvroType, Kind, MapType, RecordType, UnionType
from schema_registry.formats.json_text import JsonValue
from schema_registry.formats.parsed_schema import InvalidSchema

INT_RANGE: Final = range(-(2**31), 2**31)
LONG_RANGE: Final = range(-(2**63), 2**63)

_TEXTS: Final = frozenset((Kind.STRING, Kind.BYTES, Kind.ENUM, Kind.FIXED))


class DefaultRules:
    """Tells whether values fit types, each pair once: a record without a value takes the defaults of its own fields, and so on.

    `resolved` gives the type that a name stands for, where types hold such.
    """

    def __init__(self, resolved: Callable[[AvroType], AvroType] = lambda a_type: a_type) -> None:
        self._resolved = resolved
        self._known: dict[tuple[int, int], bool] = {}
        self._kept: list[tuple[AvroType, JsonValue]] = []  # What is remembered by its id must live as long.
        self._unfinished: set[int] = set()

    def begin(self, record: RecordType) -> None:
        """From here on the fields of the record are not known, until `finish`."""
        self._unfinished.add(id(record))

    def finish(self, record: RecordType) -> None:
        self._unfinished.discard(id(record))

    def fits(self, value: JsonValue, a_type: AvroType) -> bool:
        pair = (id(a_type), id(value))
        if pair in self._known:
            return self._known[pair]
        found = False
        for branch in a_type.branches if isinstance(a_type, UnionType) else (a_type,):
            parts = self._parts(value, branch)
            # Loops in one function rather than several small ones: each level of a value costs stack.
            if parts is not None:
                for part, its_type in parts:
                    if not self.fits(part, its_type):
                        break
                else:
                    found = True
                    break
        if isinstance(value, (dict, list)):
            self._kept.append((a_type, value))
            self._known[pair] = found
        return found

    def _parts(self, value: JsonValue, a_type: AvroType) -> list[tuple[JsonValue, AvroType]] | None:
        """The values inside, each of which has to fit; None if the value as such does not."""
        a_type = self._resolved(a_type)
        match a_type:
            case ArrayType():
                return [(element, a_type.items) for element in value] if isinstance(value, list) else None
            case MapType():
                return [(member, a_type.values) for member in value.values()] if isinstance(value, dict) else None
            case RecordType():
                return self._parts_of_record(value, a_type) if isinstance(value, dict) else None
            case _:
                return [] if _fits_scalar(value, a_type.kind) else None

    def _parts_of_record(
        self, value: dict[str, JsonValue], record: RecordType
    ) -> list[tuple[JsonValue, AvroType]] | None:
        if id(record) in self._unfinished:
            raise InvalidSchema(
                f"Schema fields not set yet: a field inside of {record.name.full} has a default that holds another {record.name.full}; "
                "make the field a union with null and take null for its default"
            )
        fields = record.fields.values()
        if not all(field.has_default or field.name in value for field in fields):
            return None
        return [(value.get(field.name, field.default), field.type) for field in fields]


def _fits_scalar(value: JsonValue, kind: Kind) -> bool:
    if kind in _TEXTS:
        return isinstance(value, str)
    if kind is Kind.NULL:
        return value is None
    if kind is Kind.BOOLEAN or isinstance(value, bool):
        return isinstance(value, bool) and kind is Kind.BOOLEAN
    if kind is Kind.INT:
        return isinstance(value, int) and value in INT_RANGE
    if kind is Kind.LONG:
        return isinstance(value, int) and value in LONG_RANGE
    return isinstance(value, (int, float))
