"""What formats can hold, by name: the rules for keys, values, columns and types that statements are checked against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BASIC_TYPES: Final = frozenset(
    {"BOOLEAN", "INTEGER", "BIGINT", "DECIMAL", "DOUBLE", "STRING", "BYTES", "TIME", "DATE", "TIMESTAMP"}
)
ALL_TYPES: Final = BASIC_TYPES | {"ARRAY", "MAP", "STRUCT"}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """`types` are the words of types without their parts. `can_wrap` and `can_unwrap` are for a single column: in a record of its own,
    or alone. `has_schemas`: columns can come from the registry. `map_key_reason` says why maps need texts for keys, if they do."""

    types: frozenset[str] = ALL_TYPES
    is_for_values: bool = True
    has_many_columns: bool = True
    has_schemas: bool = False
    has_delimiter: bool = False
    has_nullable_choice: bool = False
    can_wrap: bool = True
    can_unwrap: bool = True
    map_key_reason: str | None = None


CAPABILITIES: Final[Mapping[str, Capabilities]] = {
    "NONE": Capabilities(
        types=frozenset(), is_for_values=False, has_many_columns=False, can_wrap=False, can_unwrap=False
    ),
    "DELIMITED": Capabilities(types=BASIC_TYPES, has_delimiter=True, can_wrap=False),
    "JSON": Capabilities(map_key_reason="JSON only supports MAP types with STRING keys"),
    "JSON_SR": Capabilities(has_schemas=True, map_key_reason="JSON only supports MAP types with STRING keys"),
    "AVRO": Capabilities(has_schemas=True, map_key_reason="Avro only supports MAPs with STRING keys"),
    "KAFKA": Capabilities(
        types=frozenset({"INTEGER", "BIGINT", "DOUBLE", "STRING", "BYTES"}), has_many_columns=False, can_wrap=False
    ),
    "PROTOBUF": Capabilities(has_schemas=True, has_nullable_choice=True, can_unwrap=False),
    "PROTOBUF_NOSR": Capabilities(has_nullable_choice=True, can_unwrap=False),
}
