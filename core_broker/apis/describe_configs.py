"""DescribeConfigs (key 32), versions 1 to 4: every configuration with its value and where it comes from.

v1 synonyms and sources; v3 types and documentation; v4 flexible.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from core_broker.apis.config_access import check_access
from core_broker.configs import loggers
from core_broker.configs.described import KIND_CODES, ConfigSource, Described
from core_broker.configs.overrides import described_client_metrics, described_group
from core_broker.configs.setting import Effect
from core_broker.context import RequestContext
from core_broker.metadata.config_view import ALL_BROKERS, broker_config, topic_config
from core_broker.metadata.image import ResourceType
from core_broker.metadata.topic_names import check_topic_name
from core_broker.security.authorizer import Operation

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(results=[_describe(broker, context, request, asked) for asked in request.resources])


def _describe(
    broker: Broker, context: RequestContext, request: DescribeConfigsRequest, asked: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=asked.resource_type, resource_name=asked.resource_name)
    try:
        check_access(broker, context, Operation.DESCRIBE_CONFIGS, asked.resource_type, asked.resource_name)
        if asked.resource_type == ResourceType.BROKER_LOGGER:
            result.configs = _loggers(broker, asked.resource_name)
        else:
            found = _found(broker, asked.resource_type, asked.resource_name)
            result.configs = [_entry(entry, request) for entry in found]
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message
        return result
    if asked.configuration_keys:
        result.configs = [config for config in result.configs if config.name in asked.configuration_keys]
    return result


def _found(broker: Broker, resource_type: int, name: str) -> Iterable[Described]:
    image = broker.metadata.image
    in_force = broker_config(broker.settings, image, broker.node_id)
    match resource_type:
        case ResourceType.TOPIC:
            check_topic_name(name)
            if name not in image.topics:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")
            return topic_config(broker.settings, image, broker.node_id, name).described()
        case ResourceType.BROKER:
            if name == ALL_BROKERS:
                return in_force.described_cluster()
            _check_broker(broker, name)
            return in_force.described()
        case ResourceType.GROUP:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "groups have no common configuration; name one group")
            return described_group(in_force, image.config(ResourceType.GROUP, name))
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "a client metrics subscription needs a name")
            return described_client_metrics(image.config(ResourceType.CLIENT_METRICS, name))
        case _:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"resource type {resource_type} ({name!r}) has no configuration"
            )


def _loggers(broker: Broker, name: str) -> list[DescribeConfigsResourceResult]:
    _check_broker(broker, name)
    return [
        DescribeConfigsResourceResult(name=logger, value=level, config_source=ConfigSource.BROKER_LOGGER)
        for logger, level in loggers.levels().items()
    ]


def _check_broker(broker: Broker, name: str) -> None:
    if name != str(broker.node_id):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"there is no broker {name!r}; this is broker {broker.node_id}, the only one"
        )


def _entry(described: Described, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    setting = described.setting
    return DescribeConfigsResourceResult(
        name=setting.name,
        value=described.text,
        read_only=described.read_only,
        config_source=described.source,
        is_sensitive=setting.hidden,
        synonyms=[
            DescribeConfigsSynonym(name=synonym.name, value=synonym.text, source=synonym.source)
            for synonym in (described.synonyms if request.include_synonyms else ())
        ],
        config_type=KIND_CODES[setting.kind],
        documentation=_documentation(described) if request.include_documentation else None,
    )


def _documentation(described: Described) -> str:
    setting = described.setting
    unit = f" In {setting.unit}." if setting.unit else ""
    note = f" Has no effect here: {setting.why}." if setting.effect is Effect.INERT else ""
    return f"{setting.doc}{unit}{note}"
