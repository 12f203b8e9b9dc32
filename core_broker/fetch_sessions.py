"""Incremental fetch sessions (KIP-227): a client names its partitions once, and later only what changes."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, PartitionData

SESSION_MIN_AGE_MS = 120_000
"""A session that was used more recently than this is not evicted for a new one."""

FINAL_EPOCH = -1
INITIAL_EPOCH = 0
EPOCH_MAX = 2**31 - 1
SESSION_ID_MAX = 2**31 - 1
TOPIC_ID_VERSION = 13

TopicKey = str | bytes
"""A topic's name up to v12 and its id from v13 on, as the client names it."""


class Target:
    """One partition of a fetch, and in a session also what the client was last told about it."""

    __slots__ = ("index", "known_high_watermark", "known_log_start", "request", "topic")

    def __init__(self, topic: TopicKey, request: FetchPartition) -> None:
        self.topic = topic
        self.index = request.partition
        self.request = request
        self.known_high_watermark = -1
        self.known_log_start = -1

    def is_news(self, data: PartitionData) -> bool:
        """Whether an incremental answer must mention the partition, which then counts as told."""
        news = bool(data.records) or data.error_code != ErrorCode.NONE or data.diverging_epoch.epoch >= 0
        if data.high_watermark != self.known_high_watermark:
            self.known_high_watermark = data.high_watermark
            news = True
        if data.log_start_offset != self.known_log_start:
            self.known_log_start = data.log_start_offset
            news = True
        if data.error_code != ErrorCode.NONE:
            # What the partition looks like after the error is news again.
            self.known_high_watermark = -1
        return news


class FetchSession:
    """What one client fetches."""

    __slots__ = ("epoch", "id", "last_used_ms", "targets", "uses_topic_ids")

    def __init__(self, session_id: int, uses_topic_ids: bool, now_ms: int) -> None:
        self.id = session_id
        self.epoch = 1
        self.uses_topic_ids = uses_topic_ids
        self.last_used_ms = now_ms
        self.targets: OrderedDict[tuple[TopicKey, int], Target] = OrderedDict()

    def update(self, request: FetchRequest) -> None:
        """Adds, changes and forgets partitions as the request says."""
        for topic in request.topics:
            key: TopicKey = topic.topic_id if self.uses_topic_ids else topic.topic
            for partition in topic.partitions:
                known = self.targets.get((key, partition.partition))
                if known is None:
                    self.targets[key, partition.partition] = Target(key, partition)
                else:
                    known.request = partition
        for forgotten in request.forgotten_topics_data:
            key = forgotten.topic_id if self.uses_topic_ids else forgotten.topic
            for index in forgotten.partitions:
                self.targets.pop((key, index), None)

    def rotate(self, target: Target) -> None:
        """Puts a partition that just delivered behind the others, so that none starves under the byte limit."""
        key = (target.topic, target.index)
        if key in self.targets:
            self.targets.move_to_end(key)


class Fetch:
    """What a request turns out to ask for."""

    __slots__ = ("incremental", "session", "targets")

    def __init__(self, targets: list[Target], session: FetchSession | None, *, incremental: bool) -> None:
        self.targets = targets
        self.session = session
        self.incremental = incremental


class FetchSessions:
    """The broker's sessions, bounded in number: when it is full, new clients simply fetch without one."""

    def __init__(self, slots_max: int, clock_ms: Callable[[], int], randomness: random.Random | None = None) -> None:
        self._slots_max = slots_max
        self._clock_ms = clock_ms
        self._random = randomness or random.Random()
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def partitions(self) -> int:
        """How many partitions the sessions hold together."""
        return sum(len(session.targets) for session in self._sessions.values())

    def resolve(self, request: FetchRequest, version: int) -> Fetch:
        """Works out which partitions the request asks for; raises the session errors of the protocol."""
        by_id = version >= TOPIC_ID_VERSION
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            session = None
            if request.session_epoch == INITIAL_EPOCH and request.topics:
                session = self._open(by_id)
            if session is None:
                return Fetch(_targets(request, by_id), None, incremental=False)
            session.update(request)
            return Fetch(list(session.targets.values()), session, incremental=False)
        return self._continue(request, by_id)

    def _continue(self, request: FetchRequest, by_id: bool) -> Fetch:
        session = self._sessions.get(request.session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"there is no fetch session {request.session_id}")
        if session.epoch != request.session_epoch:
            raise KafkaError(
                ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                f"fetch session {session.id} is at epoch {session.epoch}, not {request.session_epoch}",
            )
        if session.uses_topic_ids != by_id:
            raise KafkaError(
                ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
                f"fetch session {session.id} {'names topics by id' if session.uses_topic_ids else 'names topics by name'}, "
                "and this request does not",
            )
        session.update(request)
        session.last_used_ms = self._clock_ms()
        self._sessions.move_to_end(session.id)
        if not session.targets:
            del self._sessions[session.id]
            return Fetch([], None, incremental=False)
        session.epoch = 1 if session.epoch == EPOCH_MAX else session.epoch + 1
        return Fetch(list(session.targets.values()), session, incremental=True)

    def throttled(self, fetch: Fetch) -> int:
        """The session of a client that gets nothing for now: it goes on where it was, or was not begun at all."""
        if fetch.session is None:
            return 0
        if not fetch.incremental:
            self._sessions.pop(fetch.session.id, None)
            return 0
        return fetch.session.id

    def _open(self, by_id: bool) -> FetchSession | None:
        now_ms = self._clock_ms()
        if len(self._sessions) >= self._slots_max:
            oldest = next(iter(self._sessions.values()), None)
            if oldest is None or now_ms - oldest.last_used_ms <= SESSION_MIN_AGE_MS:
                return None
            del self._sessions[oldest.id]
        session_id = self._random.randint(1, SESSION_ID_MAX)
        while session_id in self._sessions:
            session_id = self._random.randint(1, SESSION_ID_MAX)
        session = self._sessions[session_id] = FetchSession(session_id, by_id, now_ms)
        return session


def _targets(request: FetchRequest, by_id: bool) -> list[Target]:
    return [
        Target(topic.topic_id if by_id else topic.topic, partition)
        for topic in request.topics
        for partition in topic.partitions
    ]
