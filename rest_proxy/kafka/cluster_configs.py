"""Changes of what all brokers have in common. librdkafka only sends those of one broker: a request of our own does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaError

from barnabas.kernel.kafka_clients.tls import tls_context
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode
from barnabas.wire.errors import KafkaError as WireError
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from rest_proxy.kafka.admin_types import AlterConfigOpType, ResourceType
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.reachability import Reachability

_EVERY_BROKER: Final = ""
_NO_LOGIN: Final = (
    "this service cannot log in with SASL for changes of what all brokers have in common: change it broker by broker under "
    "brokers/{broker_id}/configs, or with kafka-configs.sh --entity-type brokers --entity-default"
)


class ClusterConfigs:
    """`settings` are those of the admin client, in librdkafka's names."""

    def __init__(self, settings: Mapping[str, Any], reachability: Reachability) -> None:
        self._settings = settings
        self._reachability = reachability

    async def change(self, changes: Mapping[str, str | None], *, validate_only: bool = False) -> None:
        """Set the values, or remove those that are None; KafkaFailure when the cluster refuses one, and then none is changed."""
        if self._settings.get("security.protocol", "").upper().startswith("SASL"):
            raise _failure(ErrorCode.UNSUPPORTED_SASL_MECHANISM, _NO_LOGIN)
        await self._reachability.check()
        try:
            answer = await self._reachability.unless_lost(self._send(_request(changes, validate_only)))
        except WireError as error:
            raise _failure(error.code, error.message) from None
        for each in answer.responses:
            if each.error_code:
                raise _failure(each.error_code, each.error_message or ErrorCode(each.error_code).message)

    async def _send(self, request: IncrementalAlterConfigsRequest) -> IncrementalAlterConfigsResponse:
        found = self._settings
        client = Client(found["bootstrap.servers"], client_id=found["client.id"], tls=tls_context(found))
        async with client:
            return await client.send(request, IncrementalAlterConfigsResponse)


def _request(changes: Mapping[str, str | None], validate_only: bool) -> IncrementalAlterConfigsRequest:
    configs = [
        AlterableConfig(
            name=name,
            config_operation=(AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET).value,
            value=value,
        )
        for name, value in changes.items()
    ]
    resource = AlterConfigsResource(
        resource_type=ResourceType.BROKER.value, resource_name=_EVERY_BROKER, configs=configs
    )
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)


def _failure(code: int, message: str) -> KafkaFailure:
    return KafkaFailure(code, KafkaError(code).name(), message, retriable=ErrorCode(code).retriable)
