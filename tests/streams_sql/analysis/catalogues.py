"""A catalogue in memory, filled by statements."""

from __future__ import annotations

from collections.abc import Iterable

from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.definition import define_source
from streams_sql.analysis.persistent import plan_create_as, plan_insert
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateAsSelect, CreateSource, InsertSelect, Query
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.sources import InferredSchema, Source

DEFAULTS = Defaults(value_format="JSON")


class Sources:
    """What the analyser sees of a catalogue."""

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {}

    def source(self, name: str) -> Source | None:
        return self._sources.get(name)

    def names(self) -> Iterable[str]:
        return self._sources

    def add(self, text: str) -> Source:
        statement = parse_statement(text)
        if isinstance(statement, CreateAsSelect):
            source = plan_create_as(statement, self, DEFAULTS).sink
        else:
            source = defined(text)
        self._sources[source.name] = source
        return source


def defined(text: str, defaults: Defaults = DEFAULTS, inferred: InferredSchema | None = None) -> Source:
    statement = parse_statement(text)
    assert isinstance(statement, CreateSource)
    return define_source(statement, defaults, inferred)


def sources(*statements: str) -> Sources:
    catalogue = Sources()
    for text in statements:
        catalogue.add(text)
    return catalogue


def planned(text: str, catalogue: Sources, defaults: Defaults = DEFAULTS) -> PersistentPlan:
    """The plan of CREATE … AS SELECT or INSERT INTO … SELECT."""
    statement = parse_statement(text)
    if isinstance(statement, InsertSelect):
        return plan_insert(statement, catalogue)
    assert isinstance(statement, CreateAsSelect)
    return plan_create_as(statement, catalogue, defaults)


def query_of(text: str) -> Query:
    statement = parse_statement(text)
    assert isinstance(statement, Query)
    return statement


EVERYTHING = (
    "CREATE STREAM everything (k STRING KEY, b BOOLEAN, i INT, l BIGINT, d DOUBLE, e DECIMAL(4, 2), f DECIMAL(6, 1), s STRING, "
    "y BYTES, t TIME, a DATE, m TIMESTAMP, ai ARRAY<INT>, ms MAP<STRING, BIGINT>, st STRUCT<x INT, `y` STRUCT<z STRING>>, "
    "h ARRAY<STRUCT<key STRING, value BYTES>> HEADERS) WITH (kafka_topic='everything')"
)
