"""What a request brings along, and what its statements change for those behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.failures import StatementFailed
from streams_sql.engine.queries.query_settings import plain_name
from streams_sql.engine.statements.request import SqlRequest
from streams_sql.language.statements import DefineVariable, SetProperty, UndefineVariable, UnsetProperty
from streams_sql.problem import SqlProblem

PropertyCheck = Callable[[str, str], str | None]
"""What is wrong with a name and its value; None if nothing is."""


class Session:
    """Properties (SET) and variables (DEFINE). Over HTTP it lasts for one request: clients send along what they keep. `system` are those
    of all sessions (ALTER SYSTEM)."""

    def __init__(
        self,
        properties: Mapping[str, str],
        variables: Mapping[str, str],
        check: PropertyCheck,
        system: Mapping[str, str] | None = None,
    ) -> None:
        self._check = check
        self._system = dict(system or {})
        self._properties: dict[str, str] = {}
        self._variables = dict(variables)
        for name, value in properties.items():
            self._properties[plain_name(name)] = value

    def copy(self) -> Session:
        """As it is now: later statements may change it."""
        return Session(self._properties, self._variables, self._check, self._system)

    @property
    def properties(self) -> Mapping[str, str]:
        """What holds for a statement."""
        return {**self._system, **self._properties}

    @property
    def own_properties(self) -> Mapping[str, str]:
        """What this session has set."""
        return dict(self._properties)

    @property
    def system_properties(self) -> Mapping[str, str]:
        return dict(self._system)

    def check_property(self, name: str, value: str) -> None:
        """SqlProblem."""
        problem = self._check(name, value)
        if problem is not None:
            raise SqlProblem(problem)

    def alter_system(self, name: str, value: str) -> None:
        """For the statements behind this one."""
        self._system[plain_name(name)] = value

    @property
    def variables(self) -> Mapping[str, str]:
        return dict(self._variables)

    def may_set(self, name: str) -> bool:
        return self._check(name, "") is None

    def apply(self, statement: SetProperty | UnsetProperty | DefineVariable | UndefineVariable) -> str | None:
        """For the statements behind it. Returns a warning where nothing was to do. SqlProblem."""
        match statement:
            case SetProperty(name, value):
                self.check_property(name, value)
                self._properties[plain_name(name)] = value
            case UnsetProperty(name):
                if self._properties.pop(plain_name(name), None) is None:
                    raise SqlProblem(f"Cannot unset property '{name}': it was not set. SET '{name}'='…' sets it.")
            case DefineVariable(name, value):
                self._variables[name] = value
            case UndefineVariable(name):
                if self._variables.pop(name, None) is None:
                    return f"Cannot undefine variable '{name}' which was never defined"
        return None


class Sessions:
    """Opens the session of a request. `check` is for its properties; the catalogue has those of all sessions."""

    def __init__(self, check: PropertyCheck, catalogue: Catalogue) -> None:
        self._check = check
        self._catalogue = catalogue

    def open(self, request: SqlRequest) -> Session:
        """StatementFailed."""
        self.check(request)
        return Session(request.properties, request.variables, self._check, self._catalogue.properties)

    def check(self, request: SqlRequest) -> None:
        """StatementFailed where SET would reject a property of the request: a typing error must not go unnoticed."""
        for name, value in request.properties.items():
            problem = self._check(name, value)
            if problem is not None:
                raise StatementFailed(request.text, SqlProblem(problem))
