"""AlterClientQuotas (key 49), versions 0 to 1. v1 flexible."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    RequestEntryData,
    ResponseEntryData,
)
from barnabas.wire.struct import Message
from core_broker.context import RequestContext
from core_broker.metadata.image import QuotaEntity
from core_broker.metadata.quotas import IP, QUOTA_RECORDS_MAX, alter, check_entity, entity_of
from core_broker.quotas.addresses import literal
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

LOOKUP_DEADLINE_S: Final = 5.0
LOOKUPS_MAX: Final = 20
"""Names of machines, not addresses, that one request may have looked up."""

Results = dict[QuotaEntity, KafkaError | None]


async def handle(
    broker: Broker, context: RequestContext, request: AlterClientQuotasRequest
) -> AlterClientQuotasResponse:
    if not broker.authorizer.allows(context, Operation.ALTER_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME):
        error = KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "not allowed to change quotas")
        return _response({entity_of(entry): error for entry in request.entries})
    unresolvable = await _unresolvable(request.entries)
    async with broker.metadata.exclusive:
        records: list[Message] = []
        results: Results = {}
        for entry in request.entries:
            entity = entity_of(entry)
            if entity in results:
                # What its first mention says is done all the same, as Kafka does it.
                message = f"{entity} is named more than once; only its first change counts"
                results[entity] = KafkaError(ErrorCode.INVALID_REQUEST, message)
                continue
            try:
                results[entity] = None
                check_entity(entity)
                _check_address(entity, unresolvable)
                changes = alter(broker.metadata.image, entity, entry.ops)
                _check_room(len(records) + len(changes))
                records.extend(changes)
            except KafkaError as error:
                results[entity] = error
        if not request.validate_only:
            try:
                await broker.apply(records)
            except KafkaError as error:
                results = {entity: results[entity] or error for entity in results}
    return _response(results)


async def _unresolvable(entries: list[RequestEntryData]) -> set[str]:
    """Those among the names of `ip` entities that are neither an address nor known to the resolver."""
    names = {name for entry in entries if (name := entity_of(entry).names().get(IP)) and literal(name) is None}
    unknown = set(sorted(names)[LOOKUPS_MAX:])
    loop = asyncio.get_running_loop()

    async def look_up(name: str) -> None:
        try:
            async with asyncio.timeout(LOOKUP_DEADLINE_S):
                await loop.getaddrinfo(name, None)
        except (OSError, UnicodeError):  # a time-out is an OSError too
            unknown.add(name)

    await asyncio.gather(*map(look_up, names - unknown))
    return unknown


def _check_address(entity: QuotaEntity, unresolvable: set[str]) -> None:
    name = entity.names().get(IP)
    if name in unresolvable:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"{name!r} is neither an address nor the name of a machine that can be looked up"
        )


def _check_room(records: int) -> None:
    if records > QUOTA_RECORDS_MAX:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"one request can change {QUOTA_RECORDS_MAX} quotas; send the rest in another"
        )


def _response(results: Results) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(
        entries=[
            ResponseEntryData(
                error_code=ErrorCode.NONE if error is None else error.code,
                error_message=None if error is None else error.message,
                entity=[EntityData(entity_type=part.type, entity_name=part.name) for part in entity],
            )
            for entity, error in results.items()
        ]
    )
