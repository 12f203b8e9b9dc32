"""Joins of two streams in DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tests.streams_sql.recomputation.expressions import Operand
from tests.streams_sql.recomputation.queries import Join, JoinKind
from tests.streams_sql.recomputation.sources import DAY

NEVER: Final = 1 << 62
"""The position of a row that never comes."""
_NO_TIE: Final = "({0}._time, 0::BIGINT, 0::BIGINT, {0}._seq)"
"""The position of a partner among those of one row."""
Made = Callable[[str], str]
"""Makes a table of a query, and returns its name."""


class StreamJoinSql:
    """A row meets rows of the other side that were processed before it, unless these are older than their side's time by the window and the
    grace period. Without a grace period, a row that meets none appears at once without a partner; with one, when stream time has passed
    the last moment at which a partner can come."""

    def __init__(self, join: Join, is_bounded: bool) -> None:
        self._join = join
        self._is_bounded = is_bounded
        self._is_kept = (
            join.kind in (JoinKind.LEFT, JoinKind.FULL),
            join.kind in (JoinKind.RIGHT, JoinKind.FULL),
        )
        # Both are measured from the left row, and in a right join from the right one.
        is_right = join.kind is JoinKind.RIGHT
        self._before, self._after = (join.after, join.before) if is_right else (join.before, join.after)
        grace = join.grace
        if grace is None and is_bounded and join.kind is not JoinKind.INNER:
            # A bounded query has all rows: none appears without a partner before the end is known.
            grace = DAY
        self._waits = grace is not None
        self._grace = max(DAY - 2 * join.before, 0) if grace is None else grace
        self._retention = join.before + join.after + self._grace

    def joined(self, left: str, right: str, made: Made) -> str:
        join = self._join
        sides = [
            made(f"SELECT *, {key.duck_text} AS _on, _gone OR {key.duck_text} IS NULL AS _keyless FROM {table}")
            for key, table in ((join.left_key, left), (join.right_key, right))
        ]
        clock = made(self._clock(*sides))
        pairs = made(self._pairs(sides, clock))
        paired = (
            f"SELECT {', '.join(self._columns('l', 'r'))}, p._time AS _time, p._trigger AS _trigger, 1 AS _kind, "
            f"CASE WHEN l._seq < r._seq THEN {_NO_TIE.format('l')} ELSE {_NO_TIE.format('r')} END AS _partner FROM {pairs} p "
            f"JOIN {sides[0]} l ON l._seq = p._left JOIN {sides[1]} r ON r._seq = p._right"
        )
        alone = [self._alone(side, sides, clock, pairs, made) for side in (0, 1) if self._is_kept[side]]
        whole = made(" UNION ALL BY NAME ".join([paired, *alone]))
        names = ", ".join(operand.expression.duck_text for operand in join.operands)
        return made(
            f"SELECT {names}, _time, FALSE AS _gone, _trigger + ROW_NUMBER() OVER (PARTITION BY _trigger ORDER BY _kind, _partner, _time) AS _seq "
            f"FROM {whole}"
        )

    def _columns(self, left: str | None, right: str | None) -> list[str]:
        return [*_chosen(self._join.left.operands, left), *_chosen(self._join.right.operands, right)]

    def _clock(self, left: str, right: str) -> str:
        """Stream time with each row, and the latest time that each side had before it."""
        before = "OVER (ORDER BY _seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        return (
            "SELECT _seq, _time, _keyless, MAX(_time) OVER (ORDER BY _seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS _now, "
            f"COALESCE(MAX(_time) FILTER (_side = 0 AND NOT _keyless) {before}, -1) AS _left_time, "
            f"COALESCE(MAX(_time) FILTER (_side = 1 AND NOT _keyless) {before}, -1) AS _right_time "
            f"FROM (SELECT _seq, _time, _keyless, 0 AS _side FROM {left} UNION ALL SELECT _seq, _time, _keyless, 1 FROM {right})"
        )

    def _pairs(self, sides: Sequence[str], clock: str) -> str:
        return (
            "SELECT l._seq AS _left, r._seq AS _right, GREATEST(l._time, r._time) AS _time, c._seq AS _trigger "
            f"FROM {sides[0]} l JOIN {sides[1]} r ON l._on = r._on AND NOT l._gone AND NOT r._gone "
            f"AND r._time BETWEEN l._time - {self._before} AND l._time + {self._after} "
            f"JOIN {clock} c ON c._seq = GREATEST(l._seq, r._seq) "
            f"WHERE CASE WHEN l._seq > r._seq THEN r._time > c._right_time - {self._retention} "
            f"ELSE l._time > c._left_time - {self._retention} END"
        )

    def _alone(self, side: int, sides: Sequence[str], clock: str, pairs: str, made: Made) -> str:
        """Rows of a side that appear without a partner, and the row that lets them appear."""
        mine, after = ("_left", self._after) if side == 0 else ("_right", self._before)
        rows = made(
            f"SELECT m.*, c._now AS _now FROM {sides[side]} m JOIN {clock} c ON c._seq = m._seq WHERE NOT m._gone"
        )
        waits = f"(NOT _keyless AND _time + {after} >= _now)" if self._waits else "FALSE"
        closing = made(
            f"SELECT m._seq AS _row, COALESCE(MIN(c._seq), {NEVER}) AS _closing FROM {rows} m LEFT JOIN {clock} c "
            f"ON c._seq > m._seq AND NOT c._keyless AND c._time = c._now AND c._time > m._time + {after + self._grace} GROUP BY m._seq"
        )
        never = "TRUE" if self._is_bounded else f"_closing < {NEVER}"
        alone = made(
            f"SELECT *, CASE WHEN {waits} THEN _closing ELSE _seq END AS _trigger, CASE WHEN {waits} THEN 0 ELSE 1 END AS _kind "
            f"FROM {rows} JOIN {closing} ON _row = _seq WHERE CASE WHEN {waits} "
            f"THEN {never} AND NOT EXISTS (FROM {pairs} p WHERE p.{mine} = _seq AND p._trigger < _closing) "
            f"ELSE NOT EXISTS (FROM {pairs} p WHERE p.{mine} = _seq AND p._trigger = _seq) END"
        )
        columns = self._columns("m", None) if side == 0 else self._columns(None, "m")
        # Of rows with the same time that are over together, those of the right side come first, then those with the least key.
        tie = f"(m._time, {1 - side}::BIGINT, DENSE_RANK() OVER (ORDER BY m._on), m._seq)"
        partner = f"CASE WHEN m._kind = 0 THEN {tie} ELSE {_NO_TIE.format('m')} END AS _partner"
        return f"SELECT {', '.join(columns)}, m._time AS _time, m._trigger AS _trigger, m._kind AS _kind, {partner} FROM {alone} m"


def _chosen(operands: Sequence[Operand], table: str | None) -> list[str]:
    return [
        f"NULL AS {each.expression.duck_text}" if table is None else f"{table}.{each.expression.duck_text}"
        for each in operands
    ]
