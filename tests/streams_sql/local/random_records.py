"""Sources for queries that are made at random, and their records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any, Final

from tests.streams_sql.local.random_expressions import GREATEST, WORDS
from tests.streams_sql.local.statement_runs import Given

STREAM, OTHER, TABLE, FEW = "s", "r", "t", "u"
DECLARED: Final = {
    STREAM: "STREAM s (k STRING KEY, g STRING, a INT, b INT)",
    OTHER: "STREAM r (k STRING KEY, c INT)",
    TABLE: "TABLE t (k STRING PRIMARY KEY, f STRING, v INT)",
    FEW: "TABLE u (k STRING PRIMARY KEY, w INT)",
}
_WORD_COLUMNS: Final = {STREAM: ("g",), TABLE: ("f",)}
_NUMBER_COLUMNS: Final = {STREAM: ("a", "b"), OTHER: ("c",), TABLE: ("v",), FEW: ("w",)}

START: Final = 1_700_000_000_000
SECOND: Final = 1000
_STEP_S: Final = 4
_LATE_S: Final = 25
_NULLS: Final = 0.15


def declarations(topics: Mapping[str, str]) -> list[str]:
    return [f"CREATE {text} WITH (kafka_topic='{topics[name]}')" for name, text in DECLARED.items()]


def random_records(
    random: Random, sources: Collection[str], count: int, *, is_late: bool = False, null_words: bool = True
) -> list[Given]:
    """In the order in which they come. Their times are whole seconds, as the bounds of windows are; they grow, unless some may be late. Only
    rows of tables are deleted."""
    time, records = START, list[Given]()
    for _ in range(count):
        time += random.randint(1, _STEP_S) * SECOND
        source = random.choice(sorted(sources))
        is_deleted = source in (TABLE, FEW) and random.random() < _NULLS
        values = None if is_deleted else _values(random, source, null_words=null_words)
        at = time - random.randint(1, _LATE_S) * SECOND if is_late and random.random() < 0.3 else time
        records.append(Given(source, random.choice(WORDS), values, at))
    return records


def _values(random: Random, source: str, *, null_words: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in _NUMBER_COLUMNS[source]:
        values[name] = None if random.random() < _NULLS else random.randint(-GREATEST, GREATEST)
    for name in _WORD_COLUMNS.get(source, ()):
        values[name] = None if null_words and random.random() < _NULLS else random.choice(WORDS)
    return values


def columns(record: Given, *, is_qualified: bool = False) -> dict[str, Any]:
    """The values of a record by the names of its columns."""
    prefix = f"{record.source}." if is_qualified else ""
    values: dict[str, Any] = {"k": record.key, **(record.values or nothing(record.source))}
    return {prefix + name: value for name, value in values.items()}


def nothing(source: str) -> dict[str, None]:
    return dict.fromkeys((*_NUMBER_COLUMNS[source], *_WORD_COLUMNS.get(source, ())))


def table_rows(records: Sequence[Given], source: str) -> dict[Any, Given]:
    """What a table holds after its records."""
    rows: dict[Any, Given] = {}
    for record in records:
        if record.source == source:
            rows.pop(record.key, None)
            if record.values is not None:
                rows[record.key] = record
    return rows
