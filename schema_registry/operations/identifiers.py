"""Ids for new schemas: the next number of the context, and the same one for the same content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from schema_registry.errors import StoreError
from schema_registry.schema import Schema
from schema_registry.state.context import Context

ID_MAX = (1 << 31) - 1
"""Records carry the id of their schema in four bytes, which Java takes as a signed number."""


@dataclass(slots=True)
class _Pending:
    """An id and how many writes hold it: the first may fail while those after it still count on it."""

    id: int
    holders: int = 0


class Identifiers:
    """Ids that were given out and whose records have not come back from the topic yet."""

    def __init__(self) -> None:
        self._highest: dict[str, int] = {}
        self._pending: dict[tuple[str, str, bytes], _Pending] = {}

    @contextmanager
    def reserved(self, context: Context, schema: Schema) -> Iterator[int]:
        """An id for a content as long as its record is under way. Whoever registers the same content meanwhile gets the same id."""
        key = (context.name, schema.schema_type, schema.digest())
        pending = self._pending.get(key)
        if pending is None:
            schema_id = max(context.highest_id, self._highest.get(context.name, 0)) + 1
            if schema_id > ID_MAX:
                raise StoreError(
                    f"Context '{context.name}' has no id left for a new schema: {ID_MAX} is taken and is the highest. "
                    "Register it in another context"
                )
            self._highest[context.name] = schema_id
            pending = self._pending[key] = _Pending(schema_id)
        pending.holders += 1
        try:
            yield pending.id
        finally:
            pending.holders -= 1
            if not pending.holders:
                del self._pending[key]
