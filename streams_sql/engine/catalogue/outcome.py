"""What came of a command."""

from __future__ import annotations

from dataclasses import dataclass

from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.functions.made_functions import MadeFunction
from streams_sql.sources import Source


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which thing a command was about, what happened to it, and the words for it. `is_done` is false where nothing was to do; `dropped`
    and `ended` are what is gone with it, `started` is a query that begins (or has begun, where nothing was to do), and `function` one
    of a user's that was made."""

    entity: tuple[str, str]
    action: str
    message: str
    is_done: bool = True
    made: Source | None = None
    started: PersistentQuery | None = None
    dropped: Source | None = None
    ended: tuple[PersistentQuery, ...] = ()
    function: MadeFunction | None = None
