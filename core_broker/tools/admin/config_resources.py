"""Describes and alters the configurations that `kafka-configs` finds by name: of topics, brokers, loggers, groups and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.tools.admin import described_configs
from core_broker.tools.admin.described_configs import SOURCES, Entries
from core_broker.tools.admin.session import Session
from core_broker.tools.java.java_errors import error_of
from core_broker.tools.java.java_order import hash_map_order
from core_broker.tools.shell.exits import ToolError

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


async def show(session: Session, kind: str, name: str | None, *, everything: bool) -> None:
    if name is not None and not everything and not await _exists(session, kind, name):
        print(f"The {kind[:-1]} '{name}' doesn't exist and doesn't have dynamic config.")
        return
    for one in [name] if name is not None else await _names(session, kind):
        if one:
            print(f"{'All' if everything else 'Dynamic'} configs for {kind[:-1]} {one} are:")
        else:
            print(f"Default configs for {kind} in the cluster are:")
        for entry in await _entries(session, kind, one, everything=everything):
            synonyms = ", ".join(
                f"{SOURCES.get(known.source, 'UNKNOWN')}:{known.name}={_value(known.value)}" for known in entry.synonyms
            )
            sensitive = "true" if entry.is_sensitive else "false"
            print(f"  {entry.name}={_value(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}")


def _value(value: str | None) -> str:
    return "null" if value is None else value


async def alter(session: Session, kind: str, name: str, add: Mapping[str, str], delete: Sequence[str]) -> None:
    from barnabas.wire.messages.incremental_alter_configs import (
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResponse,
    )

    if kind == "broker-loggers":
        known = {entry.name for entry in await _entries(session, kind, name, everything=True)}
        unknown = [logger for logger in (*delete, *add) if logger not in known]
        if unknown:
            raise ToolError(f"Invalid broker logger(s): {','.join(unknown)}")
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


async def _entries(session: Session, kind: str, name: str, *, everything: bool) -> Entries:
    found = await described_configs.describe(session, TYPES[kind], [name], synonyms=True, node=_node(kind, name))
    wanted = DYNAMIC_DEFAULT_BROKER if kind == "brokers" and not name else DYNAMIC_SOURCES.get(kind)
    entries = [entry for entry in found[name] if everything or wanted is None or entry.config_source == wanted]
    return sorted(entries, key=lambda entry: entry.name)


async def _exists(session: Session, kind: str, name: str) -> bool:
    if kind in ("brokers", "broker-loggers"):
        return not name or int(name) in (await session.cluster()).nodes
    return name in await _names(session, kind)


async def _names(session: Session, kind: str) -> list[str]:
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
