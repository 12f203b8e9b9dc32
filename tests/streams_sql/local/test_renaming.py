"""Names mean nothing: a query whose topics, sources, columns, words and numbers are mapped to others tells the same, mapped along."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.local.random_expressions import WORDS
from tests.streams_sql.local.random_queries import SHAPES, Shape
from tests.streams_sql.local.random_records import DECLARED, declarations, random_records
from tests.streams_sql.local.statement_runs import Given, StatementRun, Told

RECORDS = 20
TOPICS = {name: name for name in DECLARED}
SOURCES: Final = (*DECLARED, "made")
COLUMNS: Final = (*"kgabcfvwxyzn", "c0", "c1", "key")
COUNT_COLUMN: Final = "N"
# What only quotes make names of columns, and of sources.
QUOTED: Final = ("GROUP", "count", "String", "a.b", "with ` in it", "ä ß", "1st", "NULL", "x->y", "--")
QUOTED_SOURCES: Final = ("SELECT", "lower", "with-dash", "2nd")
_TOKEN: Final = re.compile(r"'(?P<word>[^']*)'|(?P<number>(?<!> )\b\d+\b(?! SECONDS))|(?P<name>\b[a-z]\w*\b)")


class Renaming:
    def __init__(self, random: Random) -> None:
        self._factor = random.choice((2, 8, 512))
        self._names = _mapped(random, SOURCES, QUOTED_SOURCES) | _mapped(random, COLUMNS, QUOTED)
        self._words = {word: f"{word}'{random.random()}" for word in WORDS}
        self.topics = {name: f"{name}-{random.randrange(1000)}.Topic_" for name in DECLARED}

    def name(self, of: str) -> str:
        """As the catalogue has it."""
        return self._names.get(of.lower(), of)

    def text(self, statement: str) -> str:
        return _TOKEN.sub(self._token, statement)

    def _token(self, found: re.Match[str]) -> str:
        word, number, name = found.group("word", "number", "name")
        if word is not None:
            return "'" + self._words[word].replace("'", "''") + "'" if word in self._words else found.group()
        if number is not None:
            return str(int(number) * self._factor)
        if name not in self._names:
            return name
        mapped = self._names[name]
        return _quoted(mapped) if mapped in (*QUOTED, *QUOTED_SOURCES) else mapped.lower()

    def value(self, of: Any) -> Any:
        match of:
            case list():
                return [self.value(each) for each in of]
            case str():
                return self._words[of]
            case int() | float():
                return of * self._factor
        return of

    def values(self, of: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if of is None:
            return None
        return {self.name(name): value if name == COUNT_COLUMN else self.value(value) for name, value in of.items()}

    def record(self, of: Given) -> Given:
        return Given(of.source, self.value(of.key), self.values(of.values), of.time)

    def row(self, of: Told) -> Told:
        return Told(tuple(map(self.value, of.key)), of.window, self.values(of.values), of.time)


def _mapped(random: Random, names: Sequence[str], quoted: Sequence[str]) -> dict[str, str]:
    plain = [f"{''.join(random.choices('QWERTZ', k=4))}_{place}" for place in range(len(names))]
    return dict(zip(names, random.sample([*plain, *quoted], len(names)), strict=True))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__.strip("_"))
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_told_is_mapped_along(shape: Shape, seed: int) -> None:
    random = Random(seed)
    query, renaming = shape(random, is_linear=True), Renaming(random)
    records = random_records(random, query.reads, RECORDS, is_late=query.is_late, null_words=query.null_words)
    plan = planned(f"CREATE {query.statement}", sources(*declarations(TOPICS)))
    told = StatementRun(plan, TOPICS).told(records)

    declared = [
        f"CREATE {renaming.text(text)} WITH (kafka_topic='{renaming.topics[name]}')" for name, text in DECLARED.items()
    ]
    renamed = renaming.text(query.statement)
    run = StatementRun(planned(f"CREATE {renamed}", sources(*declared)), renaming.topics)
    assert run.told(map(renaming.record, records)) == [renaming.row(row) for row in told], renamed
