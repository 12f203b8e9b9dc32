"""What a handler knows about the request besides its body."""

from __future__ import annotations

from dataclasses import dataclass

from core_broker.security.principal import Principal


@dataclass(frozen=True, slots=True)
class Listener:
    """One address that the broker listens on, and the address that it tells clients to use."""

    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int


@dataclass(slots=True)
class RequestContext:
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    principal: Principal
    listener: Listener
    host: str
