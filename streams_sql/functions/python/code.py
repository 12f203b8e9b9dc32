"""Python of users: a callable of a module that is installed, or of a text that was sent with a statement."""

from __future__ import annotations

import importlib
import textwrap
from dataclasses import dataclass
from typing import Any, Final

from streams_sql.problem import SqlProblem

_LOADED: Final[dict[PythonCode, Any]] = {}


@dataclass(frozen=True, slots=True)
class PythonCode:
    """`name` is that of the callable, with dots where it is within another. Without a `module`, `source` has it."""

    module: str
    name: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.module}:{self.name}" if self.module else "inline"

    def load(self) -> Any:
        """The callable, which is looked for once in each process. SqlProblem says why it cannot be had."""
        found = _LOADED.get(self)
        if found is None:
            found = _LOADED[self] = _member(self) if self.module else _made(self)
        return found


def _member(code: PythonCode) -> Any:
    try:
        found: Any = importlib.import_module(code.module)
    except ModuleNotFoundError as error:
        raise SqlProblem(
            f"The module {code.module} cannot be imported: {error}. Install its package where the server and Spark's workers run."
        ) from error
    except Exception as error:
        raise SqlProblem(f"The module {code.module} cannot be imported: {type(error).__name__}: {error}") from error
    for part in code.name.split("."):
        if not hasattr(found, part):
            raise SqlProblem(f"The module {code.module} has no {code.name}.")
        found = getattr(found, part)
    return found


def _made(code: PythonCode) -> Any:
    """The text is run in a namespace of its own; what it defines under the name of the function, in whatever case, is meant."""
    names: dict[str, Any] = {"__name__": f"sql_function_{code.name.lower()}"}
    try:
        exec(compile(textwrap.dedent(code.source), f"<function {code.name}>", "exec"), names)  # noqa: S102 - switched on by whoever runs the server
    except Exception as error:
        raise SqlProblem(f"The text of {code.name} cannot be run: {type(error).__name__}: {error}") from error
    found = next((value for name, value in names.items() if name.upper() == code.name.upper()), None)
    if found is None:
        raise SqlProblem(
            f"The text of {code.name} must define {code.name.lower()}: a function, or a class of an aggregate."
        )
    return found
