"""What a request brings along, and what its statements change for those behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streams_sql.engine.query_settings import plain_name
from streams_sql.language.problem import SqlProblem

PropertyCheck = Callable[[str, str], str | None]
"""What is wrong with a name and its value; None if nothing is."""


class Session:
    """Properties (SET) and variables (DEFINE). Over HTTP it lasts for one request: clients send along what they keep."""

    def __init__(self, properties: Mapping[str, str], variables: Mapping[str, str], check: PropertyCheck) -> None:
        self._check = check
        self._properties: dict[str, str] = {}
        self._variables = dict(variables)
        for name, value in properties.items():
            # Those of a request are taken as they come: clients send along what they know, which may be more than we do.
            self._properties[plain_name(name)] = value

    def copy(self) -> Session:
        """As it is now: later statements may change it."""
        return Session(self._properties, self._variables, self._check)

    @property
    def properties(self) -> Mapping[str, str]:
        return dict(self._properties)

    @property
    def variables(self) -> Mapping[str, str]:
        return dict(self._variables)

    def may_set(self, name: str) -> bool:
        return self._check(name, "") is None

    def set_property(self, name: str, value: str) -> None:
        problem = self._check(name, value)
        if problem is not None:
            raise SqlProblem(problem)
        self._properties[plain_name(name)] = value

    def unset_property(self, name: str) -> None:
        if self._properties.pop(plain_name(name), None) is None:
            raise SqlProblem(f"Cannot unset property '{name}': it was not set. SET '{name}'='…' sets it.")

    def define(self, name: str, value: str) -> None:
        self._variables[name] = value

    def undefine(self, name: str) -> bool:
        """False when there is no such variable."""
        return self._variables.pop(name, None) is not None
