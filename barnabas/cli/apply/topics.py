"""Topics: what they are, and what they shall be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from barnabas.cli.apply.desired_state import WantedTopic
from barnabas.cli.apply.plan import TOPIC, Action, Change, Member, refused
from barnabas.cli.cluster import connection
from barnabas.cli.command_error import CommandError
from barnabas.client.admin import described_configs
from barnabas.client.admin.session import Session
from barnabas.client.client_error import ClientError
from barnabas.kernel.java.java_exceptions import JavaFailure
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode, KafkaError

T = TypeVar("T")

BROKER_DEFAULT: Final = -1
DYNAMIC_TOPIC_CONFIG: Final = 1
THROTTLES: Final = frozenset({"leader.replication.throttled.replicas", "follower.replication.throttled.replicas"})
"""Tools that move partitions set these for a while, and take them away again."""
SETTLING_TIMEOUT_S: Final = 10.0
SETTLING_PAUSE_S: Final = 0.05
_SET: Final = 0
_DELETE: Final = 1


@dataclass(frozen=True, slots=True)
class Found:
    partitions: int
    replication_factor: int
    values: Mapping[str, str]
    """All configurations, whatever set them."""
    own: frozenset[str]
    """Names of those that were set for the topic itself."""


class Topics:
    """The topics of a cluster. CommandError when it cannot be reached or refuses."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def plan(self, wanted: Sequence[WantedTopic]) -> list[Change]:
        """With the broker's own check of each change."""
        return self._with_session(lambda session: self._plan(session, wanted)) if wanted else []

    def existing(self, names: Sequence[str]) -> set[str]:
        """Those of the names that are topics."""
        return set(self._with_session(lambda session: _found(session, names))) if names else set()

    def removals(self, names: Sequence[str]) -> list[Change]:
        """Of those that are there."""
        if not names:
            return []
        found = self._with_session(lambda session: _found(session, names))
        return [
            Change(TOPIC, name, Action.DELETE, note="with all its records", work=partial(self.delete, name))
            for name in names
            if name in found
        ]

    def delete(self, name: str) -> None:
        from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState

        async def work(session: Session) -> None:
            request = DeleteTopicsRequest(
                topics=[DeleteTopicState(name=name)], topic_names=[name], timeout_ms=session.config.request_timeout_ms
            )
            result = (await session.send_to_controller(request, DeleteTopicsResponse)).responses[0]
            if result.error_code:
                raise error_of(result.error_code, result.error_message)
            await _until(session, name, lambda found: found is None)

        self._with_session(work)

    def create(self, wanted: WantedTopic) -> None:
        async def work(session: Session) -> None:
            await _create(session, wanted, is_trial=False)
            await _until(session, wanted.name, lambda found: found is not None)

        self._with_session(work)

    async def _plan(self, session: Session, wanted: Sequence[WantedTopic]) -> list[Change]:
        found = await _found(session, [topic.name for topic in wanted])
        return [await self._change(session, topic, found.get(topic.name)) for topic in wanted]

    async def _change(self, session: Session, wanted: WantedTopic, found: Found | None) -> Change:
        try:
            if found is not None:
                return await self._alteration(session, wanted, found)
            await _create(session, wanted, is_trial=True)
        except KafkaError as error:
            reasons = await _config_problems(session, wanted, is_new=found is None)
            if not reasons or error.code is not ErrorCode.INVALID_CONFIG:
                reasons = [error.message, *reasons]
            return refused(TOPIC, wanted.name, "\n".join([f"{wanted.place}: {reason}" for reason in reasons]))
        members = [
            Member("partitions", None, _text(wanted.partitions)),
            Member("replication-factor", None, _text(wanted.replication_factor)),
            *[Member(name, None, value) for name, value in (wanted.configs or {}).items()],
        ]
        shown = tuple([member for member in members if member.new is not None])
        return Change(TOPIC, wanted.name, Action.CREATE, shown, work=lambda: self.create(wanted))

    async def _alteration(self, session: Session, wanted: WantedTopic, found: Found) -> Change:
        members: list[Member] = []
        reasons: list[str] = []
        if wanted.partitions not in (None, found.partitions):
            members.append(Member("partitions", str(found.partitions), str(wanted.partitions)))
            if (wanted.partitions or 0) < found.partitions:
                reasons.append("partitions can only become more")
        if wanted.replication_factor not in (None, found.replication_factor):
            members.append(Member("replication-factor", str(found.replication_factor), str(wanted.replication_factor)))
            reasons.append("the replication factor of a topic stays; kafka-reassign-partitions moves replicas")
        configs = _config_members(wanted, found)
        if reasons:
            return refused(TOPIC, wanted.name, f"{wanted.place}: {'; '.join(reasons)}", [*members, *configs])
        if not members and not configs:
            return Change(TOPIC, wanted.name, Action.KEEP)
        await _alter(session, wanted, members, configs, is_trial=True)
        return Change(
            TOPIC, wanted.name, Action.CHANGE, (*members, *configs), work=partial(self._alter, wanted, members, configs)
        )

    def _alter(self, wanted: WantedTopic, members: Sequence[Member], configs: Sequence[Member]) -> None:
        def is_so(found: Found | None) -> bool:
            return (
                found is not None
                and wanted.partitions in (None, found.partitions)
                and not _config_members(wanted, found)
            )

        async def work(session: Session) -> None:
            await _alter(session, wanted, members, configs, is_trial=False)
            await _until(session, wanted.name, is_so)

        self._with_session(work)

    def _with_session(self, work: Callable[[Session], Awaitable[T]]) -> T:
        async def run() -> T:
            await connection.check_reachable(self._bootstrap)
            extra = {"default.api.timeout.ms": str(connection.API_TIMEOUT_MS)}
            async with Session.open(self._bootstrap, None, extra) as session:
                return await work(session)

        try:
            return asyncio.run(run())
        except KafkaError as error:
            raise connection.explained(error) from None
        except (ClientError, JavaFailure) as error:
            raise CommandError(error.message) from None


async def _found(session: Session, names: Sequence[str]) -> dict[str, Found]:
    there = {}
    for name, topic in (await session.topics(list(names))).items():
        if topic.error_code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION):
            # Whether a name is valid is reported when the topic is created.
            continue
        if topic.error_code:
            raise error_of(topic.error_code, None)
        there[name] = topic
    configs = await described_configs.describe(session, described_configs.TOPIC, list(there))
    return {
        name: Found(
            len(topic.partitions),
            len(topic.partitions[0].replica_nodes) if topic.partitions else 0,
            {entry.name: entry.value or "" for entry in configs[name]},
            frozenset(entry.name for entry in configs[name] if entry.config_source == DYNAMIC_TOPIC_CONFIG),
        )
        for name, topic in there.items()
    }


async def _until(session: Session, name: str, is_so: Callable[[Found | None], bool]) -> None:
    """Brokers of Apache Kafka learn a little later than the controller what it has done. A difference that remains in the end is
    left to it: it is done."""
    deadline_s = time.monotonic() + SETTLING_TIMEOUT_S
    while time.monotonic() < deadline_s:
        try:
            found = (await _found(session, [name])).get(name)
        except KafkaError as error:
            # It went between one question and the next.
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            found = None
        if is_so(found):
            return
        await asyncio.sleep(SETTLING_PAUSE_S)


async def _config_problems(session: Session, wanted: WantedTopic, *, is_new: bool) -> list[str]:
    """A broker reports the first configuration that it rejects, so that each is tried by itself."""
    found: list[str] = []
    for name, value in (wanted.configs or {}).items():
        try:
            if is_new:
                await _create(session, replace(wanted, configs={name: value}), is_trial=True)
            else:
                await _set_configs(session, wanted.name, [Member(name, None, value)], is_trial=True)
        except KafkaError as error:
            if error.code is ErrorCode.INVALID_CONFIG:
                found.append(error.message)
    return found


def _config_members(wanted: WantedTopic, found: Found) -> list[Member]:
    """Those that the file names shall be as it says, and those that were set and that it does not name go back to their defaults."""
    if wanted.configs is None:
        return []
    changed = [
        Member(name, found.values[name] if name in found.own else None, value)
        for name, value in wanted.configs.items()
        if name not in found.own or found.values[name] != value
    ]
    gone = sorted(found.own - wanted.configs.keys() - THROTTLES)
    return [*changed, *[Member(name, found.values[name], None) for name in gone]]


async def _create(session: Session, wanted: WantedTopic, *, is_trial: bool) -> None:
    from barnabas.wire.messages.create_topics import (
        CreatableTopic,
        CreatableTopicConfig,
        CreateTopicsRequest,
        CreateTopicsResponse,
    )

    topic = CreatableTopic(
        name=wanted.name,
        num_partitions=wanted.partitions or BROKER_DEFAULT,
        replication_factor=wanted.replication_factor or BROKER_DEFAULT,
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in (wanted.configs or {}).items()],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=session.config.request_timeout_ms, validate_only=is_trial)
    result = (await session.send_to_controller(request, CreateTopicsResponse)).topics[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)


async def _alter(
    session: Session, wanted: WantedTopic, members: Sequence[Member], configs: Sequence[Member], *, is_trial: bool
) -> None:
    if members:
        await _add_partitions(session, wanted, is_trial=is_trial)
    if configs:
        await _set_configs(session, wanted.name, configs, is_trial=is_trial)


async def _add_partitions(session: Session, wanted: WantedTopic, *, is_trial: bool) -> None:
    from barnabas.wire.messages.create_partitions import (
        CreatePartitionsRequest,
        CreatePartitionsResponse,
        CreatePartitionsTopic,
    )

    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=wanted.name, count=wanted.partitions or 0, assignments=None)],
        timeout_ms=session.config.request_timeout_ms,
        validate_only=is_trial,
    )
    result = (await session.send_to_controller(request, CreatePartitionsResponse)).results[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)


async def _set_configs(session: Session, topic: str, configs: Sequence[Member], *, is_trial: bool) -> None:
    from barnabas.wire.messages.incremental_alter_configs import (
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResponse,
    )

    changes = [
        AlterableConfig(name=each.name, config_operation=_DELETE if each.new is None else _SET, value=each.new or "")
        for each in configs
    ]
    resource = AlterConfigsResource(resource_type=described_configs.TOPIC, resource_name=topic, configs=changes)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=is_trial)
    result = (await session.send(request, IncrementalAlterConfigsResponse)).responses[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)
