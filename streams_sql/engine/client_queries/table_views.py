"""The materialized views of this server: one for each table of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.statements.entities import IndexStatus
from streams_sql.formats.serde import RegistryAccess
from streams_sql.sources import Source
from streams_sql.views.view_follower import ViewFollower
from streams_sql.views.views import Views


class TableViews:
    def __init__(
        self, folder: Path, client: Mapping[str, Any], registry: RegistryAccess | None, catalogue: Catalogue
    ) -> None:
        self.views = Views(folder, client, registry)
        self.follower = ViewFollower(self.views, self._tables)
        self._catalogue = catalogue

    def index_statuses(self) -> tuple[IndexStatus, ...]:
        return tuple(
            IndexStatus(index.name, source.name, index.columns, self.views.index_progress(source, index))
            for source in self._catalogue.sources.values()
            for index in source.indexes
        )

    def text(self, name: str) -> str:
        """How far the view of a table is, for DESCRIBE … EXTENDED."""
        view = self.views.view(name)
        if view is None:
            return ""
        status = view.status()
        text = f"view lag: {status.lag}"
        for index in view.source.indexes:
            text += f"\nindex {index}: {self.views.index_progress(view.source, index)}"
        if status.problem_count:
            text += f"\nrecords that cannot be read: {status.problem_count}"
        return text if status.problem is None else f"{text}\n{status.problem}"

    def _tables(self) -> list[Source]:
        return [source for source in self._catalogue.sources.values() if source.has_view]
