"""Records of a topic put together in runs: those of a run are written by few statements, and the runs one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

from connect.api.record import Record
from connect.connectors.jdbc.writing.fields import RecordShape
from connect.connectors.jdbc.writing.modes import InsertMode
from connect.data.schema import Schema
from connect.errors import DataError


@dataclass(slots=True)
class Run:
    """Records in their order. `value_schema` and `value_names` are those of records with values; a run may have none of these."""

    shape: RecordShape
    records: list[Record] = field(default_factory=list)
    has_values: bool = False
    has_deletions: bool = False


class _Likeness(NamedTuple):
    """What records of a group share; tuples are equal at once if their parts are the same objects, so no schema is compared in vain."""

    is_deletion: bool
    key_schema: Schema | None
    value_schema: Schema | None
    key_names: Any
    value_names: Any


def _names(value: Any, schema: Schema | None) -> Any:
    return value.keys() if schema is None and type(value) is dict else None


def _likeness(record: Record) -> _Likeness:
    key, value = record.key, record.value
    return _Likeness(
        value is None,
        record.key_schema,
        record.value_schema,
        _names(key, record.key_schema),
        _names(value, record.value_schema),
    )


_SCHEMAS: Final = attrgetter("key_schema", "value_schema")
_KEY: Final = attrgetter("key")
_VALUE: Final = attrgetter("value")


def _groups(records: Iterable[Record]) -> Iterator[tuple[_Likeness, list[Record]]]:
    """Neighbours that are alike. With schemas that is told without a call for each record, which takes a tenth of a sink's time."""
    for (key_schema, value_schema), group in groupby(records, _SCHEMAS):
        alike = list(group)
        has_key_names = key_schema is None and dict in set(map(type, map(_KEY, alike)))
        if value_schema is not None and not has_key_names and None not in map(_VALUE, alike):
            yield _likeness(alike[0]), alike
        else:
            yield from ((likeness, list(part)) for likeness, part in groupby(alike, _likeness))


@dataclass(frozen=True, slots=True)
class RunRules:
    mode: InsertMode
    deletes: bool

    def runs_of(self, records: Sequence[Record]) -> list[Run]:
        """The runs of one table. DataError for a record without a value if that does not mean to delete."""
        if self.deletes or self.mode.needs_key:
            return list(self._in_order(records))
        return list(self._sorted_by_shape(records))

    def _sorted_by_shape(self, records: Iterable[Record]) -> Iterator[Run]:
        """New rows know no order. Those without schema go together: what one has not is null."""
        runs: dict[RecordShape, Run] = {}
        names: dict[RecordShape, dict[str, None]] = {}
        for likeness, group in _groups(records):
            self._check(likeness)
            has_names = likeness.value_names is not None
            shape = _shape(likeness)._replace(value_names=frozenset() if has_names else None)
            run = runs.setdefault(shape, Run(shape, has_values=True))
            run.records += group
            if has_names:
                names.setdefault(shape, {}).update(dict.fromkeys(likeness.value_names))
        for shape, run in runs.items():
            if shape in names:
                run.shape = shape._replace(value_names=tuple(names[shape]))
            yield run

    def _in_order(self, records: Iterable[Record]) -> Iterator[Run]:
        run: Run | None = None
        for likeness, group in _groups(records):
            self._check(likeness)
            if run is None or not self._fits(run, likeness):
                if run is not None:
                    yield run
                run = Run(_shape(likeness))
            if likeness.is_deletion:
                run.has_deletions = True
            elif not run.has_values:
                run.has_values = True
                run.shape = _shape(likeness)
            run.records += group
        if run is not None:
            yield run

    def _fits(self, run: Run, likeness: _Likeness) -> bool:
        """Inserts and updates come before the deletions of their run; upserts and deletions may come in any order."""
        shape = run.shape
        if shape.key_schema != likeness.key_schema or not _same_names(shape.key_names, likeness.key_names):
            return False
        if likeness.is_deletion:
            return True
        if run.has_deletions and self.mode is not InsertMode.UPSERT:
            return False
        if not run.has_values:
            return True
        return shape.value_schema == likeness.value_schema and _same_names(shape.value_names, likeness.value_names)

    def _check(self, likeness: _Likeness) -> None:
        if likeness.is_deletion and not self.deletes:
            raise DataError(
                "the record has no value: delete.enabled=true lets it delete the row of its key, and a Filter transform leaves it out"
            )


def _same_names(first: Collection[str] | None, second: Collection[str] | None) -> bool:
    """The order of names means nothing."""
    return first is second or (first is not None and second is not None and set(first) == set(second))


def _shape(likeness: _Likeness) -> RecordShape:
    return RecordShape(
        likeness.key_schema,
        likeness.value_schema,
        None if likeness.key_names is None else tuple(likeness.key_names),
        None if likeness.value_names is None else tuple(likeness.value_names),
    )


def by_topic(records: Iterable[Record]) -> Mapping[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for topic, group in groupby(records, attrgetter("topic")):
        found.setdefault(topic, []).extend(group)
    return found
