"""WITH (TIMESTAMP = …): the column that ROWTIME comes from."""

from __future__ import annotations

from typing import Final

from streams_sql.analysis.calls import scalar_call
from streams_sql.analysis.catalogue_view import nearest_hint
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.analysis.with_clause import WithClause
from streams_sql.language.expressions import Case, Cast, ColumnName, Expression, FunctionCall, IsNull, Literal
from streams_sql.plan.nodes import Named, Project
from streams_sql.problem import SqlProblem, placed_at
from streams_sql.sources import ROWTIME, Schema, TimestampRule
from streams_sql.sql_types import BIGINT, STRING, TIMESTAMP
from streams_sql.typed import Column

_NO_TIME: Final = Cast(Literal(-1), BIGINT)


def timestamp_rule(clause: WithClause, schema: Schema) -> TimestampRule | None:
    with placed_at(clause.timestamp_position):
        return _timestamp_rule(clause, schema)


def _timestamp_rule(clause: WithClause, schema: Schema) -> TimestampRule | None:
    name, pattern = clause.timestamp_column, clause.timestamp_format
    if name is None:
        return None
    columns = {column.name: column.type for column in schema.columns()}
    if name not in columns:
        raise SqlProblem(
            f"The TIMESTAMP column set in the WITH clause does not exist in the schema: '{name}'.{nearest_hint(name, columns)}"
        )
    found = columns[name]
    if found == STRING:
        if pattern is None:
            raise SqlProblem(
                "A String timestamp field has been specified without also specifying the timestamp_format. "
                "Add TIMESTAMP_FORMAT, for example 'yyyy-MM-dd HH:mm:ss'."
            )
        return TimestampRule(name, pattern)
    if pattern is not None:
        raise SqlProblem(
            "'TIMESTAMP_FORMAT' set in the WITH clause can only be used when the timestamp column is of type STRING."
        )
    if found not in (BIGINT, TIMESTAMP):
        raise SqlProblem(
            f"Timestamp column, `{name}`, should be LONG(INT64), TIMESTAMP, or a String with a timestamp_format specified. "
            f"It is {found}."
        )
    return TimestampRule(name)


def retimed(node: Project, rule: TimestampRule) -> Project:
    """The rows with the times that a column of theirs has: a sink writes them with these. A string that is not a time becomes a
    negative one, with which no row is written. A tombstone, all of whose columns are NULL, keeps its own time."""
    columns = {column.name: Column(column.name, column.type) for column in node.shape.columns}
    name = ColumnName(rule.column)
    time = FunctionCall("COALESCE", (_time(name, rule, columns[rule.column]), _NO_TIME))
    rowtime = Case(((IsNull(name), ColumnName(ROWTIME)),), time)
    return Project(node, (Named(ROWTIME, TypeInference(columns, scalar_call).of(rowtime)),), node.shape)


def _time(name: ColumnName, rule: TimestampRule, column: Column) -> Expression:
    if rule.pattern is not None:
        return FunctionCall("STRINGTOTIMESTAMP", (name, Literal(rule.pattern)))
    return FunctionCall("UNIX_TIMESTAMP", (name,)) if column.type == TIMESTAMP else name
