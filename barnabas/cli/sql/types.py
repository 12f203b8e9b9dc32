"""Types of columns as SQL writes them, from the objects in which the server describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def type_text(schema: Mapping[str, Any]) -> str:
    """The type of the keys of maps is not described; they are strings."""
    name: str = schema["type"]
    if name == "ARRAY":
        return f"ARRAY<{type_text(schema['memberSchema'])}>"
    if name == "MAP":
        return f"MAP<STRING, {type_text(schema['memberSchema'])}>"
    if name == "STRUCT":
        fields = [f"{field['name']} {type_text(field['schema'])}" for field in schema["fields"]]
        return f"STRUCT<{', '.join(fields)}>"
    parameters = schema.get("parameters")
    if name == "DECIMAL" and parameters:
        return f"DECIMAL({parameters['precision']}, {parameters['scale']})"
    return name
