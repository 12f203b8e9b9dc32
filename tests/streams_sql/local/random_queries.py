"""Queries made at random, each with what comes of it: worked out anew from all records, in the simplest way that the language's rules allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from tests.streams_sql.local.random_expressions import Expression, Expressions, Values
from tests.streams_sql.local.random_groups import Calls, hopping, sessions
from tests.streams_sql.local.random_records import FEW, OTHER, SECOND, STREAM, TABLE, columns, table_rows
from tests.streams_sql.local.statement_runs import Given, Told

Place: TypeAlias = tuple[Any, tuple[int, int] | None]
"""A key and its window."""
Outcome: TypeAlias = dict[Place, Any]
"""Of a table, the values that each row has at last; of a stream, those of all rows of a key, in their order."""
Row: TypeAlias = tuple[Any, Mapping[str, Any] | None]

WITHIN_MS: Final = 5 * SECOND


class RandomQuery(NamedTuple):
    """`statement` is what stands behind CREATE. Numbers in expressions stand in parentheses, numbers of rows and times do not. `is_late`: records may be late; `null_words`: words may be NULL; `is_ordered`: the rows of a
    key come in one order alone."""

    statement: str
    reads: tuple[str, ...]
    outcome: Callable[[Sequence[Given]], Outcome]
    is_late: bool = False
    null_words: bool = True
    is_ordered: bool = True

    @property
    def is_table(self) -> bool:
        return self.statement.startswith("TABLE")

    def found(self, told: Iterable[Told]) -> Outcome:
        """The outcome of what was told."""
        outcome: Outcome = {}
        for row in told:
            place = (row.key[0], row.window)
            if not self.is_table:
                outcome.setdefault(place, []).append(row.values)
            elif row.values is None:
                outcome.pop(place, None)
            else:
                outcome[place] = row.values
        return outcome if self.is_ordered else unordered(outcome)


def unordered(outcome: Outcome) -> Outcome:
    return {place: sorted(rows, key=repr) for place, rows in outcome.items()}


# -- without state --------------------------------------------------------------------------------


def _projection(random: Random, *, is_linear: bool = False) -> RandomQuery:
    expressions = Expressions(random, ("a", "b"), ("g",), is_linear=is_linear)
    number, (text, passes) = expressions.number(), _where(random, expressions)
    is_partitioned = random.random() < 0.4
    key = "g" if is_partitioned else "k"
    tail = " PARTITION BY g" if is_partitioned else ""
    statement = f"STREAM made AS SELECT {key}, {number.text} AS x, b FROM s{text}{tail}"

    def outcome(records: Sequence[Given]) -> Outcome:
        rows = [columns(record) for record in records]
        return _streamed([(row[key], {"X": number.value(row), "B": row["b"]}) for row in rows if passes(row)])

    return RandomQuery(statement, (STREAM,), outcome, is_late=True)


def _explosion(random: Random, *, is_linear: bool = False) -> RandomQuery:
    expressions = Expressions(random, ("a", "b"), ("g",), is_linear=is_linear)
    number, (text, passes) = expressions.number(), _where(random, expressions)
    statement = f"STREAM made AS SELECT k, EXPLODE(ARRAY[a, {number.text}]) AS x, g AS y FROM s{text}"

    def outcome(records: Sequence[Given]) -> Outcome:
        rows = [row for row in map(columns, records) if passes(row)]
        return _streamed([(row["k"], {"X": x, "Y": row["g"]}) for row in rows for x in (row["a"], number.value(row))])

    return RandomQuery(statement, (STREAM,), outcome, is_late=True)


def _table(random: Random, *, is_linear: bool = False) -> RandomQuery:
    expressions = Expressions(random, ("v",), ("f",), is_linear=is_linear)
    number, (text, passes) = expressions.number(), _where(random, expressions)
    statement = f"TABLE made AS SELECT k, {number.text} AS x, f FROM t{text}"

    def outcome(records: Sequence[Given]) -> Outcome:
        rows = [row for row in map(columns, table_rows(records, TABLE).values()) if passes(row)]
        return {(row["k"], None): {"X": number.value(row), "F": row["f"]} for row in rows}

    return RandomQuery(statement, (TABLE,), outcome)


# -- groups ---------------------------------------------------------------------------------------


def _groups(random: Random, *, is_linear: bool = False) -> RandomQuery:
    expressions = Expressions(random, ("a", "b"), ("g",), is_linear=is_linear)
    calls, (text, passes) = Calls(random, expressions, is_linear=is_linear), _where(random, expressions)
    having, holds = _having(random)
    statement = f"TABLE made AS SELECT g, {calls.text} FROM s{text} GROUP BY g{having}"

    def outcome(records: Sequence[Given]) -> Outcome:
        groups = defaultdict(list)
        for row in map(columns, records):
            if passes(row) and row["g"] is not None:
                groups[row["g"], None].append(row)
        return {place: calls.results(rows) for place, rows in groups.items() if holds(rows)}

    return RandomQuery(statement, (STREAM,), outcome, is_late=True)


def _windows(random: Random, *, is_linear: bool = False) -> RandomQuery:
    expressions = Expressions(random, ("a", "b"), ("g",), is_linear=is_linear)
    calls, (text, passes) = Calls(random, expressions, is_linear=is_linear), _where(random, expressions)
    having, holds = _having(random)
    size, advance, grace = random.choice((4, 10)), random.choice((2, 3, 4)), random.choice((0, 5, 60))
    is_hopping, is_final = random.random() < 0.5, random.random() < 0.4
    kind = (
        f"HOPPING (SIZE {size} SECONDS, ADVANCE BY {advance} SECONDS"
        if is_hopping
        else f"TUMBLING (SIZE {size} SECONDS"
    )
    statement = (
        f"TABLE made AS SELECT g, {calls.text} FROM s WINDOW {kind}, GRACE PERIOD {grace} SECONDS){text} "
        f"GROUP BY g{having} EMIT {'FINAL' if is_final else 'CHANGES'}"
    )
    window_of = hopping(size * SECOND, (advance if is_hopping else size) * SECOND)

    def outcome(records: Sequence[Given]) -> Outcome:
        """A row is late for a window when another one has come that is as late as its end and the grace period behind it."""
        groups, now = defaultdict(list), 0
        for record in records:
            row = columns(record)
            if not passes(row) or row["g"] is None:
                continue
            now = max(now, record.time)
            for window in window_of(record.time):
                if window[1] + grace * SECOND > now:
                    groups[row["g"], window].append(row)
        is_told = {place: not is_final or place[1][1] + grace * SECOND <= now for place in groups}
        return {place: calls.results(rows) for place, rows in groups.items() if is_told[place] and holds(rows)}

    return RandomQuery(statement, (STREAM,), outcome, is_late=True)


def _sessions(random: Random, *, is_linear: bool = False) -> RandomQuery:
    expressions = Expressions(random, ("a", "b"), ("g",), is_linear=is_linear)
    calls, (text, passes) = (
        Calls(random, expressions, is_ordered=False, is_linear=is_linear),
        _where(random, expressions),
    )
    gap, (having, holds) = random.choice((2, 5)), _having(random)
    statement = f"TABLE made AS SELECT g, {calls.text} FROM s WINDOW SESSION ({gap} SECONDS){text} GROUP BY g{having}"

    def outcome(records: Sequence[Given]) -> Outcome:
        groups = defaultdict(list)
        for record in records:
            row = columns(record)
            if passes(row) and row["g"] is not None:
                groups[row["g"]].append((record.time, row))
        return {
            (key, bounds): calls.results(rows)
            for key, timed in groups.items()
            for bounds, rows in sessions(timed, gap * SECOND)
            if holds(rows)
        }

    return RandomQuery(statement, (STREAM,), outcome, is_late=True)


def _groups_of_table(random: Random, *, is_linear: bool = False) -> RandomQuery:
    """A group that has lost all its rows stays, with what aggregates of nothing are."""
    expressions = Expressions(random, ("v",), ("f",), is_linear=is_linear)
    number, (text, passes) = expressions.number(), _where(random, expressions)
    statement = f"TABLE made AS SELECT f, COUNT(*) AS n, SUM({number.text}) AS x FROM t{text} GROUP BY f"

    def outcome(records: Sequence[Given]) -> Outcome:
        ever = [columns(record) for record in records if record.values is not None]
        now = [columns(record) for record in table_rows(records, TABLE).values()]
        groups = {row["f"] for row in ever if passes(row)} - {None}
        return {
            (group, None): _counted(number, [row for row in now if passes(row) and row["f"] == group])
            for group in groups
        }

    return RandomQuery(statement, (TABLE,), outcome)


def _counted(number: Expression, rows: Sequence[Values]) -> dict[str, Any]:
    return {"N": len(rows), "X": sum(number.value(row) or 0 for row in rows)}


# -- joins ----------------------------------------------------------------------------------------


def _streams(random: Random, *, is_linear: bool = False) -> RandomQuery:
    """Without a grace period a row without a partner is told at once, with one when no partner can come any more."""
    kind, grace = random.choice(("INNER", "LEFT", "RIGHT", "FULL OUTER")), random.choice((None, 3))
    number = Expressions(random, ("s.a", "s.b", "r.c"), is_linear=is_linear).number()
    key = {"RIGHT": "r.k", "FULL OUTER": "ROWKEY"}.get(kind, "s.k")
    late = "" if grace is None else f" GRACE PERIOD {grace} SECONDS"
    statement = (
        f"STREAM made AS SELECT {key} AS k, {number.text} AS x, s.a AS y, r.c AS z "
        f"FROM s {kind} JOIN r WITHIN 5 SECONDS{late} ON s.k = r.k"
    )
    is_kept = {STREAM: kind in ("LEFT", "FULL OUTER"), OTHER: kind in ("RIGHT", "FULL OUTER")}

    def pair(record: Given, other: Given | None) -> Row:
        missing = Given(OTHER if record.source == STREAM else STREAM, None, None, 0)
        row = {**columns(record, is_qualified=True), **columns(other or missing, is_qualified=True)}
        return record.key, {"X": number.value(row), "Y": row["s.a"], "Z": row["r.c"]}

    def outcome(records: Sequence[Given]) -> Outcome:
        rows: list[Row] = []
        for place, record in enumerate(records):
            before = [other for other in records[:place] if _are_partners(record, other)]
            rows += [pair(record, other) for other in before]
            if grace is None:
                is_alone = not before
            else:
                is_alone = not any(_are_partners(record, other) for other in records)
                is_alone &= records[-1].time > record.time + WITHIN_MS + grace * SECOND
            if is_alone and is_kept[record.source]:
                rows.append(pair(record, None))
        found = _streamed(rows)
        return found if grace is None else unordered(found)

    return RandomQuery(statement, (STREAM, OTHER), outcome, is_ordered=grace is None)


def _are_partners(one: Given, other: Given) -> bool:
    return (
        {one.source, other.source} == {STREAM, OTHER}
        and one.key == other.key
        and abs(one.time - other.time) <= WITHIN_MS
    )


def _lookup(random: Random, *, is_linear: bool = False) -> RandomQuery:
    """A row finds what the table holds when it comes."""
    is_left, is_grouped = random.random() < 0.5, random.random() < 0.4
    expressions = Expressions(random, ("a", "b", "w"), ("g",), is_linear=is_linear)
    number, (text, passes) = expressions.number(), _where(random, expressions)
    key = random.choice(("k", "g"))
    join = f"FROM s {'LEFT' if is_left else 'INNER'} JOIN u ON s.{key} = u.k{text}"
    statement = (
        f"TABLE made AS SELECT g, COUNT(*) AS n, SUM({number.text}) AS x {join} GROUP BY g"
        if is_grouped
        else f"STREAM made AS SELECT s.{key} AS key, {number.text} AS x, w {join}"
    )

    def outcome(records: Sequence[Given]) -> Outcome:
        rows = list[dict[str, Any]]()
        for place, record in enumerate(records):
            if record.source == STREAM:
                row = columns(record)
                found = table_rows(records[:place], FEW).get(row[key])
                row["w"] = None if found is None or found.values is None else found.values["w"]
                if (found is not None or is_left) and passes(row):
                    rows.append(row)
        if not is_grouped:
            return _streamed([(row[key], {"X": number.value(row), "W": row["w"]}) for row in rows])
        groups = {row["g"] for row in rows}
        return {(group, None): _counted(number, [row for row in rows if row["g"] == group]) for group in groups}

    return RandomQuery(statement, (STREAM, FEW), outcome, null_words=False)


def _streams_and_table(random: Random, *, is_linear: bool = False) -> RandomQuery:
    """A pair finds what the table holds when the later one of both comes."""
    is_left = random.random() < 0.5
    expressions = Expressions(random, ("s.a", "s.b", "r.c", "u.w"), ("s.g",), is_linear=is_linear)
    number, (text, passes) = expressions.number(), _where(random, expressions)
    statement = (
        f"STREAM made AS SELECT s.k AS k, {number.text} AS x, u.w AS w FROM s JOIN r WITHIN 5 SECONDS ON s.k = r.k "
        f"{'LEFT' if is_left else 'INNER'} JOIN u ON s.k = u.k{text}"
    )

    def outcome(records: Sequence[Given]) -> Outcome:
        rows: list[Row] = []
        for place, record in enumerate(records):
            found = table_rows(records[:place], FEW).get(record.key)
            if found is None and not is_left:
                continue
            looked_up = columns(found or Given(FEW, None, None, 0), is_qualified=True)
            for other in records[:place]:
                row = {**columns(record, is_qualified=True), **columns(other, is_qualified=True), **looked_up}
                if _are_partners(record, other) and passes(row):
                    rows.append((record.key, {"X": number.value(row), "W": row["u.w"]}))
        return _streamed(rows)

    return RandomQuery(statement, (STREAM, OTHER, FEW), outcome)


def _tables(random: Random, *, is_linear: bool = False) -> RandomQuery:
    kind = random.choice(("INNER", "LEFT", "RIGHT", "FULL OUTER"))
    number = Expressions(random, ("v", "w"), ("f",), is_linear=is_linear).number()
    key = {"RIGHT": "u.k", "FULL OUTER": "ROWKEY"}.get(kind, "t.k")
    statement = f"TABLE made AS SELECT {key} AS k, {number.text} AS x, v, w FROM t {kind} JOIN u ON t.k = u.k"

    def outcome(records: Sequence[Given]) -> Outcome:
        left, right = table_rows(records, TABLE), table_rows(records, FEW)
        keys = {"INNER": left.keys() & right, "LEFT": left.keys(), "RIGHT": right.keys()}.get(kind, left.keys() | right)
        rows = {key: _both(left.get(key), right.get(key)) for key in keys}
        return {(key, None): {"X": number.value(row), "V": row["v"], "W": row["w"]} for key, row in rows.items()}

    return RandomQuery(statement, (TABLE, FEW), outcome)


def _foreign_key(random: Random, *, is_linear: bool = False) -> RandomQuery:
    is_left, is_grouped = random.random() < 0.5, random.random() < 0.4
    number = Expressions(random, ("v", "w"), ("f",), is_linear=is_linear).number()
    join = f"FROM t {'LEFT' if is_left else 'INNER'} JOIN u ON t.f = u.k"
    statement = (
        f"TABLE made AS SELECT f, COUNT(*) AS n, SUM({number.text}) AS x {join} GROUP BY f"
        if is_grouped
        else f"TABLE made AS SELECT t.k AS k, {number.text} AS x, v, w {join}"
    )

    def joined(records: Sequence[Given]) -> dict[Any, dict[str, Any]]:
        left, right = table_rows(records, TABLE), table_rows(records, FEW)
        partners = {key: right.get(columns(row)["f"]) for key, row in left.items()}
        return {key: _both(row, partners[key]) for key, row in left.items() if partners[key] is not None or is_left}

    def outcome(records: Sequence[Given]) -> Outcome:
        rows = joined(records)
        if not is_grouped:
            return {(key, None): {"X": number.value(row), "V": row["v"], "W": row["w"]} for key, row in rows.items()}
        ever = {row["f"] for count in range(len(records)) for row in joined(records[: count + 1]).values()}
        return {(group, None): _counted(number, [row for row in rows.values() if row["f"] == group]) for group in ever}

    return RandomQuery(statement, (TABLE, FEW), outcome, null_words=False)


def _both(left: Given | None, right: Given | None) -> dict[str, Any]:
    return {**columns(left or Given(TABLE, None, None, 0)), **columns(right or Given(FEW, None, None, 0))}


# -- parts ----------------------------------------------------------------------------------------


def _streamed(rows: Iterable[Row]) -> Outcome:
    outcome: Outcome = {}
    for key, values in rows:
        outcome.setdefault((key, None), []).append(values)
    return outcome


def _where(random: Random, expressions: Expressions) -> tuple[str, Callable[[Values], Any]]:
    if random.random() < 0.4:
        return "", lambda row: True
    condition = expressions.condition()
    return f" WHERE {condition.text}", condition.value


def _having(random: Random) -> tuple[str, Callable[[Sequence[Values]], bool]]:
    least = random.randint(1, 3)
    if random.random() < 0.6:
        return "", lambda rows: True
    return f" HAVING COUNT(*) > {least}", lambda rows: len(rows) > least


class Shape(Protocol):
    """Makes queries of one kind; see `Expressions` for `is_linear`."""

    @property
    def __name__(self) -> str: ...

    def __call__(self, random: Random, *, is_linear: bool = False) -> RandomQuery: ...


STATEFUL: Final[tuple[Shape, ...]] = (
    *(_groups, _windows, _sessions, _groups_of_table),
    *(_streams, _lookup, _streams_and_table, _tables, _foreign_key),
)
SHAPES: Final[tuple[Shape, ...]] = (_projection, _explosion, _table, *STATEFUL)
