"""Calls of scalar functions: their references with the rules of NULL around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from streams_sql.function_declaration import Overload
from streams_sql.sql_types import SqlType


def bound_reference(overload: Overload, types: Sequence[SqlType | None], result: SqlType) -> Callable[..., Any]:
    """The reference of an overload for these types of arguments. NULL among the arguments gives NULL, unless the function takes it."""
    reference: Callable[..., Any] = overload.reference(types, result) if overload.is_typed else overload.reference
    if overload.takes_null or not types:
        return reference
    if len(types) == 1:
        return lambda value: None if value is None else reference(value)

    def evaluate(*values: Any) -> Any:
        return None if None in values else reference(*values)

    return evaluate
