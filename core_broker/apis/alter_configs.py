"""AlterConfigs (key 33), versions 0 to 2: replaces all configurations of a resource; what is not named gets its default. v2 flexible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from barnabas.wire.struct import Message
from core_broker.apis.config_access import check_access
from core_broker.context import RequestContext
from core_broker.metadata.alterations import AlterationContext, replace
from core_broker.metadata.config_view import broker_config
from core_broker.metadata.image import ConfigResource
from core_broker.metadata.topics import repeated
from core_broker.security.authorizer import Operation

if TYPE_CHECKING:
    from core_broker.broker import Broker


async def handle(broker: Broker, context: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
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
                check_access(broker, context, Operation.ALTER_CONFIGS, asked.resource_type, asked.resource_name)
                records.extend(_replace(broker, asked))
            except KafkaError as error:
                response.error_code, response.error_message = error.code, error.message
        if not request.validate_only:
            try:
                await broker.apply(records)
            except KafkaError as error:
                for response in responses:
                    if response.error_code == ErrorCode.NONE:
                        response.error_code, response.error_message = error.code, error.message
    return AlterConfigsResponse(responses=responses)


def _replace(broker: Broker, asked: AlterConfigsResource) -> list[Message]:
    image = broker.metadata.image
    rules = AlterationContext(broker.node_id, broker_config(broker.settings, image, broker.node_id))
    values = [(config.name, config.value) for config in asked.configs]
    return list(replace(image, rules, ConfigResource(asked.resource_type, asked.resource_name), values))
