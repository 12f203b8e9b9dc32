"""What the analyser sees of the catalogue."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final, Protocol

from streams_sql.language.expressions import ColumnName
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import Source

# Below this similarity (0 to 1) a suggestion misleads more than it helps.
SUGGESTION_SIMILARITY: Final = 0.6
NAMES_SHOWN_MAX: Final = 20


class CatalogueView(Protocol):
    def source(self, name: str) -> Source | None: ...

    def names(self) -> Iterable[str]: ...


def known_source(catalogue: CatalogueView, name: str, position: Position | None = None) -> Source:
    source = catalogue.source(name)
    if source is None:
        raise SqlProblem(f"{name} does not exist.{source_hint(catalogue, name)}", position)
    return source


def source_hint(catalogue: CatalogueView, name: str) -> str:
    """Which source may have been meant, to be put after a message."""
    names = sorted(catalogue.names())
    other_case = [known for known in names if known.upper() == name.upper()]
    if other_case and other_case[0] == name.upper():
        return f"\nDid you mean {other_case[0]}? Hint: try removing double quotes from the source name."
    if other_case:
        return (
            f'\nDid you mean "{other_case[0]}"? Hint: wrap the source name in double quotes to make it case-sensitive.'
        )
    return nearest_hint(name, names) or " SHOW STREAMS and SHOW TABLES list those that there are."


def choice_hint(name: str, names: Iterable[str]) -> str:
    """The nearest of some names, or those that there are, to be put after a message."""
    known = list(dict.fromkeys(names))
    shown = ", ".join(known[:NAMES_SHOWN_MAX]) + (", …" if len(known) > NAMES_SHOWN_MAX else "")
    return nearest_hint(name, known) or f" There are {shown}."


def text_hint(column: ColumnName) -> str:
    """A name that nobody has may be meant as a text, to be put after a message."""
    return f" Double quotes stand around names; a text is written '{column.name}'." if column.is_like_text else ""


def nearest_hint(name: str, names: Iterable[str]) -> str:
    """The nearest of some names as a question to be put after a message, if one is near enough."""
    nearest = difflib.get_close_matches(name, list(names), 1, SUGGESTION_SIMILARITY)
    return f" Did you mean {nearest[0]}?" if nearest else ""
