"""Queries as trees: what they are made of, their statements, and smaller ones of the same kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import TypeAlias

from tests.streams_sql.recomputation.expressions import Expression, Operand, Type, column
from tests.streams_sql.recomputation.sources import SourceDefinition

KEY_ITEM = "k0"
"""The name of the first column of each result, which is its key."""


class JoinKind(StrEnum):
    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL OUTER"


class WindowKind(StrEnum):
    TUMBLING = "TUMBLING"
    HOPPING = "HOPPING"
    SESSION = "SESSION"


class Function(Enum):
    """Aggregates, with their text in DuckDB: `{x}` is the argument, `{wide}` the same as a number that cannot overflow, `{wrap}` the macro
    that lets it wrap around, and `{over}` the rows, where they are not those of a group. `is_ordered`: the result depends on their order."""

    COUNT_ALL = ("COUNT(*)", "COUNT(*){over}", False)
    COUNT = ("COUNT({x})", "COUNT({x}){over}", False)
    SUM = ("SUM({x})", "{wrap}(COALESCE(SUM({wide}){over}, 0))", False)
    AVG = (
        "AVG({x})",
        "CASE WHEN COUNT({x}) = 0 THEN 0.0 ELSE CAST({wrap}(SUM({wide})) AS DOUBLE) / COUNT({x}) END",
        False,
    )
    MIN = ("MIN({x})", "MIN({x}){over}", False)
    MAX = ("MAX({x})", "MAX({x}){over}", False)
    EARLIEST = ("EARLIEST_BY_OFFSET({x})", "FIRST({x} ORDER BY _seq) FILTER ({x} IS NOT NULL)", True)
    LATEST = ("LATEST_BY_OFFSET({x})", "LAST({x} ORDER BY _seq) FILTER ({x} IS NOT NULL)", True)
    COLLECT = ("COLLECT_LIST({x})", "LIST({x} ORDER BY _seq)", True)
    COLLECT_SET = ("COLLECT_SET({x})", "LIST({x} ORDER BY _seq)", True)
    TOPK = ("TOPK({x}, 2)", "COALESCE(LIST({x} ORDER BY {x} DESC) FILTER ({x} IS NOT NULL), [])[1:2]", False)

    def __init__(self, ksql: str, duck: str, is_ordered: bool) -> None:
        self.ksql = ksql
        self.duck = duck
        self.is_ordered = is_ordered


@dataclass(frozen=True, slots=True)
class Call:
    """An aggregate of an expression; COUNT(*) has none."""

    function: Function
    of: Expression | None = None

    @property
    def text(self) -> str:
        return self.function.ksql.format(x="" if self.of is None else self.of.text)

    @property
    def type(self) -> Type:
        match self.function:
            case Function.COUNT_ALL | Function.COUNT:
                return Type.BIGINT
            case Function.AVG:
                return Type.DOUBLE
        assert self.of is not None
        return self.of.type

    def duck_text(self, over: str = "") -> str:
        if self.of is None:
            return self.function.duck.format(over=over)
        text = self.of.duck_text
        wrap = {Type.INTEGER: "wrap32", Type.BIGINT: "wrap64"}.get(self.of.type, "")
        wide = f"CAST({text} AS HUGEINT)" if wrap else text
        if self.function is Function.AVG and self.of.type is Type.DECIMAL:
            return f"mean2(SUM({text}), COUNT({text}))"
        return self.function.duck.format(x=text, wrap=wrap, wide=wide, over=over)


@dataclass(frozen=True, slots=True)
class Explosion:
    """A row for each of these, which have one type."""

    parts: tuple[Expression, ...]

    @property
    def type(self) -> Type:
        return self.parts[0].type

    @property
    def text(self) -> str:
        return f"EXPLODE(ARRAY[{', '.join(part.text for part in self.parts)}])"

    @property
    def duck_text(self) -> str:
        return f"UNNEST([{', '.join(part.duck_text for part in self.parts)}])"


Value: TypeAlias = Expression | Call | Explosion


@dataclass(frozen=True, slots=True)
class Item:
    """A column of a result."""

    name: str
    value: Value

    @property
    def text(self) -> str:
        return f"{self.value.text} AS {self.name}"


@dataclass(frozen=True, slots=True)
class Window:
    """Times in milliseconds. The size of a session is its gap."""

    kind: WindowKind
    size: int
    advance: int
    grace: int | None

    @property
    def text(self) -> str:
        parts = [span(self.size)] if self.kind is WindowKind.SESSION else [f"SIZE {span(self.size)}"]
        parts += [f"ADVANCE BY {span(self.advance)}"] if self.kind is WindowKind.HOPPING else []
        parts += [] if self.grace is None else [f"GRACE PERIOD {span(self.grace)}"]
        return f"WINDOW {self.kind} ({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Grouping:
    """`having` is a condition on the aggregates, with their texts in both languages; `is_final`: windows appear when they are closed."""

    by: Expression
    window: Window | None = None
    having: int | None = None
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """The first item is the key. `partition_by` is its expression where it is not that of the relation."""

    relation: Relation
    items: tuple[Item, ...]
    where: Expression | None = None
    is_repartitioned: bool = False
    grouping: Grouping | None = None

    @property
    def is_table(self) -> bool:
        return self.relation.is_table or self.grouping is not None

    @property
    def text(self) -> str:
        """Without EMIT."""
        key = self.items[0].value.text
        parts = [f"SELECT {', '.join(item.text for item in self.items)} FROM {self.relation.text}"]
        if self.grouping is not None and self.grouping.window is not None:
            parts.append(self.grouping.window.text)
        if self.where is not None:
            parts.append(f"WHERE {self.where.text}")
        if self.grouping is not None:
            parts.append(f"GROUP BY {self.grouping.by.text}")
            if self.grouping.having is not None:
                parts.append(f"HAVING COUNT(*) > {self.grouping.having}")
        if self.is_repartitioned:
            parts.append(f"PARTITION BY {key}")
        return " ".join(parts)

    def statement(self, name: str, topic: str, partitions: int) -> str:
        kind = "TABLE" if self.is_table else "STREAM"
        emit = "FINAL" if self.grouping is not None and self.grouping.is_final else "CHANGES"
        return f"CREATE {kind} {name} WITH (kafka_topic='{topic}', partitions={partitions}) AS {self.text} EMIT {emit};"

    def simplified(self) -> Iterator[Select]:
        """Smaller queries, those with the most taken away first."""
        if isinstance(self.relation, Join) and not self.is_repartitioned:
            yield from (smaller for side in (self.relation.left, self.relation.right) if (smaller := self._over(side)))
        for relation in self.relation.simplified():
            yield replace(self, relation=relation)
        if self.where is not None:
            yield replace(self, where=None)
            for where in self.where.simplified():
                yield replace(self, where=where)
        for place in range(1, len(self.items)):
            yield replace(self, items=(*self.items[:place], *self.items[place + 1 :]))
        if self.grouping is not None:
            yield from (replace(self, grouping=smaller) for smaller in _simplified_grouping(self.grouping))
        for place, item in enumerate(self.items[1:], 1):
            for value in _simplified_value(item.value):
                yield replace(self, items=(*self.items[:place], replace(item, value=value), *self.items[place + 1 :]))

    def _over(self, side: Relation) -> Select | None:
        """The same over one side of a join, with what mentions nothing else."""
        known = {operand.expression.text for operand in side.operands}
        items = [item for item in self.items[1:] if mentioned(item.value) <= known]
        where = self.where if self.where is not None and mentioned(self.where) <= known else None
        if self.grouping is None:
            return replace(self, relation=side, items=(Item(KEY_ITEM, side.key), *items), where=where)
        if side.is_table != self.relation.is_table or not mentioned(self.grouping.by) <= known:
            return None
        return replace(self, relation=side, items=(self.items[0], *items), where=where)


def mentioned(value: Value) -> set[str]:
    """The texts of the columns in an expression."""
    if isinstance(value, Call):
        return set() if value.of is None else mentioned(value.of)
    if isinstance(value, Explosion) or value.parts:
        return set().union(*map(mentioned, value.parts))
    return {value.text} if value.duck.startswith('"') else set()


def _simplified_grouping(grouping: Grouping) -> Iterator[Grouping]:
    if grouping.having is not None:
        yield replace(grouping, having=None)
    if grouping.is_final:
        yield replace(grouping, is_final=False)
    if grouping.window is not None:
        yield replace(grouping, window=None, is_final=False)
        if grouping.window.kind is WindowKind.HOPPING:
            yield replace(grouping, window=replace(grouping.window, kind=WindowKind.TUMBLING))


def _simplified_value(value: Value) -> Iterator[Value]:
    if isinstance(value, Expression):
        yield from value.simplified()
    elif isinstance(value, Explosion):
        yield from value.parts
    elif value.of is not None:
        yield from (replace(value, of=of) for of in value.of.simplified())


# -- relations ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scan:
    source: SourceDefinition
    alias: str

    @property
    def is_table(self) -> bool:
        return self.source.is_table

    @property
    def text(self) -> str:
        return f"{self.source.name} {self.alias}" if self.alias != self.source.name else self.alias

    @property
    def key(self) -> Expression:
        first = self.source.columns[0]
        return column(self.alias, first.name, first.type)

    @property
    def operands(self) -> list[Operand]:
        return [
            Operand(
                column(self.alias, each.name, each.type), is_exact=not each.is_extreme or each.type is not Type.DOUBLE
            )
            for each in self.source.columns
        ]

    @property
    def scans(self) -> list[Scan]:
        return [self]

    def simplified(self) -> Iterator[Relation]:
        return iter(())


@dataclass(frozen=True, slots=True)
class Subquery:
    select: Select
    alias: str

    @property
    def is_table(self) -> bool:
        return self.select.is_table

    @property
    def text(self) -> str:
        return f"({self.select.text}) {self.alias}"

    @property
    def key(self) -> Expression:
        return column(self.alias, KEY_ITEM, self.select.items[0].value.type)

    @property
    def operands(self) -> list[Operand]:
        """Doubles of a subquery may be of any size."""
        return [
            Operand(column(self.alias, item.name, item.value.type), item.value.type is not Type.DOUBLE)
            for item in self.select.items
        ]

    @property
    def scans(self) -> list[Scan]:
        return self.select.relation.scans

    def simplified(self) -> Iterator[Relation]:
        for select in self.select.simplified():
            if len(select.items) == len(self.select.items):
                yield replace(self, select=select)


@dataclass(frozen=True, slots=True)
class Union:
    """UNION ALL of streams with columns of the same types."""

    selects: tuple[Select, ...]
    alias: str

    @property
    def is_table(self) -> bool:
        return False

    @property
    def text(self) -> str:
        return f"({' UNION ALL '.join(select.text for select in self.selects)}) {self.alias}"

    @property
    def key(self) -> Expression:
        return column(self.alias, KEY_ITEM, self.selects[0].items[0].value.type)

    @property
    def operands(self) -> list[Operand]:
        return Subquery(self.selects[0], self.alias).operands

    @property
    def scans(self) -> list[Scan]:
        return [scan for select in self.selects for scan in select.relation.scans]

    def simplified(self) -> Iterator[Relation]:
        yield from (Subquery(select, self.alias) for select in self.selects)


@dataclass(frozen=True, slots=True)
class Join:
    """Of two relations, on an expression of each. `before` and `after` are those of WITHIN, for two streams alone."""

    left: Relation
    right: Relation
    kind: JoinKind
    left_key: Expression
    right_key: Expression
    before: int = 0
    after: int = 0
    grace: int | None = None

    @property
    def is_table(self) -> bool:
        return self.left.is_table

    @property
    def of_streams(self) -> bool:
        return not self.right.is_table

    @property
    def is_foreign(self) -> bool:
        return self.left.is_table and self.left_key != self.left.key

    @property
    def text(self) -> str:
        within = ""
        if self.of_streams:
            within = f" WITHIN ({span(self.before)}, {span(self.after)})"
            within += "" if self.grace is None else f" GRACE PERIOD {span(self.grace)}"
        return f"{self.left.text} {self.kind} JOIN {self.right.text}{within} ON {self.left_key.text} = {self.right_key.text}"

    @property
    def key(self) -> Expression:
        if self.is_foreign:
            return self.left.key
        match self.kind:
            case JoinKind.RIGHT:
                return self.right_key
            case JoinKind.FULL:
                both = f"COALESCE({self.left_key.duck_text}, {self.right_key.duck_text})"
                return Expression(self.left_key.type, "ROWKEY", both)
        return self.left_key

    @property
    def operands(self) -> list[Operand]:
        return [*self.left.operands, *self.right.operands]

    @property
    def scans(self) -> list[Scan]:
        return [*self.left.scans, *self.right.scans]

    def simplified(self) -> Iterator[Relation]:
        yield from (replace(self, left=left) for left in self.left.simplified())
        yield from (replace(self, right=right) for right in self.right.simplified())
        if self.kind in (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL):
            yield replace(self, kind=JoinKind.INNER)
        if self.before != self.after:
            yield replace(self, before=max(self.before, self.after), after=max(self.before, self.after))


Relation: TypeAlias = Scan | Subquery | Union | Join


def span(ms: int) -> str:
    return f"{ms // 1000} SECONDS" if ms % 1000 == 0 else f"{ms} MILLISECONDS"


def used_sources(select: Select) -> Sequence[str]:
    return list(dict.fromkeys(scan.source.name for scan in select.relation.scans))
