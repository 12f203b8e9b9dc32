"""What there is: sources, and the queries that run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from streams_sql.language.problem import SqlProblem
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.sources import Source


@dataclass(frozen=True, slots=True)
class PersistentQuery:
    """A query that runs until somebody ends it. `reads` are the names of its sources; the rest is as its command has it."""

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

    @property
    def is_real_time(self) -> bool:
        return self.slots > 0

    @property
    def writes(self) -> str:
        return self.plan.sink.name


class Catalogue:
    """Changes only by the methods below, each of which does all or nothing."""

    def __init__(
        self, sources: Mapping[str, Source] | None = None, queries: Mapping[str, PersistentQuery] | None = None
    ) -> None:
        self._sources = dict(sources or {})
        self._queries = dict(queries or {})

    def copy(self) -> Catalogue:
        """To try out statements on."""
        return Catalogue(self._sources, self._queries)

    # --- questions ---

    @property
    def sources(self) -> Mapping[str, Source]:
        return self._sources

    @property
    def queries(self) -> Mapping[str, PersistentQuery]:
        return self._queries

    def source(self, name: str) -> Source | None:
        return self._sources.get(name)

    def names(self) -> Iterable[str]:
        return self._sources

    def readers(self, name: str) -> list[PersistentQuery]:
        return [query for query in self._queries.values() if name in query.reads]

    def writers(self, name: str) -> list[PersistentQuery]:
        return [query for query in self._queries.values() if query.writes == name]

    def made_by(self, name: str) -> PersistentQuery | None:
        """The query of the CREATE … AS that made a source, as long as it runs."""
        source = self._sources.get(name)
        return None if source is None or source.query_id is None else self._queries.get(source.query_id)

    # --- changes ---

    def put(self, source: Source) -> None:
        self._sources[source.name] = source

    def add_query(self, query: PersistentQuery) -> None:
        self._queries[query.id] = query

    def end_query(self, query_id: str) -> None:
        self._queries.pop(query_id, None)

    def pause(self, query_id: str, *, is_paused: bool) -> None:
        self._queries[query_id] = replace(self._queries[query_id], is_paused=is_paused)

    def drop(self, name: str) -> None:
        """SqlProblem while queries other than the one that made the source use it."""
        made_by = self.made_by(name)
        own = set() if made_by is None else {made_by.id}
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
