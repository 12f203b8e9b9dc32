"""Which Python this server runs: any client could else run any code in it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from streams_sql.functions.made_functions import MadeFunction, python_of
from streams_sql.functions.python.code import PythonCode
from streams_sql.plan.function_uses import python_calls
from streams_sql.problem import SqlProblem

MODULES: Final = "sql.functions.modules"
INLINE: Final = "sql.functions.inline.enabled"


@dataclass(frozen=True, slots=True)
class FunctionRules:
    """`modules` are the packages and modules whose functions may be called, each with all that is in it."""

    modules: tuple[str, ...] = ()
    is_inline_allowed: bool = False

    def check_place(self, code: PythonCode) -> None:
        """SqlProblem where the server is not to run this code."""
        if not code.module:
            if not self.is_inline_allowed:
                raise SqlProblem(
                    "Code in a statement is not run by this server: whoever may send statements could run anything in it. Install the "
                    f"function as a module and name that in {MODULES}, or set {INLINE}=true for all who reach this server."
                )
        elif not any(code.module == known or code.module.startswith(f"{known}.") for known in self.modules):
            allowed = f"it has {', '.join(self.modules)}" if self.modules else "it is empty"
            raise SqlProblem(
                f"The module {code.module} is not among those whose functions this server calls. Add it, or a package that it is in, to "
                f"the setting {MODULES}: {allowed}."
            )

    def check(self, calling: Any) -> None:
        """The same for all functions that a statement or a plan calls: settings may be others than when they were made."""
        for name, code in python_calls(calling):
            try:
                self.check_place(code)
            except SqlProblem as problem:
                raise SqlProblem(f"The function {name} cannot be called: {problem.message}") from None

    async def check_code(self, function: MadeFunction) -> None:
        """The same, and whether its code is there and can be called as it is declared."""
        python = python_of(function)
        assert python is not None, "it was declared by a statement"
        self.check_place(python.code)
        # Modules may take their time when they are loaded.
        await asyncio.to_thread(python.check)


NO_FUNCTIONS: Final = FunctionRules()
"""Those of a server whose settings allow none."""
