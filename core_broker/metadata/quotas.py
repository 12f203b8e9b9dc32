"""Client quotas: what may be set for whom, from a request and the image to records, and which of them a filter asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.alter_client_quotas import OpData, RequestEntryData
from barnabas.wire.messages.describe_client_quotas import ComponentData
from barnabas.wire.records.cluster_metadata import ClientQuotaRecord, EntityData
from core_broker.metadata.image import ClusterImage, QuotaEntity

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

PRODUCER_BYTE_RATE: Final = "producer_byte_rate"
CONSUMER_BYTE_RATE: Final = "consumer_byte_rate"
REQUEST_PERCENTAGE: Final = "request_percentage"
CONTROLLER_MUTATION_RATE: Final = "controller_mutation_rate"
CONNECTION_CREATION_RATE: Final = "connection_creation_rate"

INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1
FRACTION_MIN: Final = 1e-6
"""A smaller rest of a number that must be whole is rounding on its way here."""

QUOTA_RECORDS_MAX: Final = 10_000
"""Changes in one request: their records must fit one batch of the metadata log, as in Kafka."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A quota: whole numbers up to a maximum, or any positive number."""

    whole_max: int | None = None


_CLIENT_KEYS: Final[Mapping[str, _Key]] = {
    PRODUCER_BYTE_RATE: _Key(LONG_MAX),
    CONSUMER_BYTE_RATE: _Key(LONG_MAX),
    REQUEST_PERCENTAGE: _Key(),
    CONTROLLER_MUTATION_RATE: _Key(),
}
_IP_KEYS: Final[Mapping[str, _Key]] = {CONNECTION_CREATION_RATE: _Key(INT_MAX)}


class Match(IntEnum):
    """How a filter's component compares names, with the wire codes."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


# Changes.


def entity_of(asked: RequestEntryData) -> QuotaEntity:
    """Whom a change is about. A type that is named twice counts once, the last name wins: that is what Kafka makes of it."""
    return QuotaEntity.of({part.entity_type: part.entity_name for part in asked.entity})


def alter(image: ClusterImage, entity: QuotaEntity, operations: Sequence[OpData]) -> list[ClientQuotaRecord]:
    """The records of one entity's changes; those that change nothing leave none. The name of an `ip` has been looked up before."""
    keys = _keys_of(entity)
    current = image.client_quotas.get(entity, {})
    records: list[ClientQuotaRecord] = []
    seen: set[str] = set()
    for operation in operations:
        if operation.key in seen:
            raise _invalid(f"quota {operation.key!r} of {entity} is changed twice in one request")
        seen.add(operation.key)
        if operation.remove:
            if operation.key in current:
                records.append(_record(entity, operation.key, remove=True))
            continue
        _check_value(keys, operation.key, operation.value)
        if current.get(operation.key) != operation.value:
            records.append(_record(entity, operation.key, operation.value))
    return records


def check_entity(entity: QuotaEntity) -> None:
    """Whether quotas can be set for such an entity at all."""
    names = entity.names()
    if not names:
        raise _invalid("a quota needs an entity: a user, a client-id, both, or an ip")
    for kind, name in names.items():
        if kind not in (USER, CLIENT_ID, IP):
            raise _invalid(f"quotas belong to a user, a client-id or an ip; {kind!r} is none of them")
        if name == "":
            raise _invalid(f"the name of a {kind} cannot be empty; no name at all (null) means the default")
    if IP in names and len(names) > 1:
        raise _invalid("a quota of an ip cannot be one of a user or a client-id too")


def _keys_of(entity: QuotaEntity) -> Mapping[str, _Key]:
    check_entity(entity)
    return _IP_KEYS if IP in entity.names() else _CLIENT_KEYS


def _check_value(keys: Mapping[str, _Key], name: str, value: float) -> None:
    key = keys.get(name)
    if key is None:
        raise _invalid(f"there is no quota {name!r} for such an entity; known are {', '.join(keys)}")
    if value <= 0 or math.isnan(value):
        raise _invalid(f"quota {name}={value:g} must be greater than 0; remove it to set no limit")
    if key.whole_max is None:
        return
    if value > key.whole_max:
        raise _invalid(f"quota {name}={value:g} is more than {key.whole_max}")
    if math.fmod(value, 1) > FRACTION_MIN:
        raise _invalid(f"quota {name}={value!r} must be a whole number")


def _record(entity: QuotaEntity, key: str, value: float = 0.0, *, remove: bool = False) -> ClientQuotaRecord:
    parts = [EntityData(entity_type=part.type, entity_name=part.name) for part in entity]
    return ClientQuotaRecord(entity=parts, key=key, value=value, remove=remove)


# Questions.


class QuotaFilter:
    """What DescribeClientQuotas asks for. `strict` leaves out entities that have a part which the filter does not name."""

    def __init__(self, components: Sequence[ComponentData], *, strict: bool) -> None:
        self._names: dict[str, str | None] = {}
        self._any: set[str] = set()
        self._strict = strict
        for component in components:
            self._add(component)
        kinds = {*self._names, *self._any}
        if IP in kinds and len(kinds) > 1:
            raise _invalid("a filter for an ip cannot ask for a user or a client-id too")

    def _add(self, component: ComponentData) -> None:
        kind = component.entity_type
        if not kind:
            raise _invalid("the entity type of a filter cannot be empty")
        if kind in self._names or kind in self._any:
            raise _invalid(f"entity type {kind!r} stands twice in the filter")
        if kind not in (USER, CLIENT_ID, IP):
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION, f"entity type {kind!r} is not known; known are user, client-id and ip"
            )
        if component.match_type == Match.EXACT:
            if component.match is None:
                raise _invalid(f"the filter asks for one {kind} and names none")
            self._names[kind] = component.match
            return
        if component.match_type not in (Match.DEFAULT, Match.ANY):
            raise _invalid(f"match type {component.match_type} is not known; known are 0 exact, 1 default, 2 any")
        if component.match is not None:
            raise _invalid(f"match type {component.match_type} takes no name, and {component.match!r} is given")
        if component.match_type == Match.DEFAULT:
            self._names[kind] = None
        else:
            self._any.add(kind)

    def matches(self, entity: QuotaEntity) -> bool:
        names = entity.names()
        if self._strict and len(names) != len(self._names) + len(self._any):
            return False
        return all(kind in names for kind in self._any) and all(
            kind in names and names[kind] == name for kind, name in self._names.items()
        )

    def find(self, image: ClusterImage) -> Iterator[tuple[QuotaEntity, Mapping[str, float]]]:
        for entity, quotas in image.client_quotas.items():
            if self.matches(entity):
                yield entity, quotas


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
