"""How SQLite finds the rows of a look: by the key, by an index, or by looking at all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from streams_sql.views.index_building import places_of
from streams_sql.views.layout import Places, ViewLayout
from streams_sql.views.pull import BoundPull
from streams_sql.views.store import Connection

_SEARCH: Final = re.compile(r"SEARCH \S+ USING (?:(PRIMARY KEY)|(?:COVERING )?INDEX (\S+))(?: \((.*)\))?$")
_SCAN: Final = re.compile(r"SCAN \S+(?: USING (?:COVERING )?INDEX (\S+))?$")
_COLUMN: Final = re.compile(r"\bc(\d+)")
_SORTED: Final = "USE TEMP B-TREE"


def access_path(connection: Connection, pull: BoundPull, layout: ViewLayout, indexes: Mapping[Places, str]) -> str:
    """`indexes` are the names that people know, by the places of their columns."""
    text = pull.query.text
    values = [*pull.values, *([1] if "LIMIT ?" in text else [])]
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    found = [_told(step, layout, indexes) for step in steps]
    if any(step.startswith(_SORTED) for step in steps) and pull.query.ordered:
        found.append("sorted by SQLite")
    if pull.query.has_rest:
        found.append("part of the condition is looked at row by row")
    return ", ".join(filter(None, found))


def _told(step: str, layout: ViewLayout, indexes: Mapping[Places, str]) -> str:
    if search := _SEARCH.match(step):
        by = "by key" if search[1] else f"by index {_index(search[2], indexes)}"
        return f"{by} ({_named(search[3] or '', layout)})"
    if scan := _SCAN.match(step):
        if scan[1]:
            return f"all rows, in the order of index {_index(scan[1], indexes)}"
        return "all rows, in the order of the key"
    return ""


def _index(name: str, indexes: Mapping[Places, str]) -> str:
    return indexes.get(places_of(name), name)


def _named(text: str, layout: ViewLayout) -> str:
    return _COLUMN.sub(lambda found: layout.columns[int(found[1])].name, text)
