"""Who asks, and whether they may. Nobody has to prove who they are yet: everyone is anonymous and may do everything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from barnabas.kernel.http.request import Request


@dataclass(frozen=True, slots=True)
class Principal:
    kind: str
    name: str


ANONYMOUS: Final = Principal("User", "ANONYMOUS")

Authorizer: TypeAlias = Callable[["Request"], Awaitable[None]]
"""Asked before each handler, with the route and its parameters known; raises an HttpError to refuse."""


async def allow_all(_request: Request) -> None:
    return None
