"""What AlterConfigs and IncrementalAlterConfigs come down to: for one resource, either records or the reason why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Catalogue, Kind
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.cluster_metadata import ConfigRecord
from core_broker.configs.broker import DYNAMIC_CATALOGUE
from core_broker.configs.broker_config import BrokerConfig
from core_broker.configs.group_overrides import GROUP_CATALOGUE
from core_broker.configs.metrics import CLIENT_METRICS_CATALOGUE
from core_broker.configs.setting import KafkaSetting, UpdateMode
from core_broker.configs.ssl import KEYS
from core_broker.configs.topic_config import check_topic_configs
from core_broker.configs.topics import TOPIC_CATALOGUE
from core_broker.metadata.image import ClusterImage, ConfigResource, ResourceType
from core_broker.metadata.topic_names import check_topic_name

_ONLY_PER_LISTENER = frozenset(setting.name for setting in KEYS)
_CLIENT_FIELDS = frozenset(
    (
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    )
)


class Operation(IntEnum):
    """What to do with one configuration, with the wire codes of IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Alteration(NamedTuple):
    name: str
    operation: int
    value: str | None


@dataclass(frozen=True, slots=True)
class AlterationContext:
    """What the rules need to know beside the image."""

    node_id: int
    broker: BrokerConfig


def alter(
    image: ClusterImage, context: AlterationContext, resource: ConfigResource, alterations: Sequence[Alteration]
) -> list[ConfigRecord]:
    """The records that change single configurations of a resource and leave its others alone."""
    check_alterations(alterations)
    kind = _kind(resource)
    old = image.config(*resource)
    new = dict(old)
    for alteration in alterations:
        value = _altered(kind, old.get(alteration.name), alteration)
        if value is None:
            new.pop(alteration.name, None)
        else:
            new[alteration.name] = value
    changed = [alteration.name for alteration in alterations if alteration.operation != Operation.DELETE]
    kind.check(image, context, resource.name, new, changed)
    return _difference(resource, old, new)


def replace(
    image: ClusterImage, context: AlterationContext, resource: ConfigResource, values: Sequence[tuple[str, str | None]]
) -> list[ConfigRecord]:
    """The records that give a resource exactly these configurations, as the older AlterConfigs does."""
    check_alterations([Alteration(name, Operation.SET, value) for name, value in values])
    kind = _kind(resource)
    new = {name: value for name, value in values if value is not None}
    kind.check(image, context, resource.name, new, list(new))
    return _difference(resource, image.config(*resource), new)


def check_alterations(alterations: Sequence[Alteration]) -> None:
    """What is wrong with a request whatever it is about."""
    names = [alteration.name for alteration in alterations]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"named more than once: {', '.join(twice)}")
    for alteration in alterations:
        if alteration.operation not in tuple(Operation):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"{alteration.name}: operation {alteration.operation} is unknown; 0 sets, 1 deletes, 2 appends, 3 subtracts",
            )
        if alteration.value is None and alteration.operation != Operation.DELETE:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"{alteration.name}: there is no value; delete it to have the default again"
            )


def _altered(kind: _ResourceKind, old: str | None, alteration: Alteration) -> str | None:
    if alteration.operation == Operation.DELETE or alteration.value is None:
        return None
    if alteration.operation == Operation.SET:
        return alteration.value
    setting = kind.lists.find(alteration.name)
    word = Operation(alteration.operation).name.lower()
    if setting is None or setting.kind is not Kind.LIST:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"cannot {word} to or from {alteration.name}, which is not a list; set it instead"
        )
    items = [item for item in (str(setting.default or "") if old is None else old).split(",") if item]
    for item in alteration.value.split(","):
        if alteration.operation == Operation.APPEND:
            if item not in items:
                items.append(item)
        elif item in items:
            items.remove(item)
    return ",".join(items)


def _difference(resource: ConfigResource, old: Mapping[str, str], new: Mapping[str, str]) -> list[ConfigRecord]:
    names = [name for name in new if new[name] != old.get(name)] + [name for name in old if name not in new]
    return [
        ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=new.get(name))
        for name in names
    ]


def _check_topic(
    image: ClusterImage, context: AlterationContext, name: str, new: Mapping[str, str], changed: Sequence[str]
) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "topics have no common configuration; name one topic")
    check_topic_name(name)
    check_topic_configs(new)
    if name not in image.topics:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")


def _check_broker(
    image: ClusterImage, context: AlterationContext, name: str, new: Mapping[str, str], changed: Sequence[str]
) -> None:
    if name and name != str(context.node_id):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"there is no broker {name!r}; this is {context.node_id}, and '' means all brokers",
        )
    for setting_name in changed:
        text = new[setting_name]
        try:
            setting = DYNAMIC_CATALOGUE.require(setting_name, text)
            setting.parse(text)
        except SettingError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
        if setting.mode is UpdateMode.READ_ONLY:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"{setting_name} cannot change while the broker runs; set it in the broker's file or environment and restart",
            )
        if setting_name in _ONLY_PER_LISTENER:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"{setting_name} can change for one listener only: name it listener.name.NAME.{setting_name}",
            )
        if setting.mode is UpdateMode.PER_BROKER and not name:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"{setting_name} belongs to a single broker; name broker {context.node_id}"
            )


def _check_group(
    image: ClusterImage, context: AlterationContext, name: str, new: Mapping[str, str], changed: Sequence[str]
) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "groups have no common configuration; name one group")
    values = {}
    for setting_name, text in new.items():
        try:
            values[setting_name] = GROUP_CATALOGUE.require(setting_name, text).parse(text)
        except SettingError as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
    for setting_name, value in values.items():
        protocol, _, rest = setting_name.partition(".")
        for side, too_far in (("min", int.__lt__), ("max", int.__gt__)):
            limit_name = f"group.{protocol}.{side}.{rest.removeprefix('num.')}"
            if limit_name not in DYNAMIC_CATALOGUE:
                continue
            limit = context.broker.in_force(limit_name).value
            if isinstance(value, int) and isinstance(limit, int) and too_far(value, limit):
                raise KafkaError(
                    ErrorCode.INVALID_CONFIG, f"{setting_name}={value} goes beyond the broker's {limit_name}={limit}"
                )


def _check_client_metrics(
    image: ClusterImage, context: AlterationContext, name: str, new: Mapping[str, str], changed: Sequence[str]
) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "a client metrics subscription needs a name")
    for setting_name, text in new.items():
        try:
            CLIENT_METRICS_CATALOGUE.require(setting_name, text).parse(text)
        except SettingError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
    for pattern in new.get("match", "").split(","):
        field, _, expression = pattern.partition("=")
        if pattern and (field.strip() not in _CLIENT_FIELDS or not _compiles(expression)):
            raise KafkaError(
                ErrorCode.INVALID_CONFIG,
                f"match={pattern!r} is no pair FIELD=PATTERN with a field among {', '.join(sorted(_CLIENT_FIELDS))}",
            )


def _compiles(expression: str) -> bool:
    try:
        re.compile(expression)
    except re.error:
        return False
    return True


class _ResourceKind(NamedTuple):
    """The rules of one type of resource. `lists` knows which configurations can be appended to."""

    check: Callable[[ClusterImage, AlterationContext, str, Mapping[str, str], Sequence[str]], None]
    lists: Catalogue[KafkaSetting]


_KINDS: Mapping[int, _ResourceKind] = {
    ResourceType.TOPIC: _ResourceKind(_check_topic, TOPIC_CATALOGUE),
    ResourceType.BROKER: _ResourceKind(_check_broker, DYNAMIC_CATALOGUE),
    ResourceType.GROUP: _ResourceKind(_check_group, GROUP_CATALOGUE),
    # Kafka does not append to the lists of a subscription.
    ResourceType.CLIENT_METRICS: _ResourceKind(_check_client_metrics, Catalogue(())),
}


def _kind(resource: ConfigResource) -> _ResourceKind:
    kind = _KINDS.get(resource.type)
    if kind is None:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"resource type {resource.type} ({resource.name!r}) cannot be altered; known are 2 topic, 4 broker, "
            "8 broker logger (incremental only), 16 client metrics, 32 group",
        )
    return kind
