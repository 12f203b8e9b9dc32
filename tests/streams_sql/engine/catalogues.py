"""Catalogues made of statements, as the command topic would make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streams_sql.analysis.defaults import Defaults
from streams_sql.engine.catalogue.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.catalogue.changes import Changes
from streams_sql.engine.catalogue.command import LOWERING, Command
from streams_sql.engine.catalogue.outcome import Outcome

SOURCES = (
    "CREATE STREAM S (K STRING KEY, A BIGINT, B STRING) WITH (KAFKA_TOPIC='{}s', VALUE_FORMAT='JSON');",
    "CREATE STREAM R (K STRING KEY, C BIGINT) WITH (KAFKA_TOPIC='{}r', VALUE_FORMAT='JSON');",
    "CREATE TABLE T (K STRING PRIMARY KEY, D STRING) WITH (KAFKA_TOPIC='{}t', VALUE_FORMAT='JSON');",
)


class Statements:
    """Applies statements to a catalogue, one after the other. The topics of the sources s, r and t begin with a prefix."""

    def __init__(self, *texts: str, prefix: str = "") -> None:
        self.catalogue = Catalogue()
        self._changes = Changes(Defaults(key_format="KAFKA"))
        self._number = 0
        for text in (*[source.format(prefix) for source in SOURCES], *texts):
            self.apply(text)

    def apply(self, text: str, query_id: str | None = None, properties: Mapping[str, str] | None = None) -> Outcome:
        self._number += 1
        command = Command(text, properties or {}, query_id=query_id or f"Q_{self._number}", lowering=LOWERING)
        # As it comes back from the topic.
        return self._changes.replay(Command.decode(command.encode()), self.catalogue)

    def query(self, text: str, **changes: object) -> PersistentQuery:
        started = self.apply(text).started
        assert started is not None
        return replace(started, **changes)  # type: ignore[arg-type]
