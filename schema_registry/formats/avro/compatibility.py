"""Whether one Avro schema can read what another wrote: the rules of Avro 1.12.1 for Java, its order and its words."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Final, TypeAlias

from schema_registry.formats.avro.default_values import java_order
from schema_registry.formats.avro.printer import print_type
from schema_registry.formats.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    Kind,
    MapType,
    Name,
    NamedType,
    RecordType,
    UnionType,
)
from schema_registry.formats.parsed_schema import InvalidSchema

INCOMPATIBILITIES_MAX = 10_000
"""A type that is used in many places counts in each of them, so that their number could double with each level of a schema."""


PAIRS_MAX = 100_000
"""Two unions take as many comparisons as the product of their sizes; no schema that means well needs this many."""


class Rule(Enum):
    """What was broken; the values are Avro's names, except for the last two, which are an exception in Avro."""

    NAME_MISMATCH = "NAME_MISMATCH"
    FIXED_SIZE_MISMATCH = "FIXED_SIZE_MISMATCH"
    MISSING_ENUM_SYMBOLS = "MISSING_ENUM_SYMBOLS"
    READER_FIELD_MISSING_DEFAULT_VALUE = "READER_FIELD_MISSING_DEFAULT_VALUE"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    MISSING_UNION_BRANCH = "MISSING_UNION_BRANCH"
    AMBIGUOUS_FIELD = "AMBIGUOUS_FIELD"
    TOO_MANY_COMPARISONS = "TOO_MANY_COMPARISONS"


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """`details` are Avro's own words. `field` is the reader's, where the fault is one of a field."""

    rule: Rule
    path: str
    details: str
    reader: AvroType
    writer: AvroType
    field: Field | None = None


@dataclass(frozen=True, slots=True)
class _Pair:
    reader: AvroType
    writer: AvroType
    path: str

    def fault(self, rule: Rule, token: str, details: str, field: Field | None = None) -> Incompatibility:
        return Incompatibility(rule, f"{self.path}{token}" or "/", details, self.reader, self.writer, field)


class _GaveUp(Exception):
    """The check cannot go on: what it has found until then does not count."""

    def __init__(self, incompatibility: Incompatibility) -> None:
        super().__init__(incompatibility.details)
        self.incompatibility = incompatibility


_Key: TypeAlias = tuple[int, int]
_Found: TypeAlias = list[Incompatibility]
# A check asks for the answer about a pair inside of its own, and is sent it. So the depth of a schema costs no stack: types can refer
# to one another in chains much longer than any text nests.
_Check: TypeAlias = Generator[_Pair, Any, _Found]

_READS_ALSO: Final[Mapping[Kind, tuple[Kind, ...]]] = {
    Kind.LONG: (Kind.INT,),
    Kind.FLOAT: (Kind.INT, Kind.LONG),
    Kind.DOUBLE: (Kind.INT, Kind.LONG, Kind.FLOAT),
    Kind.BYTES: (Kind.STRING,),
    Kind.STRING: (Kind.BYTES,),
}


def incompatibilities(reader: AvroType, writer: AvroType) -> list[Incompatibility]:
    """All reasons why the reader may be unable to read data of the writer."""
    try:
        return _Checker().check(_Pair(reader, writer, ""))
    except _GaveUp as end:
        return [end.incompatibility]


class _Checker:
    """Looks at each pair of types once, and takes a pair that it is still looking at for a good one: types can hold themselves.

    What it found about a pair counts again wherever the pair occurs again, with the path of the first time, as in Java.
    """

    def __init__(self) -> None:
        self._answers: dict[_Key, _Found] = {}
        self._waiting: list[tuple[_Key, _Check]] = []

    def check(self, root: _Pair) -> _Found:
        answer = self._answer(root)
        while self._waiting:
            key, check = self._waiting[-1]
            try:
                asked = check.send(answer)
            except StopIteration as done:
                self._waiting.pop()
                self._answers[key] = answer = done.value
            else:
                answer = self._answer(asked)
        return answer or []

    def _answer(self, pair: _Pair) -> _Found | None:
        """The answer, if there is one at once; otherwise a check has begun."""
        key = (id(pair.reader), id(pair.writer))
        known = self._answers.get(key)
        if known is not None:
            return known
        if len(self._answers) == PAIRS_MAX:
            details = f"the schemas need more than {PAIRS_MAX} comparisons"
            raise _GaveUp(pair.fault(Rule.TOO_MANY_COMPARISONS, "", details))
        check = _inner_check(pair)
        if check is None:
            self._answers[key] = found = _flat_check(pair)
            return found
        self._answers[key] = []
        self._waiting.append((key, check))
        return None


def _inner_check(pair: _Pair) -> _Check | None:
    """The check of a pair that depends on types inside; None if it does not."""
    match pair.reader, pair.writer:
        case UnionType() as reader, UnionType() as writer:
            return _check_unions(pair, reader, writer)
        case _, UnionType() as writer:
            return _check_all_branches(pair, writer)
        case UnionType() as reader, _:
            return _check_any_branch(pair, reader)
        case ArrayType() as reader, ArrayType() as writer:
            return _check_part(_Pair(reader.items, writer.items, f"{pair.path}/items"))
        case MapType() as reader, MapType() as writer:
            return _check_part(_Pair(reader.values, writer.values, f"{pair.path}/values"))
        case RecordType() as reader, RecordType() as writer:
            return _check_records(pair, reader, writer)
        case _:
            return None


def _flat_check(pair: _Pair) -> _Found:
    reader, writer = pair.reader, pair.writer
    if reader.kind is not writer.kind:
        if writer.kind in _READS_ALSO.get(reader.kind, ()):
            return []
        details = f"reader type: {reader.kind.name} not compatible with writer type: {writer.kind.name}"
        return [pair.fault(Rule.TYPE_MISMATCH, "", details)]
    if isinstance(reader, FixedType) and isinstance(writer, FixedType):
        return _check_names(pair, reader, writer) + _check_sizes(pair, reader, writer)
    if isinstance(reader, EnumType) and isinstance(writer, EnumType):
        return _check_names(pair, reader, writer) + _check_symbols(pair, reader, writer)
    return []


def _check_names(pair: _Pair, reader: NamedType, writer: NamedType) -> _Found:
    """Namespaces may differ; an alias must be the whole name."""
    if reader.name.short == writer.name.short or writer.name.full in map(partial(_known_as, reader), reader.aliases):
        return []
    return [pair.fault(Rule.NAME_MISMATCH, "/name", f"expected: {writer.name.full}")]


def _check_sizes(pair: _Pair, reader: FixedType, writer: FixedType) -> _Found:
    if reader.size == writer.size:
        return []
    return [pair.fault(Rule.FIXED_SIZE_MISMATCH, "/size", f"expected: {writer.size}, found: {reader.size}")]


def _check_symbols(pair: _Pair, reader: EnumType, writer: EnumType) -> _Found:
    missing = sorted(set(writer.symbols).difference(reader.symbols), key=java_order)
    if not missing or reader.default is not None:
        return []
    return [pair.fault(Rule.MISSING_ENUM_SYMBOLS, "/symbols", f"[{', '.join(missing)}]")]


def _check_part(part: _Pair) -> _Check:
    found: _Found = yield part
    return found


def _check_records(pair: _Pair, reader: RecordType, writer: RecordType) -> _Check:
    found = _check_names(pair, reader, writer)
    for position, field in enumerate(reader.fields.values()):
        token = f"/fields/{position}"
        counterpart = _counterpart(pair, writer, field, position)
        if counterpart:
            _add(found, (yield _Pair(field.type, counterpart.type, f"{pair.path}{token}/type")))
        elif not field.has_default:
            if isinstance(field.type, EnumType) and field.type.default is not None:
                # Avro compares the enum with the whole record here, and says that the types do not match.
                _add(found, (yield _Pair(field.type, writer, f"{pair.path}{token}/type")))
            else:
                _add(found, [pair.fault(Rule.READER_FIELD_MISSING_DEFAULT_VALUE, token, field.name, field)])
    return found


def _check_unions(pair: _Pair, reader: UnionType, writer: UnionType) -> _Check:
    found: _Found = []
    for index, branch in enumerate(writer.branches):
        if (yield _Pair(reader, branch, "")):
            _add(found, [pair.fault(Rule.MISSING_UNION_BRANCH, f"/{index}", _lacking(branch))])
    return found


def _check_all_branches(pair: _Pair, writer: UnionType) -> _Check:
    found: _Found = []
    for index, branch in enumerate(writer.branches):
        _add(found, (yield _Pair(pair.reader, branch, f"{pair.path}/{index}")))
    return found


def _check_any_branch(pair: _Pair, reader: UnionType) -> _Check:
    for branch in reader.branches:
        if not (yield _Pair(branch, pair.writer, "")):
            return []
    return [pair.fault(Rule.MISSING_UNION_BRANCH, "", _lacking(pair.writer))]


def _add(found: _Found, more: _Found) -> None:
    found.extend(more[: INCOMPATIBILITIES_MAX - len(found)])


def _lacking(writer: AvroType) -> str:
    return f"reader union lacking writer type: {writer.kind.name}"


def _known_as(reader: NamedType, alias: Name) -> str:
    return f".{alias.short}" if alias.namespace is None and reader.name.namespace is not None else alias.full


def _counterpart(pair: _Pair, writer: RecordType, field: Field, position: int) -> Field | None:
    """The writer's field that a field of the reader stands for."""
    found = [writer.fields[name] for name in (field.name, *field.aliases) if name in writer.fields]
    if len(found) > 1:
        described = f"{field.name} type:{field.type.kind.name} pos:{position}"
        details = f"Reader record field {described} matches multiple fields in writer record schema {_text(writer)}"
        raise _GaveUp(pair.fault(Rule.AMBIGUOUS_FIELD, f"/fields/{position}", details, field))
    return found[0] if found else None


def _text(record: RecordType) -> str:
    try:
        return print_type(record)
    except InvalidSchema:
        return record.name.full  # Written out from here on, types that hold one another would nest too deep.
