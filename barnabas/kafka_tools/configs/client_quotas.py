"""Describes and alters the quotas of users, clients and addresses for `kafka-configs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from barnabas.client.admin.session import Session
from barnabas.client.client_error import ClientError
from barnabas.kernel.java.hash_map import hash_code, hash_map_order, map_order
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.kernel.java.numbers import double_text

QUOTAS: Final = ("consumer_byte_rate", "controller_mutation_rate", "producer_byte_rate", "request_percentage")
ADDRESS_QUOTAS: Final = ("connection_creation_rate",)
# How requests call the types of entities, and how the tool does.
REQUEST_TYPES: Final = {"users": "user", "clients": "client-id", "ips": "ip"}
SHOWN_TYPES: Final = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}

_EXACT: Final = 0
_DEFAULT: Final = 1
_ANY: Final = 2

# Each type with the name, None being the default.
Entity = tuple[tuple[str, str | None], ...]


def check(types: Sequence[str], names: Sequence[str], add: Mapping[str, str], delete: Sequence[str]) -> bool:
    """True if the change is one of quotas, False if of SCRAM credentials. ClientError for what is neither or both."""
    from barnabas.kafka_tools.configs.scram_credentials import MECHANISMS

    added = hash_map_order(add)
    scram_added, scram_deleted = ([key for key in keys if key in MECHANISMS] for keys in (added, delete))
    quotas = [key for key in (*add, *delete) if key in QUOTAS]
    unknown_added, unknown_deleted = (
        [key for key in keys if key not in MECHANISMS and key not in QUOTAS] for keys in (added, delete)
    )
    if "clients" in types:
        if unknown_added or scram_added:
            raise _unexpected("Only quota configs can be added for 'clients'", "Set", [*unknown_added, *scram_added])
        if unknown_deleted or scram_deleted:
            raise _unexpected(
                "Only quota configs can be deleted for 'clients'", "ArrayBuffer", [*unknown_deleted, *scram_deleted]
            )
        return True
    if unknown_added:
        raise _unexpected("Only quota and SCRAM credential configs can be added for 'users'", "Set", unknown_added)
    if unknown_deleted:
        raise _unexpected(
            "Only quota and SCRAM credential configs can be deleted for 'users'", "ArrayBuffer", unknown_deleted
        )
    if scram_added or scram_deleted:
        if "" in names:
            raise ClientError(
                "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials "
                "using --bootstrap-server."
            )
        if quotas:
            raise ClientError(
                "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' "
                "using --bootstrap-server."
            )
    return bool(quotas)


def check_address_quotas(add: Mapping[str, str], delete: Sequence[str]) -> None:
    unknown = [key for key in (*add, *delete) if key not in ADDRESS_QUOTAS]
    if unknown:
        raise ClientError(
            "Only connection quota configs can be added for 'ips' using --bootstrap-server. "
            f"Unexpected config names: {','.join(unknown)}"
        )


def _unexpected(what: str, collection: str, names: Sequence[str]) -> ClientError:
    """Scala shows the names with the kind of collection that they lie in."""
    return ClientError(f"{what} using --bootstrap-server. Unexpected config names: {collection}({', '.join(names)})")


async def show(session: Session, types: Sequence[str], names: Sequence[str]) -> None:
    found = await _quotas(session, types, names)
    for entity in map_order(found, _entity_hash, len(found)):
        parts = dict(entity)
        shown = ", ".join(
            f"the default {label}" if parts[kind] is None else f"{label} '{parts[kind]}'"
            for kind, label in SHOWN_TYPES.items()
            if kind in parts
        )
        values = found[entity]
        quotas = ", ".join(f"{key}={double_text(values[key])}" for key in hash_map_order(values, len(values)))
        print(f"Quota configs for {shown} are {quotas}")


async def alter(
    session: Session, types: Sequence[str], names: Sequence[str], add: Mapping[str, str], delete: Sequence[str]
) -> None:
    from barnabas.wire.messages.alter_client_quotas import (
        AlterClientQuotasRequest,
        AlterClientQuotasResponse,
        EntityData,
        OpData,
        RequestEntryData,
    )

    before = next(iter((await _quotas(session, types, names)).values()), {})
    missing = [key for key in delete if key not in before]
    if missing:
        raise ClientError(f"Invalid config(s): {','.join(missing)}")
    changes = [OpData(key=key, value=_number(key, value)) for key, value in add.items()]
    changes += [OpData(key=key, remove=True) for key in delete]
    entity = [
        EntityData(entity_type=REQUEST_TYPES[kind], entity_name=name or None)
        for kind, name in zip(types, names, strict=True)
    ]
    answer = await session.send_to_controller(
        AlterClientQuotasRequest(entries=[RequestEntryData(entity=entity, ops=changes)]),
        AlterClientQuotasResponse,
        check=lambda found: found.entries[0].error_code,
    )
    result = answer.entries[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ClientError(f"Cannot parse quota configuration value for {key}: {text}") from None


async def _quotas(session: Session, types: Sequence[str], names: Sequence[str]) -> dict[Entity, dict[str, float]]:
    """The quotas of entities that have just these types; types without a name mean any."""
    from barnabas.wire.messages.describe_client_quotas import (
        ComponentData,
        DescribeClientQuotasRequest,
        DescribeClientQuotasResponse,
    )

    if len(names) > len(types):
        raise ClientError("More entity names specified than entity types")
    components = []
    for kind, name in zip_longest(types, names):
        match_type = _ANY if name is None else _EXACT if name else _DEFAULT
        components.append(
            ComponentData(entity_type=REQUEST_TYPES[kind or ""], match_type=match_type, match=name or None)
        )
    answer = await session.send(
        DescribeClientQuotasRequest(components=components, strict=True),
        DescribeClientQuotasResponse,
        check=lambda found: found.error_code,
    )
    if answer.error_code:
        raise error_of(answer.error_code, answer.error_message)
    return {
        tuple((part.entity_type, part.entity_name) for part in entry.entity): {
            value.key: value.value for value in entry.values
        }
        for entry in answer.entries or ()
    }


def _entity_hash(entity: Entity) -> int:
    """`ClientQuotaEntity.hashCode`: of a map with one entry for each type."""
    return (
        31 + sum(hash_code(kind) ^ (hash_code(name) if name is not None else 0) for kind, name in entity)
    ) & 0xFFFFFFFF
