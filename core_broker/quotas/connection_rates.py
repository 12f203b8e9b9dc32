"""The rate of new connections: of the broker, of each listener, and of each address."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from core_broker.metadata.image import ClusterImage
from core_broker.metadata.quotas import CONNECTION_CREATION_RATE, IP
from core_broker.quotas.addresses import canonical, literal
from core_broker.quotas.client_quotas import monotonic_ms
from core_broker.quotas.rate import Rate, Windows

logger = logging.getLogger(__name__)

UNLIMITED_RATE: Final = (1 << 31) - 1
ADDRESSES_MAX: Final = 10_000
"""Addresses whose rate is kept; one that was silent for longer than is measured is forgotten without loss."""


@dataclass(frozen=True, slots=True)
class AcceptLimits:
    """New connections per second: of the whole broker, and of listeners by name."""

    total: int = UNLIMITED_RATE
    listeners: Mapping[str, int] | None = None

    def of(self, listener: str) -> int:
        return UNLIMITED_RATE if self.listeners is None else self.listeners.get(listener, UNLIMITED_RATE)


class Verdict(NamedTuple):
    """A connection waits for so long before its first request is looked at; or, `refused`, until it is closed."""

    delay_ms: int = 0
    refused: bool = False


AT_ONCE: Final = Verdict()


class _Acceptor:
    """A listener takes connections one after the other, as Kafka's acceptor does: who comes behind one that waits waits for it too."""

    def __init__(self, windows: Windows, now_ms: float) -> None:
        self.rate = Rate(windows, now_ms)
        self.free_ms = now_ms


class ConnectionRates:
    """Decides about each new connection. `active` tells whether there is any limit."""

    def __init__(self, windows: Windows, clock_ms: Callable[[], float] = monotonic_ms) -> None:
        self.active = False
        self.refused = 0
        self.delayed = 0
        self._windows = windows
        self._clock_ms = clock_ms
        self._accept = AcceptLimits()
        self._total = Rate(windows, clock_ms())
        self._acceptors: dict[str, _Acceptor] = {}
        self._by_address: dict[str, float] = {}
        self._by_default: float | None = None
        self._names: dict[str, float] = {}
        self._addresses: dict[str, Rate] = {}

    def configure(self, limits: AcceptLimits) -> None:
        self._accept = limits
        self._settle()

    def follow(self, image: ClusterImage) -> None:
        """Takes over the quotas of addresses. Those of machines apply when their names have been looked up (`look_up`)."""
        self._by_address, self._names, self._by_default = {}, {}, None
        for entity, quotas in image.client_quotas.items():
            limit = quotas.get(CONNECTION_CREATION_RATE)
            names = entity.names()
            if limit is None or IP not in names:
                continue
            name = names[IP]
            if name is None:
                self._by_default = limit
            elif (address := literal(name)) is not None:
                self._by_address[address] = limit
            else:
                self._names[name] = limit
        self._settle()

    @property
    def has_names(self) -> bool:
        """Whether quotas are set for machines by name: then `look_up` has work."""
        return bool(self._names)

    async def look_up(self) -> None:
        """Finds the addresses of the machines that have a quota."""
        loop = asyncio.get_running_loop()
        for name, limit in list(self._names.items()):
            try:
                found = await loop.getaddrinfo(name, None)
            except (OSError, UnicodeError) as problem:
                logger.warning("the quota of %s does not apply: its address cannot be found: %s", name, problem)
                continue
            if self._names.get(name) == limit:
                self._by_address.update((canonical(str(entry[4][0])), limit) for entry in found)
        self._settle()

    def _settle(self) -> None:
        limited = self._accept.total < UNLIMITED_RATE or bool(self._accept.listeners)
        self.active = limited or bool(self._by_address) or self._by_default is not None

    def admit(self, listener: str, host: str) -> Verdict:
        """Counts a new connection."""
        now_ms = self._clock_ms()
        acceptor = self._acceptors.get(listener)
        if acceptor is None:
            acceptor = self._acceptors[listener] = _Acceptor(self._windows, now_ms)
        # By the clock of the acceptor, which may be ahead: it is still busy with those before.
        at_ms = max(now_ms, acceptor.free_ms)
        waits_ms = max(
            self._record(self._total, self._accept.total, at_ms),
            self._record(acceptor.rate, self._accept.of(listener), at_ms),
        )
        throttle_ms = self._throttle_address(canonical(host), now_ms)
        if throttle_ms > 0:
            self._total.record(-1, at_ms)
            acceptor.rate.record(-1, at_ms)
            self.refused += 1
            return Verdict(throttle_ms, refused=True)
        acceptor.free_ms = at_ms + waits_ms
        delay_ms = round(acceptor.free_ms - now_ms)
        if delay_ms <= 0:
            return AT_ONCE
        self.delayed += 1
        return Verdict(delay_ms)

    def _throttle_address(self, address: str, now_ms: float) -> int:
        limit = self._by_address.get(address, self._by_default)
        if limit is None:
            return 0
        rate = self._addresses.get(address)
        if rate is None:
            if len(self._addresses) >= ADDRESSES_MAX:
                self._make_room(now_ms)
            rate = self._addresses[address] = Rate(self._windows, now_ms)
        throttle_ms = self._record(rate, limit, now_ms)
        if throttle_ms > 0:
            rate.record(-1, now_ms)
        return throttle_ms

    def _record(self, rate: Rate, limit: float, now_ms: float) -> int:
        rate.record(1, now_ms)
        return min(rate.throttle_ms(limit, now_ms), self._windows.size_ms)

    def _make_room(self, now_ms: float) -> None:
        silent = [
            address for address, rate in self._addresses.items() if now_ms - rate.used_ms >= self._windows.span_ms
        ]
        for address in silent or [next(iter(self._addresses))]:
            del self._addresses[address]
