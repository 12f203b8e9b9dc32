"""The shapes that all answers of v3 have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Resource: TypeAlias = dict[str, Any]


def resource(kind: str, url: str, name: str | None, members: Mapping[str, Any]) -> Resource:
    """One thing. Its members stand behind `kind` and `metadata`, in their order."""
    metadata = {"self": url} if name is None else {"self": url, "resource_name": name}
    return {"kind": kind, "metadata": metadata, **members}


def collection(kind: str, url: str, items: Iterable[Resource]) -> Resource:
    """All things of a kind. Lists are never cut, so there is no `next`."""
    return {"kind": kind, "metadata": {"self": url, "next": None}, "data": list(items)}


def related(url: str) -> Resource:
    return {"related": url}
