"""What there is: sources, types, functions of users, and the queries that run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from streams_sql.functions.made_functions import MadeFunction
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.problem import SqlProblem
from streams_sql.sources import Index, Source
from streams_sql.sql_types import SqlType


@dataclass(frozen=True, slots=True)
class PersistentQuery:
    """A query that runs until it is terminated. `reads` are the names of its sources; the rest is as its command has it. `rebuilds` is the
    id of the query in whose place this one is built."""

    id: str
    statement: str
    plan: PersistentPlan
    reads: frozenset[str]
    properties: Mapping[str, str]
    lowering: int
    slots: int = 0
    positions: str | None = None
    why_batches: str | None = None
    is_paused: bool = False
    rebuilds: str | None = None
    functions: frozenset[str] = frozenset()
    """Of users, by their names."""

    @property
    def is_real_time(self) -> bool:
        return self.slots > 0

    @property
    def is_follower(self) -> bool:
        """Whether it is built in the place of the query of a stream: it writes nothing until it is in that place."""
        return self.rebuilds is not None and not self.plan.sink.is_table

    @property
    def writes(self) -> str:
        return self.plan.sink.name


class Catalogue:
    """Changes only by the methods below, each of which does all or nothing."""

    def __init__(self, sources: Mapping[str, Source] | None = None) -> None:
        self._sources = dict(sources or {})
        self._queries: dict[str, PersistentQuery] = {}
        self._types: dict[str, SqlType] = {}
        self._functions: dict[str, MadeFunction] = {}
        self._properties: dict[str, str] = {}

    def copy(self) -> Catalogue:
        """To try out statements on."""
        copied = Catalogue(self._sources)
        copied._queries.update(self._queries)
        copied._types.update(self._types)
        copied._functions.update(self._functions)
        copied._properties.update(self._properties)
        return copied

    # --- questions ---

    @property
    def sources(self) -> Mapping[str, Source]:
        return self._sources

    @property
    def queries(self) -> Mapping[str, PersistentQuery]:
        return self._queries

    @property
    def types(self) -> Mapping[str, SqlType]:
        """Those that CREATE TYPE has made, whole: types within them are put in."""
        return self._types

    @property
    def functions(self) -> Mapping[str, MadeFunction]:
        """Those that CREATE FUNCTION has made."""
        return self._functions

    @property
    def properties(self) -> Mapping[str, str]:
        """What ALTER SYSTEM has set for all sessions."""
        return self._properties

    def source(self, name: str) -> Source | None:
        return self._sources.get(name)

    def names(self) -> Iterable[str]:
        return self._sources

    def index(self, name: str) -> tuple[Source, Index] | None:
        """The index of a name, and the table that it is for."""
        found = ((source, index) for source in self._sources.values() for index in source.indexes)
        return next(((source, index) for source, index in found if index.name == name), None)

    def indexes(self) -> Iterable[str]:
        return [index.name for source in self._sources.values() for index in source.indexes]

    def readers(self, name: str) -> list[PersistentQuery]:
        return [query for query in self._queries.values() if name in query.reads]

    def writers(self, name: str) -> list[PersistentQuery]:
        return [query for query in self._queries.values() if query.writes == name]

    def made_by(self, name: str) -> PersistentQuery | None:
        """The query of the CREATE … AS that made a source, as long as it runs."""
        source = self._sources.get(name)
        return None if source is None or source.query_id is None else self._queries.get(source.query_id)

    def rebuilt(self, name: str) -> list[PersistentQuery]:
        """Queries that are built in the place of the one of a source."""
        return [query for query in self.writers(name) if query.rebuilds is not None]

    # --- changes ---

    def put(self, source: Source) -> None:
        self._sources[source.name] = source

    def put_type(self, name: str, type_: SqlType) -> None:
        # A caller that holds the former types keeps them.
        self._types = {**self._types, name: type_}

    def put_function(self, function: MadeFunction) -> None:
        """Queries that run go on with the function that there was when they were made."""
        self._functions = {**self._functions, function.name: function}

    def drop_function(self, name: str) -> None:
        """SqlProblem while queries use it."""
        users = sorted(query.id for query in self._queries.values() if name in query.functions)
        if users:
            raise SqlProblem(
                f"Cannot drop the function {name}: it is used by [{', '.join(users)}]. You need to terminate them first."
            )
        self._functions = {known: function for known, function in self._functions.items() if known != name}

    def drop_type(self, name: str) -> None:
        self._types = {known: type_ for known, type_ in self._types.items() if known != name}

    def set_property(self, name: str, value: str) -> None:
        self._properties[name] = value

    def add_query(self, query: PersistentQuery) -> None:
        self._queries[query.id] = query

    def end_query(self, query_id: str) -> None:
        self._queries.pop(query_id, None)

    def pause(self, query_id: str, *, is_paused: bool) -> None:
        self._queries[query_id] = replace(self._queries[query_id], is_paused=is_paused)

    def drop(self, name: str) -> None:
        """SqlProblem while queries other than the one that made the source use it."""
        made_by = self.made_by(name)
        own = {query.id for query in self.rebuilt(name)} | (set() if made_by is None else {made_by.id})
        readers = sorted({query.id for query in self.readers(name)} - own)
        writers = sorted({query.id for query in self.writers(name)} - own)
        if readers or writers:
            raise SqlProblem(
                f"Cannot drop {name}.\n"
                f"The following queries read from this source: [{', '.join(readers)}].\n"
                f"The following queries write into this source: [{', '.join(writers)}].\n"
                f"You need to terminate them before dropping {name}."
            )
        for query_id in own:
            self.end_query(query_id)
        self._sources.pop(name, None)
