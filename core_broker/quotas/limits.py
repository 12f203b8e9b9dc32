"""Which limit applies to a client, and with whom it shares it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from core_broker.metadata.image import QuotaEntity
from core_broker.metadata.quotas import CLIENT_ID, USER

RESOLVED_MAX: Final = 10_000
"""Clients whose limit is remembered; it is looked up again when there were more."""

ABSENT: Final = ""
"""In place of the name of a part that an entity does not have. No user and no client has an empty name in a quota."""
DEFAULT: Final = None


class Client(NamedTuple):
    """Whose usage is counted together: one user's, one client id's, or those of one client id of one user."""

    user: str
    client_id: str


class Limit(NamedTuple):
    client: Client
    value: float


class Limits:
    """One kind of quota, for everybody. The closest entity wins:

    user and client id; user and default client id; user; default user and client id; both defaults; default user; client id; default
    client id. A default is no shared limit: each client that it applies to has it alone.
    """

    def __init__(self, limits: Iterable[tuple[QuotaEntity, float]] = ()) -> None:
        self._limits: dict[tuple[str | None, str | None], float] = {}
        for entity, value in limits:
            names = entity.names()
            if math.isfinite(value) and (USER in names or CLIENT_ID in names):
                self._limits[names.get(USER, ABSENT), names.get(CLIENT_ID, ABSENT)] = value
        self._resolved: dict[Client, Limit | None] = {}

    def __bool__(self) -> bool:
        return bool(self._limits)

    def of(self, user: str, client_id: str) -> Limit | None:
        """The limit of a client; None when there is none."""
        asked = Client(user, client_id)
        try:
            return self._resolved[asked]
        except KeyError:
            pass
        if len(self._resolved) >= RESOLVED_MAX:
            self._resolved.clear()
        found = self._resolved[asked] = self._look_up(asked)
        return found

    def _look_up(self, asked: Client) -> Limit | None:
        user, client_id = asked
        alone, anybody = Client(user, ABSENT), Client(ABSENT, client_id)
        for key, client in (
            ((user, client_id), asked),
            ((user, DEFAULT), asked),
            ((user, ABSENT), alone),
            ((DEFAULT, client_id), asked),
            ((DEFAULT, DEFAULT), asked),
            ((DEFAULT, ABSENT), alone),
            ((ABSENT, client_id), anybody),
            ((ABSENT, DEFAULT), anybody),
        ):
            # A client that tells no id has only what its user has.
            if (client_id or client is alone) and key in self._limits:
                return Limit(client, self._limits[key])
        return None
