"""The quotas of clients: what each used lately, and for how long it must pause.

There are four kinds: bytes produced, bytes fetched, time of the event loop, and partitions created and deleted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.metadata.image import ClusterImage
from core_broker.metadata.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)
from core_broker.quotas.limits import Client, Limits
from core_broker.quotas.rate import THROTTLE_MAX_MS, Rate, TokenBucket, Windows

if TYPE_CHECKING:
    from core_broker.context import RequestContext

CLIENTS_MAX: Final = 10_000
"""Clients of one kind of quota whose usage is kept. Those that have been silent for longer than is measured are forgotten without
loss; when that is not enough, the one that has been known for longest is, and begins anew."""

PERCENT_PER_S: Final = 100.0


def monotonic_ms() -> float:
    return time.monotonic() * 1000


class _Measure(Protocol):
    used_ms: float


Measure = TypeVar("Measure", bound=_Measure)


class ClientUsage(NamedTuple):
    """What metrics tell of one client: what it uses (in the kind's unit per second, or tokens left), and its pauses so far."""

    client: Client
    value: float
    throttled: int
    throttled_ms: int


class _Record(Generic[Measure]):
    __slots__ = ("measure", "throttled", "throttled_ms")

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.throttled = 0
        self.throttled_ms = 0

    def pause(self, throttle_ms: int) -> int:
        if throttle_ms > 0:
            self.throttled += 1
            self.throttled_ms += throttle_ms
        return throttle_ms


class _Records(Generic[Measure]):
    """A measure for each client, bounded in number."""

    def __init__(self, windows: Windows, new: Callable[[Windows, float], Measure]) -> None:
        self._windows = windows
        self._new = new
        self._records: dict[Client, _Record[Measure]] = {}

    def of(self, client: Client, now_ms: float) -> _Record[Measure]:
        found = self._records.get(client)
        if found is None:
            if len(self._records) >= CLIENTS_MAX:
                self._make_room(now_ms)
            found = self._records[client] = _Record(self._new(self._windows, now_ms))
        return found

    def __iter__(self) -> Iterator[tuple[Client, _Record[Measure]]]:
        return iter(self._records.items())

    def _make_room(self, now_ms: float) -> None:
        silent = [
            client
            for client, record in self._records.items()
            if now_ms - record.measure.used_ms >= self._windows.span_ms
        ]
        for client in silent or [next(iter(self._records))]:
            del self._records[client]


class RateQuota:
    """One kind of quota that is a rate."""

    def __init__(self, windows: Windows, throttle_max_ms: int = THROTTLE_MAX_MS) -> None:
        self.limits = Limits()
        self._windows = windows
        self._throttle_max_ms = throttle_max_ms
        self._records = _Records(windows, Rate)

    def record(self, user: str, client_id: str, value: float, now_ms: float) -> int:
        """Counts what a client used; returns for how many milliseconds it must pause."""
        limit = self.limits.of(user, client_id)
        if limit is None:
            return 0
        record = self._records.of(limit.client, now_ms)
        record.measure.record(value, now_ms)
        return record.pause(min(record.measure.throttle_ms(limit.value, now_ms), self._throttle_max_ms))

    def add(self, user: str, client_id: str, value: float, now_ms: float) -> None:
        """Counts without asking for a pause; a negative value takes back what was counted before."""
        limit = self.limits.of(user, client_id)
        if limit is not None:
            self._records.of(limit.client, now_ms).measure.record(value, now_ms)

    def burst(self, user: str, client_id: str) -> float | None:
        """More than this at once always means a pause; None: there is no limit."""
        limit = self.limits.of(user, client_id)
        return None if limit is None else limit.value * (self._windows.count - 1) * self._windows.size_ms / 1000

    def is_idle(self, user: str, client_id: str, now_ms: float) -> bool:
        """Whether a client has used nothing of its quota for as long as is measured."""
        limit = self.limits.of(user, client_id)
        return limit is None or self._records.of(limit.client, now_ms).measure.measure(now_ms) <= 0

    def usage(self, now_ms: float) -> Iterator[ClientUsage]:
        for client, record in self._records:
            yield ClientUsage(client, record.measure.measure(now_ms), record.throttled, record.throttled_ms)


class MutationQuota:
    """The quota of partitions created and deleted, as one request sees it.

    From the version of an API on that can say so, a strict one: while the credit is overdrawn, nothing more is done. Clients that
    do not know that error get all that they ask for, and pause.
    """

    def __init__(
        self, record: _Record[TokenBucket], limit: float, clock_ms: Callable[[], float], *, strict: bool
    ) -> None:
        self._record = record
        self._limit = limit
        self._clock_ms = clock_ms
        self._strict = strict
        self._pause_until_ms = 0.0

    def charge(self, partitions: int) -> None:
        """Counts the change of so many partitions; KafkaError when it must not be made now."""
        now_ms = self._clock_ms()
        bucket = self._record.measure
        if self._strict:
            throttle_ms = self._record.pause(bucket.throttle_ms(self._limit, now_ms))
            if throttle_ms > 0:
                self._pause_until_ms = now_ms + throttle_ms
                raise KafkaError(
                    ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                    f"too many partitions were created or deleted lately; retry in {throttle_ms} ms "
                    f"(quota {CONTROLLER_MUTATION_RATE}={self._limit:g} per second)",
                )
            bucket.take(partitions, self._limit, now_ms)
        else:
            bucket.take(partitions, self._limit, now_ms)
            self._pause_until_ms = now_ms + self._record.pause(bucket.throttle_ms(self._limit, now_ms))

    def throttle_ms(self) -> int:
        """What is left of the pause."""
        return max(0, round(self._pause_until_ms - self._clock_ms()))


class Unlimited:
    """In place of the quota of a client that has none."""

    def charge(self, partitions: int) -> None:
        """Nothing is counted."""

    def throttle_ms(self) -> int:
        return 0


UNLIMITED: Final = Unlimited()


class ClientQuotas:
    """All quotas of clients. `active` tells whether there is any: as long as there is none, nobody is measured."""

    def __init__(
        self, windows: Windows, mutation_windows: Windows, clock_ms: Callable[[], float] = monotonic_ms
    ) -> None:
        self.clock_ms = clock_ms
        self.active = False
        self.produce = RateQuota(windows)
        self.fetch = RateQuota(windows)
        # A pause for time used is at most one window long: what is measured is rough.
        self.request = RateQuota(windows, throttle_max_ms=windows.size_ms)
        self._mutation_limits = Limits()
        self._mutations = _Records(mutation_windows, TokenBucket)

    def follow(self, image: ClusterImage) -> None:
        """Takes over the quotas of a new image; what was used so far still counts."""

        def limits(name: str) -> Limits:
            return Limits((entity, quotas[name]) for entity, quotas in image.client_quotas.items() if name in quotas)

        self.produce.limits = limits(PRODUCER_BYTE_RATE)
        self.fetch.limits = limits(CONSUMER_BYTE_RATE)
        self.request.limits = limits(REQUEST_PERCENTAGE)
        self._mutation_limits = limits(CONTROLLER_MUTATION_RATE)
        self.active = any(
            (self.produce.limits, self.fetch.limits, self.request.limits, self._mutation_limits),
        )

    def mutations(self, context: RequestContext, *, strict_since: int) -> MutationQuota | Unlimited:
        """The quota of the partitions that a request creates or deletes."""
        limit = self._mutation_limits.of(context.principal.name, context.client_id or "")
        if limit is None:
            return UNLIMITED
        record = self._mutations.of(limit.client, self.clock_ms())
        return MutationQuota(record, limit.value, self.clock_ms, strict=context.version >= strict_since)

    def mutation_usage(self, now_ms: float) -> Iterator[ClientUsage]:
        for client, record in self._mutations:
            limit = self._mutation_limits.of(client.user, client.client_id)
            if limit is not None:
                tokens = record.measure.tokens(limit.value, now_ms)
                yield ClientUsage(client, tokens, record.throttled, record.throttled_ms)
