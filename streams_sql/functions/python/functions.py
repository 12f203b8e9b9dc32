"""Functions that users have written in Python: what both hosts call, and what is asked of the code when it is declared.

An aggregate is a class without arguments: `initial()`, `add(state, …)` and `result(state)`, where `initial` and `add` return states
of plain values (see `spark/shards/state_encoding`). With `merge(one, other)` sessions that grow together, and with `undo(state, …)` rows of tables that change, cost no more than
this; without them, the values of the group are kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from streams_sql.function_declaration import Accumulator
from streams_sql.functions.python.code import PythonCode
from streams_sql.functions.python.values import Convert, from_python, to_python
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import Array, SqlType

INITIAL: Final = "initial"
ADD: Final = "add"
RESULT: Final = "result"
MERGE: Final = "merge"
UNDO: Final = "undo"
_NEEDED: Final = (INITIAL, ADD, RESULT)


@dataclass(frozen=True, slots=True)
class PythonScalar:
    """The reference of an overload that is typed: called once, it gives the function."""

    code: PythonCode
    parameters: tuple[SqlType, ...]
    result: SqlType

    def __call__(self, types: Sequence[SqlType | None], result: SqlType) -> Callable[..., Any]:
        function, given, back = self.code.load(), _Arguments(self.parameters), from_python(self.result)
        return lambda *values: back(function(*given.of(values)))

    def check(self) -> None:
        """SqlProblem where the code cannot be what is declared."""
        _check_call(self.code.load(), str(self.code), len(self.parameters))


@dataclass(frozen=True, slots=True)
class PythonTable:
    """The same for a table function, which gives any number of rows: a list, or what is iterated over. NULL is no row."""

    code: PythonCode
    parameters: tuple[SqlType, ...]
    result: SqlType

    def __call__(self, types: Sequence[SqlType | None], result: SqlType) -> Callable[..., Any]:
        function, given, back = self.code.load(), _Arguments(self.parameters), from_python(Array(self.result))
        return lambda *values: back(list(function(*given.of(values)) or ()))

    def check(self) -> None:
        _check_call(self.code.load(), str(self.code), len(self.parameters))


@dataclass(frozen=True, slots=True)
class PythonAggregate:
    """What makes accumulators of a user's class."""

    code: PythonCode
    parameters: tuple[SqlType, ...]
    result: SqlType

    def __call__(self) -> Accumulator:
        own = self.code.load()()
        kind = {
            (False, False): _Accumulator,
            (True, False): _Merging,
            (False, True): _Undoing,
            (True, True): _MergingAndUndoing,
        }[hasattr(own, MERGE), hasattr(own, UNDO)]
        return kind(own, _Arguments(self.parameters), from_python(self.result))

    def check(self) -> None:
        found, text = self.code.load(), str(self.code)
        if not inspect.isclass(found):
            raise SqlProblem(f"{text} is no class: an aggregate is one with {', '.join(_NEEDED)}.")
        missing = [name for name in _NEEDED if not callable(getattr(found, name, None))]
        if missing:
            raise SqlProblem(
                f"The class {text} has no {' and no '.join(missing)}: an aggregate needs {', '.join(_NEEDED)}."
            )
        try:
            own = found()
        except Exception as error:
            raise SqlProblem(f"The class {text} cannot be made without arguments: {error}") from error
        count = len(self.parameters)
        for name, arguments in ((INITIAL, 0), (ADD, count + 1), (RESULT, 1), (MERGE, 2), (UNDO, count + 1)):
            if hasattr(own, name):
                _check_call(getattr(own, name), f"{text}.{name}", arguments)


class _Arguments:
    """Values as users' code is given them."""

    def __init__(self, types: Sequence[SqlType]) -> None:
        self._converts: list[Convert | None] = [to_python(type_) for type_ in types]
        self._are_plain = not any(self._converts)

    def of(self, values: Sequence[Any]) -> Sequence[Any]:
        if self._are_plain:
            return values
        return [
            value if value is None or convert is None else convert(value)
            for value, convert in zip(values, self._converts, strict=True)
        ]


class _Accumulator:
    def __init__(self, own: Any, arguments: _Arguments, back: Convert) -> None:
        self._own = own
        self._arguments = arguments
        self._back = back

    def start(self) -> Any:
        return self._own.initial()

    def add(self, state: Any, *arguments: Any) -> Any:
        return self._own.add(state, *self._arguments.of(arguments))

    def result(self, state: Any) -> Any:
        return self._back(self._own.result(state))


class _Merging(_Accumulator):
    def merge(self, one: Any, other: Any) -> Any:
        return self._own.merge(one, other)


class _Undoing(_Accumulator):
    def undo(self, state: Any, *arguments: Any) -> Any:
        return self._own.undo(state, *self._arguments.of(arguments))


class _MergingAndUndoing(_Merging, _Undoing):
    pass


def _check_call(found: Any, text: str, count: int) -> None:
    if not callable(found):
        raise SqlProblem(f"{text} cannot be called: it is a {type(found).__name__}.")
    try:
        inspect.signature(found).bind(*[None] * count)
    except TypeError as error:
        taken = ", ".join(inspect.signature(found).parameters)
        raise SqlProblem(f"{text}({taken}) cannot be called with {count} arguments: {error}.") from error
    except ValueError:
        # Some built-in functions do not tell what they take.
        return
