"""Who sends a group's request."""

from __future__ import annotations

from typing import NamedTuple

from core_broker.context import ConnectionMembers


class Caller(NamedTuple):
    client_id: str
    host: str
    version: int
    """Of the request."""

    members: ConnectionMembers
