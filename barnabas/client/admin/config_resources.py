"""Configurations of named resources: topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.client.admin import described_configs
from barnabas.client.admin.described_configs import Entries
from barnabas.client.admin.session import Session
from barnabas.client.client_error import ClientError
from barnabas.kernel.java.hash_map import hash_map_order
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode, KafkaError

TYPES: Final = {
    "topics": described_configs.TOPIC,
    "brokers": described_configs.BROKER,
    "broker-loggers": described_configs.BROKER_LOGGER,
    "client-metrics": described_configs.CLIENT_METRICS,
    "groups": described_configs.GROUP,
}
# Where a configuration comes from that was set for the entity itself.
DYNAMIC_SOURCES: Final = {"topics": 1, "brokers": 2, "client-metrics": 7, "groups": 8}
DYNAMIC_DEFAULT_BROKER: Final = 3

_SET: Final = 0
_DELETE: Final = 1


async def alter(session: Session, kind: str, name: str, add: Mapping[str, str], delete: Sequence[str]) -> None:
    from barnabas.wire.messages.incremental_alter_configs import (
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResponse,
    )

    if kind == "broker-loggers":
        known = {entry.name for entry in await entries(session, kind, name, everything=True)}
        unknown = [logger for logger in (*delete, *add) if logger not in known]
        if unknown:
            raise ClientError(f"Invalid broker logger(s): {','.join(unknown)}")
    changes = [AlterableConfig(name=key, config_operation=_SET, value=value) for key, value in add.items()]
    changes += [AlterableConfig(name=key, config_operation=_DELETE, value="") for key in delete]
    resource = AlterConfigsResource(resource_type=TYPES[kind], resource_name=name, configs=changes)
    answer = await session.send(
        IncrementalAlterConfigsRequest(resources=[resource]),
        IncrementalAlterConfigsResponse,
        node=_node(kind, name),
        check=lambda found: found.responses[0].error_code,
    )
    result = answer.responses[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)


def _node(kind: str, name: str) -> int | None:
    """A broker answers for itself; everything else any broker knows."""
    return int(name) if kind in ("brokers", "broker-loggers") and name else None


async def entries(session: Session, kind: str, name: str, *, everything: bool) -> Entries:
    found = await described_configs.describe(session, TYPES[kind], [name], synonyms=True, node=_node(kind, name))
    wanted = DYNAMIC_DEFAULT_BROKER if kind == "brokers" and not name else DYNAMIC_SOURCES.get(kind)
    entries = [entry for entry in found[name] if everything or wanted is None or entry.config_source == wanted]
    return sorted(entries, key=lambda entry: entry.name)


async def exists(session: Session, kind: str, name: str) -> bool:
    if kind in ("brokers", "broker-loggers"):
        return not name or int(name) in (await session.cluster()).nodes
    return name in await names(session, kind)


async def names(session: Session, kind: str) -> list[str]:
    """All entities of a type, in the order in which Java goes through them."""
    if kind == "topics":
        return hash_map_order(topic.name for topic in (await session.metadata()).topics if topic.name)
    if kind in ("brokers", "broker-loggers"):
        return [*map(str, (await session.cluster()).nodes), ""]
    if kind == "client-metrics":
        return await _listed(session, described_configs.CLIENT_METRICS)
    groups = await _groups(session)
    try:
        configured = await _listed(session, described_configs.GROUP)
    except KafkaError as error:
        if error.code not in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.CLUSTER_AUTHORIZATION_FAILED):
            raise
        configured = []
    return list(dict.fromkeys([*groups, *configured]))


async def _listed(session: Session, resource_type: int) -> list[str]:
    from barnabas.wire.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse

    answer = await session.send(
        ListConfigResourcesRequest(resource_types=[resource_type]),
        ListConfigResourcesResponse,
        check=lambda found: found.error_code,
    )
    if answer.error_code:
        raise error_of(answer.error_code, None)
    return [one.resource_name for one in answer.config_resources if one.resource_type == resource_type]


async def _groups(session: Session) -> list[str]:
    from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

    found: list[str] = []
    for node in (await session.cluster()).nodes:
        answer = await session.send(
            ListGroupsRequest(), ListGroupsResponse, node=node, check=lambda told: told.error_code
        )
        if answer.error_code:
            raise error_of(answer.error_code, None)
        found += [group.group_id for group in answer.groups]
    return found
