"""Asks for the configurations of topics, brokers and whatever else has some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.client.admin.session import Session
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)

TOPIC: Final = 2
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32

# What the numbers in `config_source` are called.
SOURCES: Final = {
    0: "UNKNOWN",
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
    6: "DYNAMIC_BROKER_LOGGER_CONFIG",
    7: "DYNAMIC_CLIENT_METRICS_CONFIG",
    8: "DYNAMIC_GROUP_CONFIG",
}
DEFAULT_CONFIG: Final = 5

Entries = list[DescribeConfigsResourceResult]


async def describe(
    session: Session, resource_type: int, names: Sequence[str], *, synonyms: bool = False, node: int | None = None
) -> dict[str, Entries]:
    """The entries of each resource, in the broker's order. KafkaError if one of them fails."""
    if not names:
        return {}
    resources = [
        DescribeConfigsResource(resource_type=resource_type, resource_name=name, configuration_keys=None)
        for name in names
    ]
    request = DescribeConfigsRequest(resources=resources, include_synonyms=synonyms)

    answer = await session.send(request, DescribeConfigsResponse, node=node, call="describeConfigs")
    for result in answer.results:
        if result.error_code:
            raise error_of(result.error_code, result.error_message)
    return {result.resource_name: result.configs for result in answer.results}
