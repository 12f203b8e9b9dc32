"""Properties under the names of Kafka's Java clients, as the typed attributes of a client of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Attributes = Mapping[str, tuple[str, Callable[[str], Any]]]
"""By the name of a property: the attribute that it sets, and what reads its text."""


def parsed(properties: Mapping[str, str], attributes: Attributes) -> dict[str, Any]:
    """The attributes that are given; ValueError in Kafka's words for one that makes no sense."""
    values: dict[str, Any] = {}
    for name, (attribute, parse) in attributes.items():
        if name in properties:
            try:
                values[attribute] = parse(properties[name])
            except ValueError as error:
                raise ValueError(f"Invalid value {properties[name]} for configuration {name}: {error}") from None
    return values
