"""All consumer instances of this process: found by name, forgotten when nobody asks for them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any, Final, NamedTuple

from barnabas.kernel.settings import Settings
from rest_proxy.kafka.client_settings import CONSUMER, ONE_OF_MANY, client_settings
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.reachability import Reachability
from rest_proxy.kafka.threads import Threads
from rest_proxy.v2.consuming.choice import InstanceChoice
from rest_proxy.v2.consuming.instance import ClusterAccess, Instance, ReadLimits
from rest_proxy.v2.consuming.member import Member
from rest_proxy.v2.consuming.pace import Pace
from rest_proxy.v2.consuming.refusals import instance_exists, instance_not_found, too_many_instances

UPKEEP_S: Final = 1.0
"""How often instances that nobody reads from are attended to."""
STOP_DEADLINE_S: Final = 5.0
JOIN_MAX_S: Final = 10.0
MS_PER_S: Final = 1000
READING_SHARE: Final = 0.8
"""The part of a request's time in which records are waited for; the rest is for its answer."""
POLL_INTERVAL_MIN_MS: Final = 300_000
POLL_INTERVAL_MAX_MS: Final = 86_400_000
POLL_MARGIN_MS: Final = 60_000

# What an instance costs while its client is away is bounded, and a group forms anew within a second or two.
_MODEST: Final = {
    **ONE_OF_MANY,
    "queued.max.messages.kbytes": 2 * 1024,
    # By default librdkafka looks once a second whether there is room for more, and a quick client would get 2 MB in that time.
    "fetch.queue.backoff.ms": 20,
    "fetch.max.bytes": 2 * 1024 * 1024,
    "heartbeat.interval.ms": 1_000,
    "topic.metadata.refresh.interval.ms": 30_000,
}

logger = logging.getLogger(__name__)


class Name(NamedTuple):
    """Of an instance. Both parts may be any text."""

    group: str
    instance: str


class Instances:
    """Everything here happens on the event loop; what blocks is sent to threads."""

    def __init__(
        self, settings: Settings, threads: Threads, reachability: Reachability, stopping: asyncio.Event
    ) -> None:
        self._settings = settings
        self._cluster = ClusterAccess(threads, reachability)
        self._pace = Pace(settings.integer("consumer.threads"), stopping)
        self._open: dict[Name, Instance] = {}
        self._upkeep: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._request_s = settings.integer("request.timeout.ms") / MS_PER_S
        self._join_s = min(JOIN_MAX_S, self._request_s / 2)
        self._idle_max_s = settings.integer("consumer.instance.timeout.ms") / MS_PER_S

    def open(self, group: str, choice: InstanceChoice) -> Name:
        """It costs next to nothing until it is subscribed or assigned."""
        name = Name(group, choice.name or self._invent_name())
        if name in self._open:
            raise instance_exists()
        limit = self._settings.integer("consumer.instances.max")
        if len(self._open) >= limit:
            raise too_many_instances(limit)
        member = Member(partial(self._client_settings, group, choice))
        self._open[name] = Instance(choice.form, self._limits(choice), member, self._cluster, self._pace)
        if self._upkeep is None:
            self._upkeep = asyncio.create_task(self._look_after())
        return name

    def find(self, group: str, name: str) -> Instance:
        found = self._open.get(Name(group, name))
        if found is None:
            raise instance_not_found()
        return found

    @property
    def names(self) -> list[Name]:
        return sorted(self._open)

    @property
    def longest_wait_s(self) -> float:
        """How long a read may wait for records: with the wait for its group, it ends before the request must."""
        return self._request_s * READING_SHARE - self._join_s

    async def delete(self, group: str, name: str) -> None:
        """Returns when the group has been told."""
        instance = self.find(group, name)
        del self._open[Name(group, name)]
        await instance.run(instance.member.close, answered=True)

    async def stop(self) -> None:
        """Leave all groups, so that other members have the partitions at once."""
        if self._upkeep is not None:
            self._upkeep.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._upkeep
        for name in list(self._open):
            self._close(name, answered=True)
        if self._closing:
            _, late = await asyncio.wait(self._closing, timeout=STOP_DEADLINE_S)
            if late:
                logger.warning("%d consumer instances did not leave their groups in %g s", len(late), STOP_DEADLINE_S)

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(UPKEEP_S)
            expired_s = monotonic() - self._idle_max_s
            idle = [(name, instance) for name, instance in self._open.items() if not instance.in_use]
            for name, instance in idle:
                if instance.used_s <= expired_s:
                    logger.info("consumer instance %s of group %s expired", name.instance, name.group)
                    self._close(name, answered=False)
            members = [instance.member for _, instance in idle if instance.member.is_live]
            if members:
                await self._serve(members)

    async def _serve(self, members: Sequence[Member]) -> None:
        try:
            await self._cluster.threads.run(_serve, members)
        except Exception:
            # The next time may be better; without upkeep no instance would ever expire.
            logger.exception("consumer instances that are idle were not attended to")

    def _close(self, name: Name, *, answered: bool) -> None:
        instance = self._open.pop(name)
        if not instance.member.is_live:
            # There is nothing to leave, and so nothing to wait for.
            instance.member.close(answered=answered)
            return
        task = asyncio.create_task(self._leave(name, instance, answered=answered))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _leave(self, name: Name, instance: Instance, *, answered: bool) -> None:
        try:
            await instance.run(instance.member.close, answered=answered)
        except KafkaFailure as failure:
            logger.warning("consumer instance %s of group %s did not leave: %s", name.instance, name.group, failure)

    def _invent_name(self) -> str:
        own = self._settings.text("id")
        return f"rest-consumer-{f'{own}-' if own else ''}{uuid.uuid4()}"

    def _limits(self, choice: InstanceChoice) -> ReadLimits:
        def chosen(value: int | None, setting: str) -> int:
            return self._settings.integer(setting) if value is None else value

        wait_ms = chosen(choice.request_timeout_ms, "consumer.request.timeout.ms")
        return ReadLimits(
            self._join_s,
            min(wait_ms / MS_PER_S, self.longest_wait_s),
            chosen(choice.fetch_min_bytes, "fetch.min.bytes"),
            self._settings.integer("consumer.request.max.bytes"),
        )

    def _client_settings(self, group: str, choice: InstanceChoice) -> dict[str, Any]:
        idle_ms = self._settings.integer("consumer.instance.timeout.ms") + POLL_MARGIN_MS
        return {
            **client_settings(self._settings, CONSUMER, _MODEST),
            # An instance leaves its group when it expires, not because its client thinks for long.
            "max.poll.interval.ms": min(max(idle_ms, POLL_INTERVAL_MIN_MS), POLL_INTERVAL_MAX_MS),
            # What is fetched is not consumed before a client has been given it.
            "enable.auto.offset.store": False,
            "group.id": group,
            **choice.client_settings(),
        }


def _serve(members: Sequence[Member]) -> None:
    for member in members:
        member.serve()
