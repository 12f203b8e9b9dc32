"""Values that are set for scopes: a subject, a whole context, the default context (None) or all contexts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from schema_registry.subject import GLOBAL_CONTEXT, Subject

ValueT = TypeVar("ValueT")

GLOBAL_SCOPE = Subject(GLOBAL_CONTEXT, "").context_prefix


class Scoped(Generic[ValueT]):
    """One kind of value by scope."""

    def __init__(self) -> None:
        self._values: dict[str | None, ValueT] = {}

    def set(self, scope: str | None, value: ValueT | None) -> None:
        if value is None:
            self._values.pop(scope, None)
        else:
            self._values[scope] = value

    def at(self, scope: str | None) -> ValueT | None:
        """What is set for exactly this scope."""
        return self._values.get(scope)

    def effective(self, scope: str | None) -> ValueT | None:
        """What is set for a scope, else for its context, else for all contexts."""
        subject = None if scope is None else Subject.parse(scope)
        context = None if subject is None or subject.in_default_context else subject.context_prefix
        for place in (scope, context, GLOBAL_SCOPE):
            value = self._values.get(place)
            if value is not None:
                return value
        return None

    def items(self) -> Iterator[tuple[str | None, ValueT]]:
        yield from self._values.items()
