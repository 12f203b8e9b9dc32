"""A consumer instance, as the event loop sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import ParamSpec, TypeVar

from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.reachability import Reachability
from rest_proxy.kafka.threads import Threads
from rest_proxy.v2.consuming.member import Member
from rest_proxy.v2.consuming.pace import Pace
from rest_proxy.v2.consuming.partition import FetchedRecord

ParamsP = ParamSpec("ParamsP")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """When a read is over: there are more than `min_bytes`, or `max_bytes`, or the time is up."""

    join_s: float
    """How long it waits, beyond its own time, for the group to form."""
    wait_s: float
    min_bytes: int
    max_bytes: int


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """What all instances share: threads to ask the cluster on, and whether it is there to be asked."""

    threads: Threads
    reachability: Reachability


class Instance:
    """Reads one at a time; a second one waits for the first. Other requests need not."""

    def __init__(self, form: str, limits: ReadLimits, member: Member, cluster: ClusterAccess, pace: Pace) -> None:
        self.form = form
        self.limits = limits
        self.member = member
        self.used_s = monotonic()
        self.reading = asyncio.Lock()
        """What a read holds from its beginning until its records are given."""
        self._users = 0
        self._threads = cluster.threads
        self._reachability = cluster.reachability
        self._pace = pace

    @property
    def in_use(self) -> bool:
        return self._users > 0

    @contextmanager
    def used(self) -> Iterator[None]:
        """As long as somebody asks for something the instance is not idle, nor right after."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self.used_s = monotonic()

    async def run(self, call: Callable[ParamsP, ResultT], *arguments: ParamsP.args, **named: ParamsP.kwargs) -> ResultT:
        """Call a method of the member, on a thread."""
        return await self._threads.run(call, *arguments, **named)

    async def settle(self) -> None:
        """Wait until the instance has its partitions from the group, or it is no use to wait longer."""
        until_s = monotonic() + self.limits.join_s
        while (
            not (self.member.is_settled or self.member.is_unreachable or self._pace.is_over)
            and (left_s := until_s - monotonic()) > 0
        ):
            await self.run(self.member.fetch, min(left_s, self._pace.turn_s), 0)

    async def fetched(self, limits: ReadLimits) -> list[FetchedRecord]:
        """The next records, as soon as there are enough. They stay in the backlog until they are given to the client."""
        with self._pace.reading():
            backlog = self.member.backlog
            if not backlog.holds(limits.min_bytes, limits.max_bytes):
                await self._reachability.check()
            await self.settle()
            until_s = monotonic() + limits.wait_s
            left_s = 0.0 if backlog.holds(limits.min_bytes, limits.max_bytes) else limits.wait_s
            # At least once, since that is also how the group and librdkafka learn that the client goes on.
            while True:
                await self.run(self.member.fetch, min(left_s, self._pace.turn_s), limits.max_bytes)
                left_s = until_s - monotonic()
                if left_s <= 0 or self._pace.is_over or backlog.holds(limits.min_bytes, limits.max_bytes):
                    break
                await self._reachability.check()
        found = backlog.first(limits.max_bytes)
        if not found and self.member.is_unreachable:
            await self._check_reachable()
        return found

    async def _check_reachable(self) -> None:
        try:
            await self.run(self.member.check_reachable)
        except KafkaFailure:
            # By now it may be known why, which this consumer does not know.
            await self._reachability.check()
            raise
