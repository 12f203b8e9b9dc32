"""Where columns come from: the sources that a query reads, and those that were declared, however many queries are between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.statements.entities import ColumnLineage
from streams_sql.plan.lineage import NOTHING, Origin, Origins, origins
from streams_sql.sources import Source


@dataclass(frozen=True, slots=True)
class Lineage:
    catalogue: Catalogue

    def of_columns(self, names: Iterable[str], found: Origins) -> tuple[ColumnLineage, ...]:
        """Of the columns of a query, whose own origins are known."""
        return tuple(self._of(name, found.get(name, NOTHING)) for name in names)

    def of_source(self, source: Source) -> tuple[ColumnLineage, ...]:
        """Of the columns of a source that queries fill; nothing for others."""
        writers = self.catalogue.writers(source.name)
        if not writers:
            return ()
        plans = [origins(query.plan.node) for query in writers]
        names = [column.name for column in (*source.schema.key, *source.schema.value)]
        return tuple(self._of(name, NOTHING.union(*(plan.get(name, NOTHING) for plan in plans))) for name in names)

    def _of(self, name: str, direct: frozenset[Origin]) -> ColumnLineage:
        return ColumnLineage(name, tuple(sorted(direct)), tuple(sorted(self._declared(direct))))

    def _declared(self, found: frozenset[Origin]) -> frozenset[Origin]:
        """The columns of declared sources behind these. A query may read what it writes, so that each is looked at once."""
        seen: set[Origin] = set()
        declared: set[Origin] = set()
        waiting = list(found)
        while waiting:
            origin = waiting.pop()
            if origin in seen:
                continue
            seen.add(origin)
            source = self.catalogue.source(origin.source)
            writers = self.catalogue.writers(origin.source)
            if source is None or source.query_id is None or not writers:
                declared.add(origin)
            for query in writers:
                waiting += origins(query.plan.node).get(origin.column, NOTHING)
        return frozenset(declared)
