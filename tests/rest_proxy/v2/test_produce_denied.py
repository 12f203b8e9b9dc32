"""A cluster that does not let the proxy write: the faults are made here, since they need a cluster with rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError

from barnabas.kernel.http.body_budget import BodyBudget
from barnabas.kernel.http.request import BodyLimits, Request
from barnabas.kernel.service_settings import NO_REQUESTS
from barnabas.kernel.settings import resolve
from rest_proxy.formats.formats import Formats
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import Delivered, OutgoingRecord
from rest_proxy.kafka.reachability import Reachability
from rest_proxy.proxy import Proxy
from rest_proxy.record_log import RecordLog
from rest_proxy.settings import REST_CATALOGUE
from rest_proxy.v2.produce import Produce


class DeniedProducer:
    """Delivers the first record; all others fail."""

    def __init__(self, code: int) -> None:
        self._failure = KafkaFailure.of(KafkaError(code))

    async def send(self, records: Sequence[OutgoingRecord]) -> list[Delivered | KafkaFailure]:
        return [(0, 7, None), *[self._failure for _ in records[1:]]]


def request(body: object) -> Request:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode()}

    scope = {
        "type": "http",
        "method": "POST",
        "headers": [(b"content-type", b"application/vnd.kafka.json.v2+json")],
        "path_params": {"topic": "t"},
    }
    return Request(scope, receive, "id", BodyLimits(), BodyBudget(BodyLimits().total_max_bytes))


@pytest.mark.parametrize(
    ("kafka", "status", "code"),
    [
        (KafkaError.SASL_AUTHENTICATION_FAILED, 401, 40101),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, 403, 40301),
        (KafkaError.NOT_ENOUGH_REPLICAS, 200, 50003),
        (KafkaError.INVALID_RECORD, 200, 50002),
    ],
)
def test_only_a_denial_shows_in_the_status(kafka: int, status: int, code: int) -> None:
    async def answered() -> tuple[int, list[dict[str, Any]]]:
        formats = Formats(resolve(REST_CATALOGUE, {"schema.registry.url": "http://127.0.0.1:1"}, {}))
        clients = SimpleNamespace(producer=DeniedProducer(kafka), reachability=Reachability())
        proxy = SimpleNamespace(formats=formats, clients=clients, record_log=RecordLog(NO_REQUESTS))
        produce = Produce(cast("Proxy", proxy))
        response = await produce.to_topic(request({"records": [{"value": 1}, {"value": 2}]}))
        await formats.stop()
        return response.status_code, json.loads(bytes(response.body))["offsets"]

    found, (first, second) = asyncio.run(answered())
    assert found == status
    assert first == {"partition": 0, "offset": 7, "error_code": None, "error": None}
    assert (second["partition"], second["offset"], second["error_code"]) == (None, None, code)
    assert second["error"]
