"""What a broker tells on its page of metrics, found out from one that runs in this process.

The families of a broker are made of its state, so a broker is started, and everything is done to it once that some family counts: then each has
a sample, and its labels are seen.
"""

from __future__ import annotations

import asyncio
import socket
import time
import urllib.request
from typing import Final

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from barnabas.embedded import topic_client
from barnabas.embedded.broker import EmbeddedBroker
from barnabas.wire.client import TRANSACTION_COORDINATOR, Client
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_TOPIC: Final = "orders"
_TIMEOUT_S: Final = 10.0
_QUOTAS: Final = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
# So little that the first request is over it.
_QUOTA: Final = 1.0
_PRODUCER: Final = "payments"
_TRANSACTION_MS: Final = 1_000
_AGAIN_S: Final = 0.01


def broker_families() -> list[Metric]:
    """Every family, each with a sample. ValueError names those that nothing was done for."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    settings = {"metrics.listener": address, "metrics.per.partition": "true", "log.cleaner.backoff.ms": "1"}
    with EmbeddedBroker(settings) as broker:
        asyncio.run(_use(broker.bootstrap_servers))
        return _all_told(address)


def _all_told(address: str) -> list[Metric]:
    """The cleaner looks by itself, a moment later; all else has happened when a client has been answered."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        found = _told(address)
        silent = [family.name for family in found if not family.samples]
        if not silent:
            return found
        if time.monotonic() > deadline:
            raise ValueError(f"nothing that was done to the broker shows in {', '.join(silent)}: do it in {__name__}")
        time.sleep(_AGAIN_S)


async def _use(address: str) -> None:
    async with Client(address) as client:
        await client.find_coordinator(_PRODUCER, TRANSACTION_COORDINATOR)
        await _begin_producer(client)
        await topic_client.create_topic(client, _TOPIC, 1, {})
        await topic_client.append(client, _TOPIC, 0, None, [b"nail"], ())
        await topic_client.read_all(client, _TOPIC)
        await topic_client.delete_topics(client, ["no-such-topic"])
        entity = [EntityData(entity_type="client-id", entity_name=None)]
        changes = [OpData(key=name, value=_QUOTA, remove=False) for name in _QUOTAS]
        entries = [RequestEntryData(entity=entity, ops=changes)]
        await client.send(AlterClientQuotasRequest(entries=entries), AlterClientQuotasResponse)
        await topic_client.create_topic(client, f"{_TOPIC}-2", 1, {})
        await topic_client.append(client, _TOPIC, 0, None, [b"hammer"], ())


async def _begin_producer(client: Client) -> None:
    """A new broker loads its coordinators when they are first asked for."""
    loading = True
    while loading:
        request = InitProducerIdRequest(transactional_id=_PRODUCER, transaction_timeout_ms=_TRANSACTION_MS)
        answer = await client.send(request, InitProducerIdResponse)
        loading = answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await asyncio.sleep(_AGAIN_S if loading else 0)


def _told(address: str) -> list[Metric]:
    with urllib.request.urlopen(f"{address}/metrics", timeout=_TIMEOUT_S) as answer:  # noqa: S310 - an address of our own
        return list(text_string_to_metric_families(answer.read().decode()))
