"""From sqlglot's trees of expressions to ours.

Only the nodes and arguments that are listed here pass. Whatever else sqlglot may make of a text is a problem of that text: nothing is
left out silently.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any, Final, TypeAlias

from sqlglot import exp

from streams_sql.language.expression_grammar import InnerQuery, Plus
from streams_sql.language.expressions import (
    Between,
    Binary,
    Case,
    Cast,
    ColumnName,
    Dereference,
    Expression,
    FunctionCall,
    In,
    IsNull,
    Lambda,
    Like,
    Literal,
    MakeArray,
    MakeMap,
    MakeStruct,
    QueryValue,
    Subscript,
    Unary,
)
from streams_sql.language.token_reader import bigint
from streams_sql.problem import DOUBLE_QUOTE, Lines, Position, SyntaxProblem, shortened

DEPTH_MAX: Final = 200
"""Levels of a tree, long chains of operators among them, so that the stack suffices for all who walk it."""

_OPERATORS: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "AND",
    exp.Or: "OR",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
}
_SIGNS: Final[dict[type[exp.Expr], str]] = {exp.Neg: "-", Plus: "+"}
_NEGATED: Final = (exp.Between, exp.In, exp.Like, exp.Escape, exp.Is)
_OF_NO_MEANING: Final = frozenset({"typed", "safe"})
"""Arguments with which sqlglot remembers what its dialects do."""


class Conversion:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._depth = 0

    def expression(self, node: Any) -> Expression:
        convert, arguments = _CONVERSIONS.get(type(node), (None, ()))
        if convert is None:
            raise self._problem(node, f"{_described(node)} cannot be used here.")
        for name, value in node.args.items():
            if value and name not in arguments and name not in _OF_NO_MEANING:
                raise self._problem(node, f"{_described(node)} cannot be used with {name.upper()} here.")
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._problem(node, f"The expression has more than {DEPTH_MAX} levels: make several columns of it.")
        converted = convert(self, node)
        self._depth -= 1
        return converted

    def all(self, nodes: list[Any]) -> tuple[Expression, ...]:
        return tuple(self.expression(node) for node in nodes)

    def position(self, node: Any) -> Position | None:
        """Of the node's own word, else of the first of its parts that has one."""
        while isinstance(node, exp.Expr):
            meta = node.meta
            if "start" in meta:
                return self._lines.position(meta["start"], meta["end"] - meta["start"] + 1)
            node = node.args.get("table") or node.this
        return None

    def _problem(self, node: Any, message: str) -> SyntaxProblem:
        return SyntaxProblem(message, self.position(node))

    # -- literals and names -----------------------------------------------------------------------

    def _literal(self, node: exp.Literal) -> Literal:
        return Literal(node.this if node.is_string else self._number(node), position=self.position(node))

    def _number(self, node: exp.Literal) -> int | float | Decimal:
        text: str = node.this
        if "e" in text.lower():
            double = float(text)
            if not isfinite(double):
                raise self._problem(node, f"Number overflows DOUBLE: {shortened(text)}")
            return double
        if "." in text:
            return Decimal(text)
        number = bigint(text)
        if number is None:
            raise self._problem(node, f"Invalid numeric literal: {shortened(text)}")
        return number

    def _null(self, node: exp.Null) -> Literal:
        return Literal(None, position=self.position(node))

    def _boolean(self, node: exp.Boolean) -> Literal:
        return Literal(bool(node.this), position=self.position(node))

    def _column(self, node: exp.Column) -> ColumnName:
        is_like_text = not node.table and self._lines.is_at(node.this.meta.get("start", -1), DOUBLE_QUOTE)
        return ColumnName(node.name, node.table or None, position=self.position(node), is_like_text=is_like_text)

    # -- operators --------------------------------------------------------------------------------

    def _paren(self, node: exp.Paren) -> Expression:
        return self.expression(node.this)

    def _sign(self, node: exp.Unary) -> Unary:
        return Unary(_SIGNS[type(node)], self.expression(node.this), position=self.position(node))

    def _binary(self, node: exp.Binary) -> Binary:
        left, right = self.expression(node.this), self.expression(node.expression)
        return Binary(_OPERATORS[type(node)], left, right, position=self.position(node))

    def _not(self, node: exp.Not) -> Expression:
        negated = node.this
        if isinstance(negated, _NEGATED) and "start" not in node.meta:
            return self._predicate(negated, is_negated=True)
        return Unary("NOT", self.expression(negated), position=self.position(node))

    def _predicate(self, node: exp.Expr, is_negated: bool = False) -> Expression:
        position = self.position(node)
        match node:
            case exp.Between():
                low, high = self.expression(node.args["low"]), self.expression(node.args["high"])
                return Between(self.expression(node.this), low, high, is_negated, position=position)
            case exp.In():
                return In(self.expression(node.this), self.all(node.expressions), is_negated, position=position)
            case exp.Is():
                return IsNull(self.expression(node.this), is_negated, position=position)
        like, escape = (node.this, node.expression.name) if isinstance(node, exp.Escape) else (node, None)
        operand, pattern = self.expression(like.this), self.expression(like.expression)
        return Like(operand, pattern, escape, is_negated, position=position)

    # -- calls and makers -------------------------------------------------------------------------

    def _cast(self, node: exp.Cast) -> Cast:
        return Cast(self.expression(node.this), node.args["to"].this, position=self.position(node))

    def _case(self, node: exp.Case) -> Case:
        whens = tuple((self.expression(when.this), self.expression(when.args["true"])) for when in node.args["ifs"])
        default = node.args.get("default")
        return Case(
            whens,
            None if default is None else self.expression(default),
            None if node.this is None else self.expression(node.this),
            position=self.position(node),
        )

    def _call(self, node: exp.Anonymous) -> FunctionCall:
        arguments = node.expressions
        if len(arguments) == 1 and isinstance(arguments[0], exp.Star):
            return FunctionCall(node.this, (), is_star=True, position=self.position(node))
        return FunctionCall(node.this, self.all(arguments), position=self.position(node))

    def _lambda(self, node: exp.Lambda) -> Lambda:
        parameters = tuple(parameter.name for parameter in node.expressions)
        return Lambda(parameters, self.expression(node.this), position=self.position(node))

    def _subscript(self, node: exp.Bracket) -> Subscript:
        return Subscript(self.expression(node.this), self.expression(node.expressions[0]), position=self.position(node))

    def _dereference(self, node: exp.Dot) -> Dereference:
        return Dereference(self.expression(node.this), node.expression.name, position=self.position(node.expression))

    def _array(self, node: exp.Array) -> MakeArray:
        return MakeArray(self.all(node.expressions), position=self.position(node))

    def _map(self, node: exp.Map) -> MakeMap:
        keys, values = self.all(node.args["keys"].expressions), self.all(node.args["values"].expressions)
        return MakeMap(tuple(zip(keys, values, strict=True)), position=self.position(node))

    def _query(self, node: InnerQuery) -> QueryValue:
        return QueryValue(node.this, bool(node.args.get("is_existence")), position=self.position(node))

    def _struct(self, node: exp.Struct) -> MakeStruct:
        fields = tuple((field.this.name, self.expression(field.expression)) for field in node.expressions)
        return MakeStruct(fields, position=self.position(node))


def _described(node: Any) -> str:
    match node:
        case exp.Tuple():
            return "A list in parentheses"
        case exp.AtTimeZone():
            return "AT TIME ZONE"
    return type(node).__name__


_Converter: TypeAlias = Callable[[Conversion, Any], Expression]

_CONVERSIONS: Final[dict[type, tuple[_Converter, tuple[str, ...]]]] = {
    exp.Literal: (Conversion._literal, ("this", "is_string")),
    exp.Null: (Conversion._null, ()),
    exp.Boolean: (Conversion._boolean, ("this",)),
    exp.Column: (Conversion._column, ("this", "table")),
    exp.Paren: (Conversion._paren, ("this",)),
    **dict.fromkeys(_SIGNS, (Conversion._sign, ("this",))),
    **dict.fromkeys(_OPERATORS, (Conversion._binary, ("this", "expression"))),
    exp.Not: (Conversion._not, ("this",)),
    exp.Between: (Conversion._predicate, ("this", "low", "high")),
    exp.In: (Conversion._predicate, ("this", "expressions")),
    exp.Is: (Conversion._predicate, ("this", "expression")),
    exp.Like: (Conversion._predicate, ("this", "expression")),
    exp.Escape: (Conversion._predicate, ("this", "expression")),
    exp.Cast: (Conversion._cast, ("this", "to")),
    exp.Case: (Conversion._case, ("this", "ifs", "default")),
    exp.Anonymous: (Conversion._call, ("this", "expressions")),
    exp.Lambda: (Conversion._lambda, ("this", "expressions")),
    exp.Bracket: (Conversion._subscript, ("this", "expressions")),
    exp.Dot: (Conversion._dereference, ("this", "expression")),
    exp.Array: (Conversion._array, ("expressions",)),
    exp.Map: (Conversion._map, ("keys", "values")),
    exp.Struct: (Conversion._struct, ("expressions",)),
    InnerQuery: (Conversion._query, ("this", "is_existence")),
}
"""What passes: how each node is converted, and which arguments it may have."""
