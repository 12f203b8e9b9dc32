"""What to do about NULL."""

from __future__ import annotations

from typing import Any

from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar


@scalar(
    "COALESCE",
    "T, T... -> T",
    group=Group.NULL,
    doc="The first value that is not NULL.",
    parameters=("first", "others"),
    takes_null=True,
    spark="coalesce({*})",
)
@scalar(
    "IFNULL",
    "T, T -> T",
    group=Group.NULL,
    doc="The expression, or the other value if it is NULL.",
    parameters=("expression: the expression", "altValue: the value instead of NULL"),
    takes_null=True,
    spark="coalesce({*})",
)
def coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


@scalar(
    "NULLIF",
    "T, T -> T",
    group=Group.NULL,
    doc="NULL if both values are equal, otherwise the first.",
    parameters=("expr1: the value", "expr2: what it is compared with"),
    takes_null=True,
)
def null_if(value: Any, other: Any) -> Any:
    return None if value == other else value
