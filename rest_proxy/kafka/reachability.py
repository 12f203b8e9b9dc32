"""Whether the cluster can be reached, so that nobody waits long for one that is known to be away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, TypeAlias, TypeVar

from confluent_kafka import KafkaError

from rest_proxy.kafka.failure import KafkaFailure

RETURN_WAIT_S: Final = 3.0
"""How long requests wait for a cluster that was lost: the restart of a broker should be no more than a pause. Then they are refused at
once."""
PROBE_PAUSE_S: Final = 0.5

Probe: TypeAlias = Callable[[], Awaitable[object]]
"""Asks the cluster for anything; KafkaFailure when it does not answer."""

ResultT = TypeVar("ResultT")

logger = logging.getLogger(__name__)


class Reachability:
    """The cluster is taken to be there until a suspicion proves true; then it is asked again and again until it answers."""

    def __init__(self) -> None:
        self._reason = "no broker answers"
        self._lost_s = 0.0
        self._there = asyncio.Event()
        self._there.set()
        self._refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done as long as requests are refused."""
        self._probing: asyncio.Task[None] | None = None

    @property
    def is_known_to_be_away(self) -> bool:
        return not self._there.is_set()

    @property
    def problem(self) -> str | None:
        """Why the cluster cannot be reached, as long as that is known."""
        return self._reason if self.is_known_to_be_away else None

    def suspect(self, reason: str, probe: Probe) -> None:
        """Something failed that might mean that no broker is there."""
        self._reason = reason
        if self._probing is None or self._probing.done():
            self._probing = asyncio.ensure_future(self._probe(probe))

    async def check(self) -> None:
        """KafkaFailure when the cluster is known to be away, and has not returned soon."""
        if self._there.is_set():
            return
        left_s = self._lost_s + RETURN_WAIT_S - monotonic()
        try:
            await asyncio.wait_for(self._there.wait(), max(left_s, 0.0))
        except TimeoutError:
            raise self._refusal() from None

    async def unless_lost(self, answer: Awaitable[ResultT]) -> ResultT:
        """What the cluster answers; KafkaFailure when it goes away meanwhile and does not return soon. librdkafka would wait longer."""
        asking = asyncio.ensure_future(answer)
        try:
            await asyncio.wait((asking, self._refused), return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
        finally:
            asking.cancel()
        raise self._refusal()

    async def stop(self) -> None:
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

    async def _probe(self, probe: Probe) -> None:
        refusing: asyncio.TimerHandle | None = None
        while True:
            try:
                await probe()
                break
            except KafkaFailure:
                if refusing is None:
                    self._there.clear()
                    self._lost_s = monotonic()
                    refusing = asyncio.get_running_loop().call_later(RETURN_WAIT_S, self._refused.set_result, None)
                    logger.warning("no broker can be reached, requests are refused until one can: %s", self._reason)
            await asyncio.sleep(PROBE_PAUSE_S)
        if refusing is not None:
            logger.info("the brokers can be reached again")
            refusing.cancel()
            if self._refused.done():
                self._refused = asyncio.get_running_loop().create_future()
            self._there.set()

    def _refusal(self) -> KafkaFailure:
        return KafkaFailure(KafkaError._ALL_BROKERS_DOWN, "_ALL_BROKERS_DOWN", self._reason, retriable=True)
