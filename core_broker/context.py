"""What a handler knows about the request besides its body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core_broker.security.principal import Principal

if TYPE_CHECKING:
    from core_broker.observer import Observation


@dataclass(frozen=True, slots=True)
class Listener:
    """One address that the broker listens on, and the address that it tells clients to use."""

    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int

    def __str__(self) -> str:
        address = f"{self.name}://{self.host}:{self.port}"
        if (self.host, self.port) == (self.advertised_host, self.advertised_port):
            return address
        return f"{address} (clients are told {self.advertised_host}:{self.advertised_port})"


class ConnectionMembers:
    """How many members of groups a connection has made that are still there."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


@dataclass(slots=True)
class RequestContext:
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    principal: Principal
    listener: Listener
    host: str
    port: int = 0
    observation: Observation | None = None
    members: ConnectionMembers = field(default_factory=ConnectionMembers)
