"""Which subjects belong to a resource such as a topic."""

from __future__ import annotations

from collections.abc import Collection

from schema_registry.store.keys import AssociationKey
from schema_registry.store.values import AssociationValue


class Associations:
    """Associations that other registries wrote into the topic."""

    def __init__(self) -> None:
        self._values: dict[AssociationKey, AssociationValue] = {}

    def set(self, key: AssociationKey, value: AssociationValue | None) -> None:
        if value is None:
            self._values.pop(key, None)
        else:
            self._values[key] = value

    def of_resource(
        self,
        name: str,
        namespace: str | None,
        resource_type: str | None,
        types: Collection[str],
        lifecycle: str | None,
    ) -> list[AssociationValue]:
        """The associations of a resource; None and no types leave a filter out."""
        return [
            value
            for value in self._values.values()
            if value.resource_name == name
            and namespace in (None, value.resource_namespace)
            and resource_type in (None, value.resource_type)
            and (not types or value.association_type in types)
            and lifecycle in (None, value.lifecycle)
        ]
