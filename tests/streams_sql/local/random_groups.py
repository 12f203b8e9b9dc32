"""Aggregates and windows of queries that are made at random, as the language's rules have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final, TypeAlias

from tests.streams_sql.local.random_expressions import Expressions, Values

Bounds: TypeAlias = tuple[int, int]

_UNORDERED: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "COUNT": lambda values: len(_present(values)),
    "SUM": lambda values: sum(_present(values)),
    "MIN": lambda values: min(_present(values), default=None),
    "MAX": lambda values: max(_present(values), default=None),
    "AVG": lambda values: sum(_present(values)) / max(len(_present(values)), 1),
}
_ORDERED: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "COLLECT_LIST": list,
    "COLLECT_SET": lambda values: list(dict.fromkeys(values)),
    "EARLIEST_BY_OFFSET": lambda values: next(iter(_present(values)), None),
    "LATEST_BY_OFFSET": lambda values: next(reversed(_present(values)), None),
}


def _present(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


class Calls:
    """The aggregates of a query: the number of records, and some others of an expression. `is_ordered`: those may depend on the order of
    records; `is_linear`: they are multiplied where all numbers are."""

    def __init__(self, random: Random, expressions: Expressions, *, is_ordered: bool = True, is_linear: bool) -> None:
        functions = {**_UNORDERED, **_ORDERED} if is_ordered else _UNORDERED
        chosen = random.sample(sorted(functions.keys() - {"COUNT"} if is_linear else functions), 2)
        self._calls = [(name, functions[name], expressions.number()) for name in chosen]

    @property
    def text(self) -> str:
        calls = [f"{name}({of.text}) AS c{place}" for place, (name, _, of) in enumerate(self._calls)]
        return ", ".join(["COUNT(*) AS n", *calls])

    def results(self, rows: Sequence[Values]) -> dict[str, Any]:
        found = {
            f"C{place}": function([of.value(row) for row in rows])
            for place, (_, function, of) in enumerate(self._calls)
        }
        return {"N": len(rows), **found}


def hopping(size: int, advance: int) -> Callable[[int], list[Bounds]]:
    """The windows that hold a time; with an advance of their size, they tumble."""

    def windows(time: int) -> list[Bounds]:
        last = time - time % advance
        return [(start, start + size) for start in range(last, time - size, -advance)][::-1]

    return windows


def sessions(timed: Sequence[tuple[int, Values]], gap: int) -> Iterator[tuple[Bounds, list[Values]]]:
    """Rows that follow each other within the gap."""
    session: list[tuple[int, Values]] = []
    for time, row in sorted(timed, key=lambda each: each[0]):
        if session and time - session[-1][0] > gap:
            yield (session[0][0], session[-1][0]), [values for _, values in session]
            session = []
        session.append((time, row))
    if session:
        yield (session[0][0], session[-1][0]), [values for _, values in session]
