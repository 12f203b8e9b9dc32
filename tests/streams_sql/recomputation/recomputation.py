"""What a query must come to, computed from all records at once by DuckDB.

A relation is a table of DuckDB with the columns of the relation and these: `_seq` is the position of a row in the order of processing,
`_time` its ROWTIME, `_gone` marks a tombstone. A relation that is a table holds each change of it, with `_key` as its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]

from tests.streams_sql.recomputation.expressions import Type
from tests.streams_sql.recomputation.outcomes import Outcome, ResultRow, stream_outcome, table_outcome
from tests.streams_sql.recomputation.processing_order import merged
from tests.streams_sql.recomputation.queries import (
    Call,
    Explosion,
    Function,
    Grouping,
    Item,
    Join,
    JoinKind,
    Relation,
    Scan,
    Select,
    Subquery,
    Union,
    Window,
    WindowKind,
)
from tests.streams_sql.recomputation.sessions import sessions_of
from tests.streams_sql.recomputation.sources import DAY, Record
from tests.streams_sql.recomputation.stream_joins import NEVER, StreamJoinSql

_MACROS: Final = """
CREATE MACRO wrap32(x) AS CAST(((x + 2147483648) % 4294967296 + 4294967296) % 4294967296 - 2147483648 AS INTEGER);
CREATE MACRO wrap64(x) AS CAST(((x + 9223372036854775808) % 18446744073709551616 + 18446744073709551616)
    % 18446744073709551616 - 9223372036854775808 AS BIGINT);
CREATE MACRO mean2(total, n) AS CASE WHEN n = 0 THEN 0.0 ELSE
    CAST(SIGN(total) * ((2 * CAST(ABS(total) * 1000000 AS HUGEINT) + n) // (2 * n)) AS DOUBLE) / 1000000 END;
"""
SEQ_STEP: Final = 1 << 20
"""Between the numbers of records, so that rows that come of one can be numbered between them."""
_ARROW: Final = {
    Type.INTEGER: pa.int32(),
    Type.BIGINT: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.DECIMAL: pa.decimal128(9, 2),
    Type.STRING: pa.string(),
    Type.BOOLEAN: pa.bool_(),
}
_SO_FAR: Final = "ORDER BY _seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


class Mode(Enum):
    """A persistent query waits for more records; a bounded one knows that there are none, and its rows have no times."""

    PERSISTENT = "persistent"
    BOUNDED = "bounded"


def recomputed(select: Select, records: Sequence[Record], mode: Mode = Mode.PERSISTENT) -> Outcome:
    with _connection().cursor() as connection:
        return _Recomputation(connection, select, records, mode).outcome()


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute(_MACROS)
    return connection


def needs_time(select: Select) -> bool:
    """Whether a bounded query has to process records in their order: it has tables, joins or windows. Else it is plain SQL over all
    records."""
    is_windowed = select.grouping is not None and select.grouping.window is not None
    return is_windowed or _relation_needs_time(select.relation)


def _relation_needs_time(relation: Relation) -> bool:
    match relation:
        case Scan():
            return relation.is_table
        case Subquery():
            return needs_time(relation.select)
        case Union():
            return any(map(needs_time, relation.selects))
    return True


class _Recomputation:
    def __init__(
        self, connection: duckdb.DuckDBPyConnection, select: Select, records: Sequence[Record], mode: Mode
    ) -> None:
        self._connection = connection
        self._select = select
        self._mode = mode
        self._is_plain = mode is Mode.BOUNDED and not needs_time(select)
        self._tables = 0
        self._scans: dict[str, str] = {}
        scans = select.relation.scans
        order = merged(records, scans)
        for place, scan in enumerate(scans):
            self._scans[scan.alias] = self._loaded(scan, place, len(scans), order)

    def outcome(self) -> Outcome:
        select = self._select
        if select.grouping is not None:
            return table_outcome(self._groups(select, select.grouping))
        changes = self._changes(select)
        rows = self._rows(f"SELECT * FROM {changes} ORDER BY _seq")
        names = [item.name for item in select.items[1:]]
        if select.is_table:
            return table_outcome(
                ResultRow(
                    row["_key"], None, None if row["_gone"] else tuple(row[name] for name in names), self._time(row)
                )
                for row in rows
            )
        return stream_outcome(
            ResultRow(
                row[select.items[0].name],
                None,
                None if row["_gone"] else tuple(row[name] for name in names),
                self._time(row),
            )
            for row in rows
            if self._mode is Mode.PERSISTENT or not row["_gone"]
        )

    def _time(self, row: Mapping[str, Any]) -> int | None:
        return row["_time"] if self._mode is Mode.PERSISTENT else None

    # -- DuckDB --

    def _made(self, sql: str) -> str:
        self._tables += 1
        name = f"t{self._tables}"
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {sql}")
        return name

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        result = self._connection.execute(sql)
        names = [each[0] for each in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def _loaded(self, scan: Scan, place: int, places: int, order: Sequence[Record]) -> str:
        """The records of a scan. A tombstone has no columns; a table's record without a key is no row."""
        chosen = [
            ((number * places + place) * SEQ_STEP, record)
            for number, record in enumerate(order)
            if record.source == scan.source.name and (record.key is not None or not scan.is_table)
        ]
        first, *others = scan.source.columns
        keys = pa.array([record.key for _, record in chosen], _ARROW[first.type])
        arrays = {
            f"{scan.alias}.{each.name}": pa.array(
                [None if record.values is None else record.values[each.name] for _, record in chosen],
                _ARROW[each.type],
            )
            for each in others
        }
        shown = keys
        if scan.is_table:
            shown = pa.array([None if one.values is None else one.key for _, one in chosen], _ARROW[first.type])
            arrays["_key"] = keys
        arrays[f"{scan.alias}.{first.name}"] = shown
        arrays["_seq"] = pa.array([number for number, _ in chosen], pa.int64())
        arrays["_time"] = pa.array([record.time for _, record in chosen], pa.int64())
        arrays["_gone"] = pa.array([record.values is None for _, record in chosen], pa.bool_())
        self._connection.register("loaded", pa.table(arrays))
        return self._made("SELECT * FROM loaded")

    # -- relations --

    def _relation(self, relation: Relation) -> str:
        match relation:
            case Scan():
                return self._scans[relation.alias]
            case Subquery():
                return self._renamed(self._changes(relation.select), relation.select.items, relation)
            case Union():
                parts = [self._changes(select) for select in relation.selects]
                names = ", ".join([*(item.name for item in relation.selects[0].items), "_seq", "_time", "_gone"])
                selects = relation.selects
                united = [
                    f"SELECT {', '.join([*(f'{mine.name} AS {first.name}' for mine, first in zip(select.items, selects[0].items, strict=True)), '_seq', '_time', '_gone'])} FROM {part}"
                    for select, part in zip(selects, parts, strict=True)
                ]
                whole = self._made(f"SELECT {names} FROM ({' UNION ALL '.join(united)})")
                return self._renamed(whole, selects[0].items, relation)
            case Join() if relation.of_streams:
                sql = StreamJoinSql(relation, is_bounded=self._mode is Mode.BOUNDED)
                return sql.joined(self._relation(relation.left), self._relation(relation.right), self._made)
            case Join() if not relation.is_table:
                return self._lookup(relation)
            case Join() if relation.is_foreign:
                return self._foreign_join(relation)
        return self._table_join(relation)

    def _renamed(self, table: str, items: Sequence[Item], relation: Subquery | Union) -> str:
        names = [f'"{item.name}" AS "{relation.alias}.{item.name}"' for item in items]
        meta = ["_seq", "_time", "_gone", *(["_key"] if relation.is_table else [])]
        return self._made(f"SELECT {', '.join([*names, *meta])} FROM {table}")

    def _changes(self, select: Select) -> str:
        """The rows of a stream, or the changes of a table."""
        below = self._relation(select.relation)
        where = "TRUE" if select.where is None else select.where.duck_text
        if select.grouping is not None:
            return self._group_changes(select, select.grouping, below, where)
        if not select.is_table:
            items = [f'{_value(item)} AS "{item.name}"' for item in select.items]
            is_exploded = any(isinstance(item.value, Explosion) for item in select.items)
            passes = f"NOT _gone AND {where}" if select.where is not None or is_exploded else "TRUE"
            return self._made(f"SELECT {', '.join(items)}, _seq, _time, _gone FROM {below} WHERE {passes}")
        gone = f"(_gone OR NOT {where})"
        items = [f'CASE WHEN {gone} THEN NULL ELSE {_value(item)} END AS "{item.name}"' for item in select.items]
        changes = f"SELECT {', '.join(items)}, _seq, _time, {gone} AS _gone, _key FROM {below}"
        if select.where is None:
            return self._made(changes)
        # A row that did not pass before does not appear when it does not pass again.
        return self._made(
            f"FROM ({changes}) QUALIFY NOT _gone OR NOT COALESCE(LAG(_gone) OVER (PARTITION BY _key ORDER BY _seq), TRUE)"
        )

    def _lookup(self, join: Join) -> str:
        """Each row of a stream with the row that the table has when it is processed."""
        stream, table = self._relation(join.left), self._relation(join.right)
        columns = _columns(join.left.operands, "s") + _columns(join.right.operands, "t")
        kept = "" if join.kind is JoinKind.LEFT else "AND t._seq IS NOT NULL AND NOT t._gone"
        return self._made(
            f"SELECT {', '.join(columns)}, s._seq AS _seq, s._time AS _time, FALSE AS _gone "
            f"FROM (SELECT *, {join.left_key.duck_text} AS _on FROM {stream} WHERE NOT _gone) s "
            f"ASOF LEFT JOIN {table} t ON s._on = t._key AND s._seq >= t._seq WHERE TRUE {kept}"
        )

    def _table_join(self, join: Join) -> str:
        """With each change of a side, the rows that both have then."""
        left, right = self._relation(join.left), self._relation(join.right)
        columns = _columns(join.left.operands, "l") + _columns(join.right.operands, "r")
        has_left, has_right = "COALESCE(NOT l._gone, FALSE)", "COALESCE(NOT r._gone, FALSE)"
        is_there = {
            JoinKind.INNER: f"{has_left} AND {has_right}",
            JoinKind.LEFT: has_left,
            JoinKind.RIGHT: has_right,
            JoinKind.FULL: f"({has_left} OR {has_right})",
        }[join.kind]
        return self._made(
            f"SELECT {', '.join(columns)}, e._seq AS _seq, "
            f"GREATEST(e._time, IF(l._gone, NULL, l._time), IF(r._gone, NULL, r._time)) AS _time, NOT ({is_there}) AS _gone, e._key AS _key "
            f"FROM (SELECT _seq, _time, _key FROM {left} UNION ALL SELECT _seq, _time, _key FROM {right}) e "
            f"ASOF LEFT JOIN {left} l ON e._key = l._key AND e._seq >= l._seq "
            f"ASOF LEFT JOIN {right} r ON e._key = r._key AND e._seq >= r._seq"
        )

    def _foreign_join(self, join: Join) -> str:
        """With each change of the left row, and with each of the right row that it names."""
        left, right = self._relation(join.left), self._relation(join.right)
        columns = _columns(join.left.operands, "l") + _columns(join.right.operands, "r")
        inner = "" if join.kind is JoinKind.LEFT else "OR COALESCE(r._gone, TRUE)"
        rows = self._made(
            f"SELECT *, {join.left_key.duck_text} AS _on, COALESCE(LEAD(_seq) OVER (PARTITION BY _key ORDER BY _seq), {NEVER}) AS _until "
            f"FROM {left}"
        )
        return self._made(
            f"SELECT {', '.join(columns)}, l._seq AS _seq, "
            f"GREATEST(l._time, IF(r._gone, NULL, r._time)) AS _time, l._gone {inner} AS _gone, l._key AS _key FROM {rows} l "
            f"ASOF LEFT JOIN {right} r ON l._on = r._key AND l._seq >= r._seq "
            f"UNION ALL SELECT {', '.join(columns)}, r._seq, r._time, l._gone {inner}, l._key FROM {rows} l "
            f"JOIN {right} r ON l._on = r._key AND NOT l._gone AND r._seq > l._seq AND r._seq < l._until"
        )

    # -- groups --

    def _group_changes(self, select: Select, grouping: Grouping, below: str, where: str) -> str:
        """A group changes with each of its rows. Without time, there are the groups of all rows alone."""
        by = grouping.by.duck_text
        if self._is_plain:
            items = [f'{_value(item)} AS "{item.name}"' for item in select.items]
            return self._made(
                f"SELECT {', '.join(items)}, MAX(_seq) AS _seq, MAX(_time) AS _time, FALSE AS _gone, {by} AS _key FROM {below} "
                f"WHERE NOT _gone AND {where} GROUP BY {by}"
            )
        over = f" OVER (PARTITION BY {by} {_SO_FAR})"
        items = [f'{_value(item, over)} AS "{item.name}"' for item in select.items]
        return self._made(
            f"SELECT {', '.join(items)}, _seq, MAX(_time){over} AS _time, FALSE AS _gone, {by} AS _key FROM {below} "
            f"WHERE {self._grouped_rows(grouping, where)}"
        )

    def _grouped_rows(self, grouping: Grouping, where: str) -> str:
        """The rows of groups. A persistent query has no group for NULL, since it would have no key."""
        null = "" if self._mode is Mode.BOUNDED else f" AND {grouping.by.duck_text} IS NOT NULL"
        return f"NOT _gone AND {where}{null}"

    def _groups(self, select: Select, grouping: Grouping) -> list[ResultRow]:
        below = self._relation(select.relation)
        where = "TRUE" if select.where is None else select.where.duck_text
        if select.relation.is_table:
            return self._table_groups(select, grouping, below, where)
        rows = self._made(
            f"SELECT *, {grouping.by.duck_text} AS _by, MAX(_time) OVER ({_SO_FAR}) AS _now FROM {below} "
            f"WHERE {self._grouped_rows(grouping, where)}"
        )
        windowed = self._windowed(rows, grouping)
        return self._aggregated(select, grouping, windowed)

    def _windowed(self, rows: str, grouping: Grouping) -> str:
        """The rows of windows: a row of a hopping window is in several of them, a late one in none."""
        window, is_final = grouping.window, grouping.is_final
        if window is None:
            return self._made(f"SELECT *, NULL::BIGINT AS _start, NULL::BIGINT AS _end FROM {rows}")
        grace = max(DAY - window.size, 0) if window.grace is None else window.grace
        if window.kind is WindowKind.SESSION:
            return self._sessions(rows, window, grace, is_final)
        advance = window.advance if window.kind is WindowKind.HOPPING else window.size
        first = f"GREATEST(0, _time - {window.size} + {advance}) // {advance} * {advance}"
        closed = f"AND _end + {grace} <= (SELECT MAX(_now) FROM {rows})" if is_final else ""
        return self._made(
            f"SELECT * FROM (SELECT *, _start + {window.size} AS _end FROM "
            f"(SELECT *, UNNEST(RANGE({first}, _time + 1, {advance})) AS _start FROM {rows})) WHERE _end + {grace} > _now {closed}"
        )

    def _sessions(self, rows: str, window: Window, grace: int, is_final: bool) -> str:
        timed = self._connection.execute(f"SELECT _by, _time, _seq FROM {rows} ORDER BY _seq").fetchall()
        found = sessions_of(timed, window.size, grace, is_final)
        arrays = [pa.array([each[place] for each in found], pa.int64()) for place in range(3)]
        self._connection.register("loaded", pa.table(arrays, names=["_row", "_start", "_end"]))
        return self._made(f"SELECT r.*, _start, _end FROM {rows} r JOIN loaded ON r._seq = _row")

    def _aggregated(self, select: Select, grouping: Grouping, rows: str) -> list[ResultRow]:
        items = [f'{_value(item)} AS "{item.name}"' for item in select.items[1:]]
        having = "" if grouping.having is None else f"HAVING COUNT(*) > {grouping.having}"
        found = self._rows(
            f"SELECT _by, _start, _end, MAX(_time) AS _time, {', '.join(items)} FROM {rows} GROUP BY _by, _start, _end {having}"
        )
        return [
            ResultRow(
                row["_by"],
                None if row["_start"] is None else (row["_start"], row["_end"]),
                tuple(_finished(item, row[item.name]) for item in select.items[1:]),
                self._time(row),
            )
            for row in found
        ]

    def _table_groups(self, select: Select, grouping: Grouping, below: str, where: str) -> list[ResultRow]:
        """Of the rows that there are at the end. A group that has lost all its rows is still there, with the aggregates of no rows."""
        by = grouping.by.duck_text
        ever = self._made(f"SELECT DISTINCT {by} AS _by FROM {below} WHERE {self._grouped_rows(grouping, where)}")
        last = self._made(
            f"SELECT *, {by} AS _in FROM (SELECT * FROM {below} QUALIFY _seq = MAX(_seq) OVER (PARTITION BY _key)) "
            f"WHERE NOT _gone AND {where}"
        )
        names = [item.name for item in select.items[1:]]
        items = ", ".join(f'{_value(item)} AS "{item.name}"' for item in select.items[1:])
        found = {
            row["_in"]: row for row in self._rows(f"SELECT _in, {items}, COUNT(*) AS _rows FROM {last} GROUP BY _in")
        }
        (empty,) = self._rows(f"SELECT {items}, 0 AS _rows FROM {last} WHERE FALSE")
        groups = [(row["_by"], found.get(row["_by"], empty)) for row in self._rows(f"SELECT _by FROM {ever}")]
        return [
            ResultRow(group, None, tuple(row[name] for name in names), None)
            for group, row in groups
            if grouping.having is None or row["_rows"] > grouping.having
        ]


def _finished(item: Item, value: Any) -> Any:
    """What SQL has no function for: the values of a list, each once, in the order in which they came first."""
    is_set = isinstance(item.value, Call) and item.value.function is Function.COLLECT_SET
    return list(dict.fromkeys(value)) if is_set else value


def _value(item: Item, over: str = "") -> str:
    return item.value.duck_text(over) if isinstance(item.value, Call) else item.value.duck_text


def _columns(operands: Sequence[Any], side: str) -> list[str]:
    return [f"{side}.{operand.expression.duck_text}" for operand in operands]
