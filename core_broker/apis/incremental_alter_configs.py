"""IncrementalAlterConfigs (key 44), versions 0 to 1: sets, deletes, appends to and subtracts from single configurations. v1 flexible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.wire.struct import Message
from core_broker.apis.config_access import check_access
from core_broker.configs import loggers
from core_broker.context import RequestContext
from core_broker.metadata.alterations import Alteration, AlterationContext, Operation, alter, check_alterations
from core_broker.metadata.config_view import broker_config
from core_broker.metadata.image import ConfigResource, ResourceType
from core_broker.metadata.topics import repeated
from core_broker.security.authorizer import Operation as AccessOperation

if TYPE_CHECKING:
    from core_broker.broker import Broker


async def handle(
    broker: Broker, context: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    twice = repeated(f"{asked.resource_type} {asked.resource_name}" for asked in request.resources)
    responses = []
    async with broker.metadata.exclusive:
        records: list[Message] = []
        for asked in request.resources:
            response = AlterConfigsResourceResponse(
                error_message=None, resource_type=asked.resource_type, resource_name=asked.resource_name
            )
            responses.append(response)
            try:
                if f"{asked.resource_type} {asked.resource_name}" in twice:
                    raise KafkaError(ErrorCode.INVALID_REQUEST, f"{asked.resource_name!r} is named more than once")
                check_access(broker, context, AccessOperation.ALTER_CONFIGS, asked.resource_type, asked.resource_name)
                records.extend(_alter(broker, asked, validate_only=request.validate_only))
            except KafkaError as error:
                response.error_code, response.error_message = error.code, error.message
        if not request.validate_only:
            try:
                await broker.apply(records)
            except KafkaError as error:
                for response in responses:
                    if response.error_code == ErrorCode.NONE:
                        response.error_code, response.error_message = error.code, error.message
    return IncrementalAlterConfigsResponse(responses=responses)


def _alter(broker: Broker, asked: AlterConfigsResource, *, validate_only: bool) -> list[Message]:
    alterations = [Alteration(config.name, config.config_operation, config.value) for config in asked.configs]
    if asked.resource_type == ResourceType.BROKER_LOGGER:
        _alter_loggers(broker, asked.resource_name, alterations, validate_only=validate_only)
        return []
    image = broker.metadata.image
    rules = AlterationContext(broker.node_id, broker_config(broker.settings, image, broker.node_id))
    return list(alter(image, rules, ConfigResource(asked.resource_type, asked.resource_name), alterations))


def _alter_loggers(broker: Broker, name: str, alterations: list[Alteration], *, validate_only: bool) -> None:
    """Levels change at once and are not recorded: after a restart they are again as the broker was started."""
    if name != str(broker.node_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"there is no broker {name!r}; this is broker {broker.node_id}")
    check_alterations(alterations)
    levels = {}
    for alteration in alterations:
        if alteration.operation not in (Operation.SET, Operation.DELETE):
            word = Operation(alteration.operation).name.lower()
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"cannot {word} to or from the level of a logger; set or delete it"
            )
        level = alteration.value if alteration.operation == Operation.SET else None
        loggers.check_level(alteration.name, level)
        levels[alteration.name] = level
    if not validate_only:
        for logger, level in levels.items():
            loggers.set_level(logger, level)
        broker.request_log.follow_level()
