"""Statements that only ask: SHOW and DESCRIBE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin, TopicReaders
from streams_sql.analysis.catalogue_view import nearest_hint, source_hint
from streams_sql.engine.catalogue.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.client_queries.push_queries import PushQueries
from streams_sql.engine.client_queries.table_views import TableViews
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.query_status import QueryEvent, QueryStatus
from streams_sql.engine.queries.retention import RetentionCheck
from streams_sql.engine.statements.entities import (
    Entity,
    ErrorList,
    FunctionDescription,
    FunctionList,
    IndexList,
    Property,
    PropertyList,
    QueryDescription,
    QueryList,
    SourceDescription,
    SourceList,
    Topic,
    TopicList,
    TypeList,
    VariableList,
)
from streams_sql.engine.statements.lineage import Lineage
from streams_sql.engine.statements.session import Session
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import unknown_function
from streams_sql.language.statements import (
    DescribeFunction,
    DescribeSource,
    DescribeSources,
    Kind,
    Show,
    ShowErrors,
    ShowTarget,
)
from streams_sql.plan.lineage import origins
from streams_sql.plan.text import plan_text
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source

ERRORS_SHOWN: Final = 20
"""Where SHOW ERRORS has no LIMIT."""

_INTERNAL = ("_", "default_")


@dataclass(frozen=True, slots=True)
class Listings:
    """`properties` are the server's own; `incompleteness` says why rows of a source may be missing, `retention` which rows of a query are
    deleted soon."""

    catalogue: Catalogue
    admin: Admin
    queries: PersistentQueries
    pushes: PushQueries
    views: TableViews
    properties: Sequence[Property]
    errors: ErrorLog
    incompleteness: Callable[[Source], tuple[str, ...]]
    retention: RetentionCheck

    @property
    def lineage(self) -> Lineage:
        return Lineage(self.catalogue)

    async def show(self, statement: Show, session: Session) -> Entity:
        match statement.listed:
            case ShowTarget.STREAMS:
                return await self._sources(Kind.STREAM, is_extended=statement.is_extended)
            case ShowTarget.TABLES:
                return await self._sources(Kind.TABLE, is_extended=statement.is_extended)
            case ShowTarget.QUERIES:
                return self._queries(is_extended=statement.is_extended)
            case ShowTarget.TOPICS | ShowTarget.ALL_TOPICS:
                return await self._topics(statement)
            case ShowTarget.FUNCTIONS:
                known = {name: found for name in LIBRARY.names() if (found := LIBRARY.find(name))}
                return FunctionList(tuple(found for _, found in sorted({**known, **self.catalogue.functions}.items())))
            case ShowTarget.INDEXES:
                return IndexList(self.views.index_statuses())
            case ShowTarget.TYPES:
                return TypeList(self.catalogue.types)
            case ShowTarget.VARIABLES:
                return VariableList(session.variables)
            case ShowTarget.PROPERTIES:
                return self._properties(session)

    async def describe(self, statement: DescribeSource) -> SourceDescription:
        source = self.catalogue.source(statement.name)
        if source is None:
            raise SqlProblem(
                f"Could not find STREAM/TABLE '{statement.name}' in the Metastore.{source_hint(self.catalogue, statement.name)}"
            )
        return await self._described(source, is_extended=statement.is_extended)

    async def describe_all(self, statement: DescribeSources) -> SourceList:
        sources = self._of_kind(statement.kind)
        described = [await self._described(source, is_extended=statement.is_extended) for source in sources]
        return SourceList(statement.kind, sources, tuple(described), is_extended=True)

    def describe_function(self, statement: DescribeFunction) -> FunctionDescription:
        name = statement.name.upper()
        found = self.catalogue.functions.get(name) or LIBRARY.find(name)
        if found is None:
            raise unknown_function(name, [*LIBRARY.names(), *self.catalogue.functions])
        return FunctionDescription(found)

    def show_errors(self, statement: ShowErrors) -> ErrorList:
        """Of a query that is no more, too, for as long as they are kept in mind."""
        counts = self.errors.counts()
        limit = ERRORS_SHOWN if statement.limit is None else statement.limit
        if statement.query_id is None:
            return ErrorList(tuple(self.errors.newest(limit=limit)), counts)
        known = {
            name.upper(): name
            for name in (*counts, *self.catalogue.queries, *(push.id for push in self.pushes.statuses()))
        }
        query_id = known.get(statement.query_id.upper())
        if query_id is None:
            raise _unknown_query(statement.query_id, known.values())
        return ErrorList(tuple(self.errors.newest(query_id, limit)), {query_id: counts.get(query_id, {})})

    def query(self, query_id: str) -> PersistentQuery:
        found = self.catalogue.queries.get(query_id) or self.catalogue.queries.get(query_id.upper())
        if found is None:
            raise _unknown_query(query_id, self.catalogue.queries)
        return found

    def described_query(self, query: PersistentQuery, topology: str = "") -> QueryDescription:
        plan, status = query.plan, self.queries.status(query)
        window, columns = plan.sink.key_window, (*plan.sink.schema.key, *plan.sink.schema.value)
        errors = [] if status.error is None else [QueryEvent(status.error_ms, status.error)]
        return QueryDescription(
            id=query.id,
            statement=query.statement,
            columns=columns,
            key=frozenset(column.name for column in plan.sink.schema.key),
            sources=tuple(sorted(query.reads)),
            sinks=(query.writes,),
            plan="\n".join(filter(None, (status.mode, _progress(status), plan_text(plan)))),
            topology=topology,
            state=status.state,
            window=None if window is None else window.kind.value,
            properties=query.properties,
            errors=(*errors, *status.notes, *status.examples),
            lineage=self.lineage.of_columns([column.name for column in columns], origins(plan.node)),
            backlog=status.backlog,
            warnings=status.all_warnings,
        )

    async def _sources(self, kind: Kind, *, is_extended: bool) -> SourceList:
        sources = self._of_kind(kind)
        if not is_extended:
            return SourceList(kind, sources)
        described = [await self._described(source, is_extended=True) for source in sources]
        return SourceList(kind, sources, tuple(described), is_extended=True)

    def _of_kind(self, kind: Kind) -> tuple[Source, ...]:
        return tuple(source for _, source in sorted(self.catalogue.sources.items()) if source.kind is kind)

    async def _described(self, source: Source, *, is_extended: bool) -> SourceDescription:
        readers = tuple(map(self.queries.status, self.catalogue.readers(source.name)))
        writers = tuple(map(self.queries.status, self.catalogue.writers(source.name)))
        warnings = [*self.incompleteness(source), *(each for status in writers for each in status.warnings)]
        for query in self.catalogue.writers(source.name):
            warnings += await self.retention.warnings(query)
        if not is_extended:
            return SourceDescription(source, readers, writers, warnings=tuple(warnings))
        layout = await self.admin.layout(source.topic)
        replicas = () if layout is None else layout.replicas
        metrics = [f"{status.id} {name}: {value:g}" for status in writers for name, value in status.metrics.items()]
        if source.is_table:
            metrics.append(self.views.text(source.name))
        return SourceDescription(
            source,
            readers,
            writers,
            is_extended=True,
            partitions=len(replicas),
            replicas=min(replicas, default=0),
            statistics="\n".join(filter(None, metrics)),
            errors="\n".join(example.text for status in (*readers, *writers) for example in status.examples),
            lineage=self.lineage.of_source(source),
            warnings=tuple(warnings),
        )

    def _queries(self, *, is_extended: bool) -> QueryList:
        queries = [query for _, query in sorted(self.catalogue.queries.items())]
        statuses = tuple(map(self.queries.status, queries))
        described = tuple(map(self.described_query, queries)) if is_extended else ()
        return QueryList(statuses, tuple(self.pushes.statuses()), described, is_extended=is_extended)

    async def _topics(self, statement: Show) -> TopicList:
        found = await self.admin.topics()
        readers = await self.admin.readers() if statement.is_extended else {}
        none = TopicReaders(0, 0)
        shown = []
        for name, layout in sorted(found.items()):
            if statement.listed is ShowTarget.ALL_TOPICS or not name.startswith(_INTERNAL):
                read_by = readers.get(name, none)
                shown.append(Topic(name, layout.replicas, read_by.consumers, read_by.groups))
        return TopicList(tuple(shown), is_extended=statement.is_extended)

    def _properties(self, session: Session) -> PropertyList:
        own = {each.name: replace(each, is_editable=session.may_set(each.name)) for each in self.properties}
        altered = {name: Property(name, value, is_editable=True) for name, value in session.system_properties.items()}
        changed = {
            name: Property(name, value, is_overridden=True, is_editable=True)
            for name, value in session.own_properties.items()
        }
        return PropertyList(tuple(found for _, found in sorted({**own, **altered, **changed}.items())))


def _progress(status: QueryStatus) -> str:
    return "" if status.backlog is None else f"It {status.backlog.text}"


def _unknown_query(query_id: str, known: Iterable[str]) -> SqlProblem:
    hint = nearest_hint(query_id, known) or " SHOW QUERIES lists those that run."
    return SqlProblem(
        f"Query with id:{query_id} does not exist, use SHOW QUERIES to view the full set of queries.{hint}"
    )
