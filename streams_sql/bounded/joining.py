"""Joins of rows that come to an end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from streams_sql.bounded.memory import Memory
from streams_sql.bounded.operators import Pages, Row, names_of, paged
from streams_sql.evaluation.comparisons import Evaluate
from streams_sql.evaluation.compiler import OnError, compile_column
from streams_sql.language.statements import JoinKind
from streams_sql.plan.bounded import Pairs
from streams_sql.typed import Typed

SOUGHT_ROWS_MAX: Final = 2_000
"""If the left side has no more rows than these, the right side is asked for their partners alone, where it can be."""

_KEEPS_LEFT: Final = frozenset({JoinKind.LEFT, JoinKind.OUTER})
_KEEPS_RIGHT: Final = frozenset({JoinKind.RIGHT, JoinKind.OUTER})

Seek: TypeAlias = Callable[[int, Sequence[Any]], Pages | None]
"""Right rows for which the expression of that number (of `Pairs.equal`) has one of some values; None: they cannot be had so."""


class Joining:
    """`look` counts pairs that are looked at, and stops a query that has looked at too many."""

    def __init__(self, node: Pairs, memory: Memory, look: Callable[[int], None], on_error: OnError) -> None:
        left, right = names_of(node.left.columns), names_of(node.right.columns)
        self._kind = node.kind
        self._look = look
        self._share = memory.share("The join")
        self._left_keys = _values([one for one, _ in node.equal], left, on_error)
        self._right_keys = _values([other for _, other in node.equal], right, on_error)
        both = [*left, *right]
        self._condition = None if node.condition is None else compile_column(node.condition, both, on_error)
        self._no_left = (None,) * len(left)
        self._no_right = (None,) * len(right)
        self._equal_count = len(node.equal)

    def pages(self, left: Pages, right: Callable[[], Pages], seek: Seek) -> Pages:
        begun, following = self._begun(left)
        found = None if following is not None or self._kind in _KEEPS_RIGHT else self._sought(begun, seek)
        partners = self._partners(right() if found is None else found)
        matched: set[int] = set()
        for page in chain((begun,), following or ()):
            yield from paged(self._joined(page, partners, matched))
        if self._kind in _KEEPS_RIGHT:
            rows = (row for rows in partners.values() for row in rows)
            yield from paged((*self._no_left, *row) for row in rows if id(row) not in matched)

    def _begun(self, left: Pages) -> tuple[list[Row], Pages | None]:
        """The first rows of the left side, and the others if there are more than can be sought for."""
        begun: list[Row] = []
        for page in left:
            begun += page
            if len(begun) > SOUGHT_ROWS_MAX:
                return begun, left
        self._share.add(begun)
        return begun, None

    def _sought(self, rows: list[Row], seek: Seek) -> Pages | None:
        keys = [key for row in rows if (key := self._left_keys(row)) is not None]
        for place in range(self._equal_count):
            found = seek(place, list(dict.fromkeys(key[place] for key in keys)))
            if found is not None:
                return found
        return None

    def _partners(self, right: Pages) -> dict[Any, list[Row]]:
        """Rows of the right side by what they are joined by; under None those that cannot have a partner."""
        partners: dict[Any, list[Row]] = {}
        is_kept = self._kind in _KEEPS_RIGHT
        for page in right:
            self._share.add(page)
            for row in page:
                key = self._right_keys(row)
                if key is not None or is_kept:
                    partners.setdefault(key, []).append(row)
        return partners

    def _joined(self, page: Iterable[Row], partners: dict[Any, list[Row]], matched: set[int]) -> Iterator[Row]:
        condition, keeps_left = self._condition, self._kind in _KEEPS_LEFT
        notes_matches = self._kind in _KEEPS_RIGHT
        for row in page:
            key = self._left_keys(row)
            others = partners.get(key, ()) if key is not None else ()
            self._look(len(others))
            is_alone = True
            for other in others:
                pair = row + other
                if condition is None or condition(pair):
                    is_alone = False
                    if notes_matches:
                        matched.add(id(other))
                    yield pair
            if is_alone and keeps_left:
                yield row + self._no_right


def _values(expressions: Sequence[Typed], columns: Sequence[str], on_error: OnError) -> Callable[[Row], Any]:
    """What a row is joined by; None where it is equal to nothing, as NULL and what is no number are."""
    computed: list[Evaluate] = [compile_column(expression, columns, on_error) for expression in expressions]

    def key(row: Row) -> Any:
        values = tuple([part(row) for part in computed])
        return None if any(value is None or value != value for value in values) else values

    return key
