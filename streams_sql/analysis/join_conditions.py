"""ON …: which sources a join is about, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from streams_sql.analysis.scope import NamedSource, Scope
from streams_sql.analysis.traversal import walk
from streams_sql.language.expressions import Binary, ColumnName, Expression
from streams_sql.language.formatting import format_expression
from streams_sql.language.statements import Join, WindowKind
from streams_sql.problem import SqlProblem, placed_at

CLAUSE: Final = "JOIN ON"


@dataclass(frozen=True, slots=True)
class Side:
    """`expression` has the names of columns behind those of their sources."""

    source: NamedSource
    expression: Expression

    @property
    def column(self) -> ColumnName | None:
        """The source's column that is joined on, if it is one."""
        return self.expression if isinstance(self.expression, ColumnName) else None

    @property
    def is_on_key(self) -> bool:
        keys = self.source.source.schema.key
        return len(keys) == 1 and self.column is not None and self.column.name == keys[0].name

    def __str__(self) -> str:
        return format_expression(self.expression)


@dataclass(frozen=True, slots=True)
class Condition:
    """`right` is the source that the join adds, `left` one of those before it. `is_flipped`: they were written the other way round."""

    left: Side
    right: Side
    is_flipped: bool

    def __str__(self) -> str:
        return self.told(str(self.left), str(self.right))

    def told(self, left: str, right: str) -> str:
        """As it was written."""
        return f"{right} = {left}" if self.is_flipped else f"{left} = {right}"


def join_condition(scope: Scope, join: Join) -> Condition:
    """`scope` has the source that the join adds as its last."""
    written = join.condition
    if not isinstance(written, Binary) or written.operator != "=":
        raise SqlProblem(_no_equality(scope, written), written.position or join.position)
    sides = [_side(scope, side, written) for side in (written.left, written.right)]
    place = written.position or join.position
    one, other = sides
    if one.source == other.source:
        raise SqlProblem(
            "Each side of the join must reference exactly one source and not the same source. "
            f"Left side references `{one.source.alias}` and right references `{other.source.alias}`",
            place,
        )
    with placed_at(place):
        _check_windows(one.source, other.source)
    added = scope.sources[-1]
    if added not in (one.source, other.source):
        raise SqlProblem(
            f"A join criteria is expected to reference the source (`{added.alias}`) in the FROM clause, instead the right source "
            f"references `{other.source.alias}` and the left source references `{one.source.alias}`",
            place,
        )
    is_flipped = one.source == added
    return Condition(other, one, is_flipped) if is_flipped else Condition(one, other, is_flipped)


def _side(scope: Scope, written: Expression, condition: Expression) -> Side:
    expression = scope.qualified(written, CLAUSE)
    aliases = {part.source for part in walk(expression) if isinstance(part, ColumnName)} - {None}
    if len(aliases) != 1:
        whole = format_expression(scope.qualified(condition, CLAUSE))
        raise SqlProblem(
            f"Invalid comparison expression '{format_expression(expression)}' in join '{whole}'. Each side of the join "
            "comparision must contain references from exactly one source.",
            written.position,
        )
    source = next(source for source in scope.sources if source.alias in aliases)
    return Side(source, expression)


def _no_equality(scope: Scope, condition: Expression) -> str:
    match condition:
        case Binary("AND" | "OR", Binary("="), Binary("=")):
            text = format_expression(scope.qualified(condition, CLAUSE))
            return f"Invalid join condition: joins on multiple conditions are not yet supported. Got {text}."
        case Binary("<>" | "<" | "<=" | ">" | ">="):
            return "Only equality join criteria is supported."
    return f"Unsupported join expression: {format_expression(scope.qualified(condition, CLAUSE))}"


def _check_windows(left: NamedSource, right: NamedSource) -> None:
    sides = (left, right)
    kinds = [side.source.key_window.kind if side.source.key_window else None for side in sides]
    if kinds == [None, None]:
        return
    if None in kinds:
        shown = "\n".join(
            f"`{side.alias}` is {kind.value if kind else 'not'} windowed"
            for side, kind in zip(sides, kinds, strict=True)
        )
        raise SqlProblem(f"Can not join windowed source to non-windowed source.\n{shown}")
    if (kinds[0] is WindowKind.SESSION) != (kinds[1] is WindowKind.SESSION):
        one, other = (kind.value if kind else "" for kind in kinds)
        raise SqlProblem(
            f"Incompatible windowed sources.\nLeft source: {one}\nRight source: {other}\n"
            "Session windowed sources can only be joined to other session windowed sources, and may still not result in expected "
            "behaviour as session bounds must be an exact match for the join to work\n"
            "Hopping and tumbling windowed sources can only be joined to other hopping and tumbling windowed sources"
        )
