"""The shapes that all answers of v3 have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from barnabas.kernel.http.schema import STRING, URI, Schema, Shape, constant, list_of, nullable, open_object

Resource: TypeAlias = dict[str, Any]

LINK: Final = Shape("Link", open_object({"related": URI}))


def kind_of(name: str, members: Mapping[str, Schema]) -> Shape:
    """The schema of a kind of things."""
    metadata = open_object({"self": STRING})
    return Shape(name, open_object({"kind": constant(name), "metadata": metadata, **members}))


def list_kind(kind: Shape) -> Shape:
    """The schema of a list of things of a kind."""
    metadata = open_object({"self": STRING, "next": nullable(STRING)})
    name = _list_name(kind)
    return Shape(name, open_object({"kind": constant(name), "metadata": metadata, "data": list_of(kind)}))


def resource(kind: Shape, url: str, name: str | None, members: Mapping[str, Any]) -> Resource:
    """One thing. Its members stand behind `kind` and `metadata`, in their order."""
    metadata = {"self": url} if name is None else {"self": url, "resource_name": name}
    return {"kind": kind.name, "metadata": metadata, **members}


def collection(kind: Shape, url: str, items: Iterable[Resource]) -> Resource:
    """All things of a kind. Lists are never cut, so there is no `next`."""
    return {"kind": _list_name(kind), "metadata": {"self": url, "next": None}, "data": list(items)}


def related(url: str) -> Resource:
    return {"related": url}


def _list_name(kind: Shape) -> str:
    return f"{kind.name}List"
