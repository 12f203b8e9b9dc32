"""What is made from a schema, kept for as long as the schema is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from connect.data.schema import Schema

SCHEMAS_KEPT_DEFAULT: Final = 1_000

Made = TypeVar("Made")


class SchemaCache(Generic[Made]):
    """Makes something of each schema once. The oldest goes when there are too many.

    Records of one source share one schema object, so that it is found by identity: the hash of a schema looks at all of its fields.
    Other objects that are equal find what was made, too.
    """

    def __init__(self, make: Callable[[Schema], Made], limit: int = SCHEMAS_KEPT_DEFAULT) -> None:
        self._make = make
        self._limit = max(limit, 1)
        # The schema is kept beside what was made from it, since an id counts only as long as its object lives.
        self._by_identity: dict[int, tuple[Schema, Made]] = {}
        self._by_value: dict[Schema, Made] = {}

    def __call__(self, schema: Schema) -> Made:
        known = self._by_identity.get(id(schema))
        if known is not None:
            return known[1]
        made = self._equal(schema)
        if len(self._by_identity) >= self._limit:
            del self._by_identity[next(iter(self._by_identity))]
        self._by_identity[id(schema)] = schema, made
        return made

    def _equal(self, schema: Schema) -> Made:
        if schema in self._by_value:
            return self._by_value[schema]
        made = self._make(schema)
        if len(self._by_value) >= self._limit:
            del self._by_value[next(iter(self._by_value))]
        self._by_value[schema] = made
        return made
