"""What the schemas of all responses to statements have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.kernel.http.schema import STRING, Schema, Shape, constant, list_of, open_object

_WARNINGS: Final = list_of(open_object({"message": STRING}))


def entity(kind: str, members: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Shape:
    """The schema of the entities of a kind, which is their `@type`."""
    common: dict[str, Schema] = {"@type": constant(kind), "statementText": STRING}
    name = "".join(part[:1].upper() + part[1:] for part in kind.split("_"))
    return Shape(f"{name}Entity", open_object({**common, **members, "warnings": _WARNINGS}, optional))
