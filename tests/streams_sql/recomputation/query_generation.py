"""Random queries over random sources."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Final

from tests.streams_sql.recomputation.expressions import INTEGERS, Expression, Expressions, Operand, Type, literal
from tests.streams_sql.recomputation.queries import (
    KEY_ITEM,
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
from tests.streams_sql.recomputation.sources import SourceDefinition

_GRACES: Final = (None, 0, 1, 2, 5, 20)
_SIZES: Final = (1, 2, 3, 5, 10)
_WITHINS: Final = (0, 1, 2, 5)
"""In units of time."""
_UNORDERED_TYPES: Final = (Type.BOOLEAN,)
"""Types that have no least value."""


class QueryGeneration:
    """Queries over two streams, `s…` and `r…`, and two tables, `t…` and `u…`."""

    def __init__(self, random: Random, sources: Sequence[SourceDefinition], unit: int) -> None:
        self._random = random
        self._unit = unit
        self._sources = {source.name[0]: source for source in sources}
        self._names = count(1)

    def query(self) -> Select:
        relation = self._stream() if self._random.random() < 0.65 else self._table()
        return self._grouped(relation) if self._random.random() < 0.5 else self._plain(relation)

    # -- selects --

    def _plain(self, relation: Relation) -> Select:
        expressions = Expressions(self._random, relation.operands)
        values = [expressions.any() for _ in range(self._random.randint(1, 3))]
        # A key that is selected twice is rejected, and of two that are equal, the first one in the statement would be chosen.
        keys = _keys(relation)
        values = [value for value in values if value not in keys] or [literal(1, Type.INTEGER)]
        items = [Item(f"x{place}", value) for place, value in enumerate(values)]
        if not relation.is_table and self._random.random() < 0.1:
            first = expressions.any()
            items.append(Item("e", Explosion((first, expressions.of(first.type), expressions.of(first.type)))))
        where = self._where(relation)
        if relation.is_table or self._random.random() < 0.7:
            return Select(relation, (Item(KEY_ITEM, relation.key), *items), where)
        # A tombstone has no column by which it could be partitioned.
        key = self._partition_key(relation)
        return Select(relation, (Item(KEY_ITEM, key), *items), where or _present(key), is_repartitioned=True)

    def _grouped(self, relation: Relation) -> Select:
        window = None if relation.is_table or self._random.random() < 0.35 else self._window()
        calls = self._calls(relation, window)
        having = self._random.randint(0, 2) if self._random.random() < 0.3 else None
        is_final = window is not None and self._random.random() < 0.3
        by = self._group_key(relation)
        items = [Item(f"x{place}", call) for place, call in enumerate(calls)]
        return Select(
            relation,
            (Item(KEY_ITEM, by), *items),
            self._where(relation),
            grouping=Grouping(by, window, having, is_final),
        )

    def _where(self, relation: Relation) -> Expression | None:
        """Of most queries none: a condition takes away what could be wrong."""
        if self._random.random() < 0.65:
            return None
        return Expressions(self._random, relation.operands).condition()

    def _partition_key(self, relation: Relation) -> Expression:
        """A column, or an expression."""
        columns = [
            operand.expression for operand in relation.operands if operand.expression.type in (*INTEGERS, Type.STRING)
        ]
        if self._random.random() < 0.7:
            return self._random.choice(columns)
        made = Expressions(self._random, relation.operands).of(Type.INTEGER)
        return made if made.parts else self._random.choice(columns)

    def _group_key(self, relation: Relation) -> Expression:
        return self._random.choice([operand.expression for operand in relation.operands if _can_be_key(operand)])

    def _calls(self, relation: Relation, window: Window | None) -> list[Call]:
        functions = [function for function in Function if function is not Function.COUNT_ALL]
        if relation.is_table:
            functions = [each for each in functions if not each.is_ordered and each is not Function.TOPK]
        made = [self._call(self._random.choice(functions), relation) for _ in range(self._random.randint(0, 3))]
        return [Call(Function.COUNT_ALL), *made]

    def _call(self, function: Function, relation: Relation) -> Call:
        expressions = Expressions(self._random, relation.operands)
        if function in (Function.SUM, Function.AVG):
            number = expressions.number()
            return Call(Function.COUNT_ALL) if number is None else Call(function, number)
        of = expressions.any()
        if function in (Function.MIN, Function.MAX, Function.TOPK) and of.type in _UNORDERED_TYPES:
            return Call(Function.COUNT, of)
        return Call(function, of)

    def _window(self) -> Window:
        kind, size = self._random.choice(tuple(WindowKind)), self._random.choice(_SIZES)
        advance = self._random.randint(1, size)
        return Window(kind, size * self._unit, advance * self._unit, self._time(_GRACES))

    def _time(self, units: Sequence[int | None]) -> int | None:
        chosen = self._random.choice(units)
        return None if chosen is None else chosen * self._unit

    # -- relations --

    def _stream(self) -> Relation:
        choice = self._random.random()
        if choice < 0.35:
            return self._some_stream("s")
        if choice < 0.4:
            return self._union()
        if choice < 0.75:
            joined = self._stream_join(self._some_stream("s"), self._other_stream())
            return self._lookup(joined) if joined.kind is not JoinKind.FULL and self._random.random() < 0.2 else joined
        return self._lookup(self._some_stream("s"))

    def _table(self) -> Relation:
        choice = self._random.random()
        if choice < 0.2:
            return self._some_table("t")
        if choice < 0.4:
            return self._aggregated()
        return self._table_join(self._some_table("t"), self._some_table("u"))

    def _some_stream(self, name: str) -> Relation:
        scan = Scan(self._sources[name], name)
        return scan if self._random.random() < 0.75 else self._subquery(scan)

    def _other_stream(self) -> Relation:
        """Another stream, or the same under another name."""
        if self._random.random() < 0.9:
            return self._some_stream("r")
        return Scan(self._sources["s"], "o")

    def _some_table(self, name: str) -> Relation:
        scan = Scan(self._sources[name], name)
        return scan if self._random.random() < 0.75 else self._subquery(scan)

    def _subquery(self, scan: Scan) -> Subquery:
        """With a column `g` of the type of the key."""
        expressions = Expressions(self._random, scan.operands)
        items = (
            Item(KEY_ITEM, scan.key),
            Item("g", next(each.expression for each in scan.operands if each.expression.text.endswith(".g"))),
            Item("y", expressions.any()),
        )
        return Subquery(Select(scan, items, self._where(scan)), f"q{next(self._names)}")

    def _union(self) -> Union:
        one, other = Scan(self._sources["s"], "s"), Scan(self._sources["r"], "r")
        types = [self._random.choice(tuple(Type)) for _ in range(2)]
        selects = []
        for scan in (one, other):
            expressions = Expressions(self._random, scan.operands)
            items = [Item(f"y{place}", expressions.of(type_)) for place, type_ in enumerate(types)]
            selects.append(Select(scan, (Item(KEY_ITEM, scan.key), *items), self._where(scan)))
        return Union(tuple(selects), f"q{next(self._names)}")

    def _aggregated(self) -> Subquery:
        """Groups of a stream, whose changes are followed by what is above them."""
        scan = Scan(self._sources["s"], "s")
        by = self._group_key(scan)
        number = Expressions(self._random, scan.operands).of(Type.INTEGER)
        function = self._random.choice((Function.SUM, Function.MIN, Function.MAX, Function.COUNT))
        items = (Item(KEY_ITEM, by), Item("n", Call(Function.COUNT_ALL)), Item("y", Call(function, number)))
        select = Select(scan, items, self._where(scan), grouping=Grouping(by))
        return Subquery(select, f"q{next(self._names)}")

    def _stream_join(self, left: Relation, right: Relation) -> Join:
        before, kind = self._random.choice(_WITHINS) * self._unit, self._random.choice(tuple(JoinKind))
        after = before if self._random.random() < 0.7 else self._random.choice(_WITHINS) * self._unit
        grace = self._time((None, None, 0, 1, 3, 10))
        return Join(left, right, kind, self._join_key(left), self._join_key(right), before, after, grace)

    def _lookup(self, stream: Relation) -> Join:
        table = self._some_table("u")
        kind = self._random.choice((JoinKind.INNER, JoinKind.LEFT))
        key = stream.key if isinstance(stream, Join) else self._join_key(stream)
        return Join(stream, table, kind, key, table.key)

    def _table_join(self, left: Relation, right: Relation) -> Join:
        if self._random.random() < 0.5:
            kind = self._random.choice(tuple(JoinKind))
            return Join(left, right, kind, left.key, right.key)
        foreign = next(each.expression for each in left.operands if each.expression.text.endswith(".g"))
        return Join(left, right, self._random.choice((JoinKind.INNER, JoinKind.LEFT)), foreign, right.key)

    def _join_key(self, relation: Relation) -> Expression:
        """The key, or another column of its type."""
        if self._random.random() < 0.6:
            return relation.key
        return next(each.expression for each in relation.operands if each.expression.text.endswith(".g"))


def _keys(relation: Relation) -> list[Expression]:
    if not isinstance(relation, Join):
        return [relation.key]
    return [relation.key, relation.left_key, relation.right_key, *_keys(relation.left)]


def _can_be_key(operand: Operand) -> bool:
    return operand.expression.type in (*INTEGERS, Type.STRING)


def _present(key: Expression) -> Expression:
    """A condition that lets all rows pass that have a value."""
    test = "({0} IS NULL OR {0} IS NOT NULL)"
    return Expression(Type.BOOLEAN, test, test, (key,))
