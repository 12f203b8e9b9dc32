"""The drafts of JSON Schema that the registry reads."""

from __future__ import annotations

from enum import IntEnum

from schema_registry.formats.json_text import JsonValue


class Draft(IntEnum):
    """Later drafts compare greater. 2019-09 and 2020-12 are read alike, by the rules of the latter."""

    FOUR = 4
    SIX = 6
    SEVEN = 7
    MODERN = 2020

    @property
    def id_keyword(self) -> str:
        return "id" if self is Draft.FOUR else "$id"


_MODERN_PATHS = ("draft/2019-09/schema", "draft/2020-12/schema")
_CLASSIC_PATHS = {
    "draft-04/schema": Draft.FOUR,
    "schema": Draft.FOUR,
    "draft-06/schema": Draft.SIX,
    "draft-07/schema": Draft.SEVEN,
}
_HOSTS = ("http://json-schema.org/", "https://json-schema.org/")


def draft_of(root: JsonValue, default: Draft = Draft.SEVEN) -> Draft:
    """What `$schema` names; the default when it is missing or unknown."""
    declared = root.get("$schema") if isinstance(root, dict) else None
    path = _meta_schema_path(declared) if isinstance(declared, str) else None
    if path is None:
        return default
    if path.removesuffix("#") in _MODERN_PATHS:
        return Draft.MODERN
    return next((draft for start, draft in _CLASSIC_PATHS.items() if path.startswith(start)), default)


def is_meta_schema(uri: str) -> bool:
    """Whether the URI lies among the schemas of JSON Schema itself."""
    path = _meta_schema_path(uri)
    return path is not None and path.startswith(
        (*_CLASSIC_PATHS, *_MODERN_PATHS, "draft/2019-09/meta/", "draft/2020-12/meta/")
    )


def _meta_schema_path(uri: str) -> str | None:
    return next((uri.removeprefix(host) for host in _HOSTS if uri.startswith(host)), None)
