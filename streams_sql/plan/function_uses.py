"""Which functions of users are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from streams_sql.functions.made_functions import python_of
from streams_sql.functions.python.code import PythonCode
from streams_sql.functions.python.functions import PythonAggregate, PythonScalar, PythonTable
from streams_sql.language.expressions import FunctionCall
from streams_sql.plan.nodes import AggregateCall
from streams_sql.typed import Call


class PythonCall(NamedTuple):
    name: str
    code: PythonCode


def python_calls(calling: Any) -> Iterator[PythonCall]:
    """Those in a statement or a plan, or in a part of one, which is data classes and tuples all the way down."""
    match calling:
        case FunctionCall() if calling.made is not None and (python := python_of(calling.made)) is not None:
            yield PythonCall(calling.made.name, python.code)
        case Call(name, overload) if isinstance(overload.reference, PythonScalar | PythonTable):
            yield PythonCall(name, overload.reference.code)
        case AggregateCall() if isinstance(calling.overload.accumulator, PythonAggregate):
            yield PythonCall(calling.function, calling.overload.accumulator.code)
    if isinstance(calling, tuple):
        for part in calling:
            yield from python_calls(part)
    elif is_dataclass(calling) and not isinstance(calling, type):
        for field in fields(calling):
            yield from python_calls(getattr(calling, field.name))
