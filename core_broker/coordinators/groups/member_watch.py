"""What is watched of a member of a consumer group while it is there: its time, and the connection that brought it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import NamedTuple

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.context import ConnectionMembers
from core_broker.coordinators.groups.session import Session
from core_broker.coordinators.groups.surroundings import Surroundings


class Timeout(Enum):
    """What a member has its time for, by what is said of it when that is over."""

    SESSION = "its session expired"
    REBALANCE = "it did not give up its partitions in time"
    JOIN = "it did not join again in time"
    SYNC = "it did not ask for its assignment in time"


class Watched(NamedTuple):
    group_id: str
    member_id: str


Expired = Callable[[Watched, Timeout], None]


class MemberWatch:
    """Nothing of this is in the log: after a restart every member has its whole time again."""

    def __init__(self, surroundings: Surroundings, expired: Expired) -> None:
        self._surroundings = surroundings
        self._expired = expired
        self._running: dict[Watched, dict[Timeout, Session]] = {}
        self._makers: dict[Watched, ConnectionMembers] = {}

    def bring(self, watched: Watched, maker: ConnectionMembers) -> None:
        """A new member comes over a connection. KafkaError when that connection has brought too many."""
        limit = self._surroundings.settings.connection_members_max
        if maker.count >= limit:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"this connection has made as many members as connection.max.group.members allows: {limit}",
            )
        maker.count += 1
        self._makers[watched] = maker

    def start(self, watched: Watched, timeout: Timeout, delay_ms: int) -> None:
        """Starts a time, or starts it over."""
        sessions = self._running.get(watched)
        if sessions is None:
            sessions = self._running[watched] = {}
        session = sessions.get(timeout)
        if session is None:
            session = sessions[timeout] = Session(self._surroundings, partial(self._ring, watched, timeout))
        session.extend(delay_ms)

    def start_if_absent(self, watched: Watched, timeout: Timeout, delay_ms: int) -> None:
        if timeout not in self._running.get(watched, {}):
            self.start(watched, timeout, delay_ms)

    def stop(self, watched: Watched, timeout: Timeout) -> None:
        sessions = self._running.get(watched)
        if sessions is not None and timeout in sessions:
            sessions.pop(timeout).end()
            if not sessions:
                del self._running[watched]

    def end(self, watched: Watched) -> None:
        """The member is gone."""
        maker = self._makers.pop(watched, None)
        if maker is not None:
            maker.count -= 1
        for session in self._running.pop(watched, {}).values():
            session.end()

    def _ring(self, watched: Watched, timeout: Timeout) -> None:
        self.stop(watched, timeout)
        self._expired(watched, timeout)
