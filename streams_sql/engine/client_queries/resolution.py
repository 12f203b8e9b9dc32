"""What the names in FROM mean: a stream or a table, else a topic without a declaration."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin, TopicLayout
from streams_sql.analysis.catalogue_view import SUGGESTION_SIMILARITY, CatalogueView, source_hint
from streams_sql.analysis.query_parts import Exchange, relations
from streams_sql.analysis.record_columns import record_columns, with_record_columns
from streams_sql.engine.client_queries.declaration import declaration
from streams_sql.language.statements import Query, Relation
from streams_sql.problem import SqlProblem
from streams_sql.sources import SINGLE_ROW, Source
from streams_sql.topics.schemas import FoundTopic, TopicSchemas

NEAR_MAX: Final = 3
"""Names that are proposed instead of one that is not known."""
INTERNAL: Final = ("_", "default_")
"""Topics whose names begin so are found by their exact names alone."""

_NEEDS_SOURCE: Final = (
    "A SELECT without FROM has one row, once: a query that waits for records needs FROM, with a stream or a table."
)


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """A query whose names are all known: its sources by the names that it has for them. `notes` say where columns of topics come from."""

    query: Query
    sources: Mapping[str, Source]
    notes: tuple[str, ...] = ()

    def source(self, name: str) -> Source | None:
        return self.sources.get(name)

    def names(self) -> Iterable[str]:
        return self.sources

    @property
    def is_of_tables(self) -> bool:
        """Whether it asks for nothing but what tables hold now."""
        has_ranges = any(relation.range is not None for relation in relations(self.query))
        return not has_ranges and all(source.is_table for source in self.sources.values())

    @property
    def reads_records(self) -> bool:
        """Whether it asks for topics, or for what only records have: Spark does not know of these."""
        return any(source.is_topic or source.record_columns for source in self.sources.values())


class Resolution:
    def __init__(self, admin: Admin, schemas: TopicSchemas) -> None:
        self._admin = admin
        self._schemas = schemas

    async def resolved(self, query: Query, catalogue: CatalogueView) -> ResolvedQuery:
        """SqlProblem for a name that means nothing; StoreFailure when Kafka does not answer."""
        asked_query, asked = record_columns(query)
        sources: dict[str, Source] = {}
        notes: dict[str, None] = {}
        for relation in relations(query):
            name = _own_name(relation)
            if relation.is_row:
                if query.emit is not None:
                    raise SqlProblem(_NEEDS_SOURCE, query.emit_position)
                sources[name] = SINGLE_ROW
                continue
            declared = None if relation.is_topic else catalogue.source(relation.name)
            if name not in sources and declared is None:
                found = await self._found(relation, catalogue)
                notes |= dict.fromkeys(found.notes)
                sources[name] = with_record_columns(found.source, asked)
            elif declared is not None:
                sources[name] = declared if declared.is_table else with_record_columns(declared, asked)
        is_asked = any(source.record_columns for source in sources.values())
        renaming = Exchange(lambda relation: replace(relation, name=_own_name(relation)), lambda expression: expression)
        return ResolvedQuery(renaming.of(asked_query if is_asked else query), sources, tuple(notes))

    async def refuse_topics(self, query: Query, catalogue: CatalogueView) -> None:
        """A query that runs on needs its sources declared: SqlProblem with the statement that does it, where one of them is a topic."""
        for relation in relations(query):
            if relation.is_row:
                raise SqlProblem(_NEEDS_SOURCE, query.position)
            if relation.is_topic or catalogue.source(relation.name) is None:
                found = await self._found(relation, catalogue)
                raise SqlProblem(
                    f"{found.source.name} is a topic that no stream is declared for, and a query that runs on needs one: its columns must "
                    f"stay what they are. This declares it as it looks now:\n{declaration(found.source, catalogue)}",
                    relation.position,
                )

    async def _found(self, relation: Relation, catalogue: CatalogueView) -> FoundTopic:
        names = [relation.written, relation.name] if relation.written else [relation.name]
        for name in dict.fromkeys(names):
            layout = await self._admin.layout(name)
            if layout is not None:
                return await self._look(name, layout)
        topics = await self._admin.topics()
        alike = [name for name in topics if relation.written and name.upper() == relation.name and _is_shown(name)]
        if len(alike) == 1:
            layout = await self._admin.layout(alike[0])
            if layout is not None:
                return await self._look(alike[0], layout)
        raise self._unknown(relation, catalogue, topics, alike)

    async def _look(self, name: str, layout: TopicLayout) -> FoundTopic:
        return await asyncio.to_thread(self._schemas.find, name, layout.id, len(layout.replicas))

    def _unknown(
        self, relation: Relation, catalogue: CatalogueView, topics: Iterable[str], alike: list[str]
    ) -> SqlProblem:
        name = relation.written or relation.name
        if alike:
            shown = ", ".join(f"`{each}`" for each in sorted(alike))
            return SqlProblem(
                f"{name} does not exist, and several topics differ from it in case alone: quote one of {shown}.",
                relation.position,
            )
        what = f"Topic {name}" if relation.is_topic else name
        hint = "" if relation.is_topic else source_hint(catalogue, relation.name)
        if "Hint:" not in hint:
            sources = () if relation.is_topic else catalogue.names()
            hint = (
                _near(name, sources, filter(_is_shown, topics))
                or " SHOW STREAMS, SHOW TABLES and SHOW TOPICS list what there is."
            )
        return SqlProblem(f"{what} does not exist.{hint}", relation.position)


def _own_name(relation: Relation) -> str:
    """TOPIC('X') is not the stream X."""
    return f"TOPIC('{relation.name}')" if relation.is_topic else relation.name


def _is_shown(topic: str) -> bool:
    return not topic.startswith(INTERNAL)


def _near(name: str, sources: Iterable[str], topics: Iterable[str]) -> str:
    """The nearest names of any kind, in any case."""
    shown: dict[str, list[str]] = {}
    for source in sources:
        shown.setdefault(source.upper(), []).append(source)
    for topic in topics:
        shown.setdefault(topic.upper(), []).append(f"topic `{topic}`")
    near = get_close_matches(name.upper(), shown, NEAR_MAX, SUGGESTION_SIMILARITY)
    found = [each for key in near for each in shown[key]][:NEAR_MAX]
    return f" Did you mean {' or '.join(found)}?" if found else ""
