"""From expressions as they were written, names resolved, to typed ones."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from typing import Any, Final

from streams_sql import typed
from streams_sql.analysis.cast_hints import can_cast
from streams_sql.analysis.catalogue_view import choice_hint, nearest_hint, text_hint
from streams_sql.analysis.coercion import castable, converted, in_common
from streams_sql.analysis.numbers import BIGINT_MAX, BIGINT_MIN, INTEGER_MAX, INTEGER_MIN, decimal_of, rank
from streams_sql.analysis.operators import COMPARISON_WORDS, COMPARISONS, LOGICAL, arithmetic, comparison
from streams_sql.analysis.type_names import base_name, known_type
from streams_sql.language import expressions as written
from streams_sql.language.expressions import Expression
from streams_sql.language.formatting import format_expression
from streams_sql.problem import Position, SqlProblem
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Field,
    Map,
    SqlType,
    Struct,
)
from streams_sql.typed import Operator, Typed

NO_NAMES: Final[Mapping[str, str]] = {}

Columns = Mapping[str, Typed]
"""What a name stands for."""

CallRule = Callable[["TypeInference", written.FunctionCall], Typed]


class TypeInference:
    """`names` are words that messages show for columns with names of our own."""

    def __init__(
        self,
        columns: Columns,
        call_rule: CallRule,
        names: Mapping[str, str] = NO_NAMES,
        parameters: Mapping[str, typed.Parameter] | None = None,
    ) -> None:
        self.columns = columns
        self._call_rule = call_rule
        self._names = names
        self._parameters = parameters or {}

    def of(self, expression: Expression) -> Typed:
        try:
            return _RULES[type(expression)](self, expression)
        except SqlProblem as problem:
            if problem.position is None:
                problem.position = expression.position
            raise

    def text(self, expression: Expression) -> str:
        return format_expression(expression, self._names)

    def with_parameters(self, parameters: Mapping[str, typed.Parameter]) -> TypeInference:
        return TypeInference(self.columns, self._call_rule, self._names, {**self._parameters, **parameters})

    @property
    def parameters(self) -> Mapping[str, typed.Parameter]:
        return self._parameters

    # -- leaves ---------------------------------------------------------------------------------------

    def literal(self, expression: written.Literal) -> Typed:
        return typed.Literal(expression.value, literal_type(expression.value, expression.position))

    def column(self, expression: written.ColumnName) -> Typed:
        found = self._parameters.get(expression.name) or self.columns.get(expression.name)
        if found is None:
            hint = text_hint(expression) or nearest_hint(expression.name, self.columns)
            raise SqlProblem(f"Column '{self.text(expression)}' cannot be resolved.{hint}")
        return found

    # -- operators ------------------------------------------------------------------------------------

    def unary(self, expression: written.Unary) -> Typed:
        if expression.operator == "NOT":
            return typed.Operation(Operator.NOT, (self.condition(expression.operand),), BOOLEAN)
        folded = _negated_literal(expression)
        if folded is not None:
            return self.literal(folded)
        operand = self.of(expression.operand)
        if rank(operand.type) is None:
            found = f"{self.text(expression.operand)} ({base_name(operand.type)})"
            raise SqlProblem(f"The sign {expression.operator} goes before numbers only, but not before {found}.")
        if expression.operator == "+":
            return operand
        return typed.Operation(Operator.NEGATE, (operand,), operand.type)

    def binary(self, expression: written.Binary) -> Typed:
        if expression.operator in LOGICAL:
            sides = self.condition(expression.left), self.condition(expression.right)
            return typed.Operation(LOGICAL[expression.operator], sides, BOOLEAN)
        left, right = self.of(expression.left), self.of(expression.right)
        if expression.operator in COMPARISONS:
            return self._comparison(expression, left, right)
        try:
            return arithmetic(expression.operator, left, right)
        except SqlProblem as problem:
            hint = self._arithmetic_hint(expression, left, right)
            raise SqlProblem(
                f"Error processing expression: {self.text(expression)}. {problem.message}{hint}"
            ) from problem

    def _arithmetic_hint(self, expression: written.Binary, left: Typed, right: Typed) -> str:
        """What would make it right."""
        sides = ((expression.left, left), (expression.right, right))
        if any(side.type in (TIME, DATE, TIMESTAMP) for _, side in sides):
            return ". TIMESTAMPADD, DATEADD and TIMEADD add to times, and those with SUB take away."
        if expression.operator in ("+", "||") and STRING in (left.type, right.type):
            others = [self.text(side) for side, typed_side in sides if typed_side.type not in (STRING, None)]
            return "".join(f". CAST({text} AS STRING) would put texts together." for text in others)
        wanted = next((side.type for _, side in sides if rank(side.type) is not None), None)
        texts = [side for side, typed_side in sides if typed_side.type == STRING]
        if wanted is None or not texts or not can_cast(texts[0], STRING, wanted):
            return ""
        return f". CAST({self.text(texts[0])} AS {wanted}) would make it a number."

    def _comparison(self, expression: written.Binary, left: Typed, right: Typed) -> Typed:
        found = comparison(expression.operator, left, right)
        if found is not None:
            return found
        word = COMPARISON_WORDS[COMPARISONS[expression.operator]]
        one, other = self.text(expression.left), self.text(expression.right)
        message = f"Cannot compare {one} ({left.type}) to {other} ({right.type}) with {word}."
        if left.type not in (None, right.type) and can_cast(expression.right, right.type, left.type):
            message += f" CAST({other} AS {left.type}) would make it the same type."
        raise SqlProblem(message)

    def condition(self, expression: Expression) -> Typed:
        found = self.of(expression)
        if found.type not in (BOOLEAN, None):
            raise SqlProblem(
                f"A condition is expected, but {self.text(expression)} is {found.type}. Compare it with something.",
                expression.position,
            )
        return found

    def between(self, expression: written.Between) -> Typed:
        operand = expression.operand
        bounds = (written.Binary(">=", operand, expression.low), written.Binary("<=", operand, expression.high))
        inside = typed.Operation(Operator.AND, tuple(self.of(bound) for bound in bounds), BOOLEAN)
        return _unless(expression.is_negated, inside)

    def among(self, expression: written.In) -> Typed:
        items = (expression.operand, *expression.values)
        try:
            common, arguments = in_common([self.of(item) for item in items], [self.text(item) for item in items])
        except SqlProblem as problem:
            raise SqlProblem(f"Invalid Predicate: {problem.message}", problem.position) from problem
        if common is None:
            raise SqlProblem("Invalid Predicate: all of it is NULL, so that nothing can be equal. Use IS NULL instead.")
        return _unless(expression.is_negated, typed.Operation(Operator.IN, arguments, BOOLEAN))

    def like(self, expression: written.Like) -> Typed:
        operand, pattern = self._string(expression.operand), self._string(expression.pattern)
        return _unless(expression.is_negated, typed.Like(operand, pattern, expression.escape, BOOLEAN))

    def _string(self, expression: Expression) -> Typed:
        found = self.of(expression)
        if found.type not in (STRING, None):
            raise SqlProblem(
                f"LIKE compares texts, but {self.text(expression)} is {found.type}. "
                f"CAST({self.text(expression)} AS STRING) would make it one.",
                expression.position,
            )
        return found

    def is_null(self, expression: written.IsNull) -> Typed:
        operator = Operator.IS_NOT_NULL if expression.is_negated else Operator.IS_NULL
        return typed.Operation(operator, (self.of(expression.operand),), BOOLEAN)

    def cast(self, expression: written.Cast) -> Typed:
        operand = self.of(expression.operand)
        wanted = known_type(expression.type, expression.position)
        if not castable(operand.type, wanted):
            raise SqlProblem(f"Cast of {operand.type} to {wanted} is not supported")
        return converted(operand, wanted)

    def case(self, expression: written.Case) -> Typed:
        whens = []
        results = [self.of(result) for _, result in expression.whens]
        default = None if expression.default is None else self.of(expression.default)
        for when, _ in expression.whens:
            whens.append(self._when(expression, when))
        every = [result for result in (*results, default) if result is not None]
        common = self._case_type(expression, every)
        if default is not None:
            default = converted(default, common)
        pairs = tuple((when, converted(result, common)) for when, result in zip(whens, results, strict=True))
        return typed.Case(pairs, default, common)

    def _when(self, case: written.Case, when: Expression) -> Typed:
        if case.operand is not None:
            return self.of(written.Binary("=", case.operand, when, position=when.position))
        found = self.of(when)
        if found.type != BOOLEAN:
            raise SqlProblem(
                f"WHEN operand type should be boolean.\nType for '{self.text(when)}' is {found.type}", when.position
            )
        return found

    def _case_type(self, expression: written.Case, results: list[Typed]) -> SqlType:
        texts = [self.text(then) for _, then in expression.whens]
        if expression.default is not None:
            texts.append(self.text(expression.default))
        types = {result.type for result in results if result.type is not None}
        if not types:
            raise SqlProblem("Invalid Case expression. All case branches have NULL type. Cast one of them.")
        if len(types) == 1:
            return types.pop()
        if any(rank(type_) is None for type_ in types):
            shown = ", ".join(f"{text} ({result.type})" for text, result in zip(texts, results, strict=True))
            raise SqlProblem(
                "Invalid Case expression. Type for all 'THEN' clauses should be the same, and the type for the default "
                f"clause should be the same as for 'THEN' clauses: {shown}. Cast them to one type."
            )
        common, _ = in_common(results, texts)
        return common or types.pop()

    # -- parts and wholes -----------------------------------------------------------------------------

    def call(self, expression: written.FunctionCall) -> Typed:
        return self._call_rule(self, expression)

    def function(self, expression: written.Lambda) -> Typed:
        raise SqlProblem(f"{self.text(expression)} stands alone: a lambda is an argument of a function.")

    def subscript(self, expression: written.Subscript) -> Typed:
        operand, index = self.of(expression.operand), self.of(expression.index)
        wanted: SqlType = INTEGER
        match operand.type:
            case Array(element):
                result = element
            case Map(key, value):
                wanted, result = key, value
            case _:
                raise SqlProblem(self._no_subscript(expression, operand.type))
        if index.type != wanted and not castable(index.type, wanted):
            raise SqlProblem(
                f"{self.text(expression.operand)} has {wanted} in its brackets, but {self.text(expression.index)} is "
                f"{index.type}.",
                expression.index.position,
            )
        return typed.Subscript(operand, converted(index, wanted), result)

    def _no_subscript(self, expression: written.Subscript, found: SqlType | None) -> str:
        message = f"Subscript expression ({self.text(expression)}) do not apply to {found}."
        if isinstance(found, Struct):
            message += (
                " Use the dereference operator for STRUCTS: "
                f"{self.text(expression.operand)}->{self.text(expression.index)}"
            )
        return message

    def dereference(self, expression: written.Dereference) -> Typed:
        operand = self.of(expression.operand)
        if not isinstance(operand.type, Struct):
            found = f"{self.text(expression.operand)} is {operand.type}"
            raise SqlProblem(f"Expected STRUCT type, got: {found}. Only structs have fields: {expression.field}.")
        field = operand.type.field(expression.field)
        if field is None:
            hint = choice_hint(expression.field, [field.name for field in operand.type.fields])
            raise SqlProblem(f"Could not find field '{expression.field}' in '{self.text(expression.operand)}'.{hint}")
        return typed.StructField(operand, field.name, field.type)

    def array(self, expression: written.MakeArray) -> Typed:
        if not expression.elements:
            raise SqlProblem(_empty("Array", "element"))
        common, elements = self._in_common(expression.elements)
        if common is None:
            raise SqlProblem(_all_null("an array", "elements", "value"))
        return typed.MakeArray(elements, Array(common))

    def map(self, expression: written.MakeMap) -> Typed:
        if not expression.entries:
            raise SqlProblem(_empty("Map", "key value pair"))
        key, keys = self._in_common(tuple(key for key, _ in expression.entries))
        if key is None:
            raise SqlProblem(_all_null("a map", "keys", "key"))
        value, values = self._in_common(tuple(value for _, value in expression.entries))
        if value is None:
            raise SqlProblem(_all_null("a map", "values", "value"))
        return typed.MakeMap(tuple(zip(keys, values, strict=True)), Map(key, value))

    def _in_common(self, items: tuple[Expression, ...]) -> tuple[SqlType | None, tuple[Typed, ...]]:
        return in_common([self.of(item) for item in items], [self.text(item) for item in items])

    def struct(self, expression: written.MakeStruct) -> Typed:
        names = [name for name, _ in expression.fields]
        if len(set(names)) < len(names):
            again = next(name for name in names if names.count(name) > 1)
            raise SqlProblem(f"Duplicate field names found in STRUCT: {again} is there more than once.")
        made = tuple((name, self.of(value)) for name, value in expression.fields)
        return typed.MakeStruct(made, Struct(tuple(_field(name, value) for name, value in made)))

    def query(self, expression: written.QueryValue) -> Typed:
        """What is asked of rows that come to an end has the query's values in its place by now."""
        raise SqlProblem(
            "A query stands for a value only in a SELECT without EMIT, which is asked once. Put it into FROM here, and JOIN with its rows."
        )


_RULES: Final[Mapping[type, Callable[[TypeInference, Any], Typed]]] = {
    written.Literal: TypeInference.literal,
    written.ColumnName: TypeInference.column,
    written.Unary: TypeInference.unary,
    written.Binary: TypeInference.binary,
    written.Between: TypeInference.between,
    written.In: TypeInference.among,
    written.Like: TypeInference.like,
    written.IsNull: TypeInference.is_null,
    written.Cast: TypeInference.cast,
    written.Case: TypeInference.case,
    written.FunctionCall: TypeInference.call,
    written.Lambda: TypeInference.function,
    written.Subscript: TypeInference.subscript,
    written.Dereference: TypeInference.dereference,
    written.MakeArray: TypeInference.array,
    written.MakeMap: TypeInference.map,
    written.MakeStruct: TypeInference.struct,
    written.QueryValue: TypeInference.query,
}


def literal_type(value: object, position: Position | None = None) -> SqlType | None:
    match value:
        case None:
            return None
        case bool():
            return BOOLEAN
        case int():
            if not BIGINT_MIN <= value <= BIGINT_MAX:
                raise SqlProblem(f"Invalid numeric literal: {value}. A BIGINT cannot hold it.", position)
            return INTEGER if INTEGER_MIN <= value <= INTEGER_MAX else BIGINT
        case decimal.Decimal():
            return known_type(decimal_of(value), position)
        case float():
            return DOUBLE
    return STRING


def _negated_literal(expression: written.Unary) -> written.Literal | None:
    """-1 is a literal: the least BIGINT has no positive one to be negated."""
    operand = expression.operand
    if not isinstance(operand, written.Literal) or isinstance(operand.value, bool | str) or operand.value is None:
        return None
    value = -operand.value if expression.operator == "-" else operand.value
    return written.Literal(value, position=expression.position)


def _unless(is_negated: bool, condition: Typed) -> Typed:
    return typed.Operation(Operator.NOT, (condition,), BOOLEAN) if is_negated else condition


def _field(name: str, value: Typed) -> Field:
    if value.type is None:
        raise SqlProblem(f"Cannot tell the type of the field {name}: it is NULL. Cast it to the type that is meant.")
    return Field(name, value.type)


def _empty(what: str, part: str) -> str:
    return (
        f"{what} constructor cannot be empty. Please supply at least one {part} "
        "(see https://github.com/confluentinc/ksql/issues/4239)."
    )


def _all_null(what: str, parts: str, part: str) -> str:
    return (
        f"Cannot construct {what} with all NULL {parts} (see https://github.com/confluentinc/ksql/issues/4239). "
        f"As a workaround, you may cast a NULL {part} to the desired type."
    )
