"""The service answers as its OpenAPI document says, whatever it is asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from barnabas.kernel.settings import resolve
from rest_proxy.openapi.document import document
from rest_proxy.settings import REST_CATALOGUE
from tests.registry import ask

EXAMPLES = 4
"""For each operation; they are the same in each run."""
TIMEOUT_S = 90.0
V2 = {"Content-Type": "application/vnd.kafka.v2+json"}
V3 = {"Content-Type": "application/json"}

STREAMS = {
    ("GET", "/v3/clusters/{cluster_id}/topics/{topic_name}/records"): "it does not end",
    ("POST", "/v3/clusters/{cluster_id}/topics/{topic_name}/records"): "bodies are many objects, not one JSON text",
}
NOT_IMPLEMENTED = "(not implemented)"
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


def operations() -> Iterator[Any]:
    described = document(resolve(REST_CATALOGUE, {}, {}))
    schema = schemathesis.openapi.from_dict(described)
    for path, methods in described["paths"].items():
        for method in methods:
            if (method.upper(), path) not in STREAMS:
                yield pytest.param(schema[path][method], id=f"{method.upper()} {path}")


@dataclass(frozen=True, slots=True)
class Place:
    """A service with a topic and an instance that reads it."""

    url: str
    session: requests.Session
    names: dict[str, Any]

    def call(self, case: Case[Any], *, is_real: bool) -> None:
        """`is_real`: of things that are there. What deletes them is not let near them."""
        is_destructive = case.method.upper() in ("DELETE", "PATCH")
        known = self.names if is_real and not is_destructive else {"cluster_id": self.names["cluster_id"]}
        case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
        if case.path.endswith("/topics") and isinstance(case.body, dict):
            # Topics of a hundred thousand partitions are allowed.
            case.body["validate_only"] = True
        if case.path.endswith("/records"):
            case.query["timeout"] = "1"
        response = case.call(base_url=self.url, session=self.session, timeout=TIMEOUT_S)
        is_refused = NOT_IMPLEMENTED in case.operation.definition.raw["summary"]
        case.validate_response(response, checks=CHECKS if is_refused else [*CHECKS, not_a_server_error])


@pytest.fixture(scope="module")
def place(rest_url: str) -> Iterator[Place]:
    (cluster,) = ask(rest_url, "GET", "/v3/clusters").body["data"]
    below = f"/v3/clusters/{cluster['cluster_id']}"
    created = ask(rest_url, "POST", f"{below}/topics", {"topic_name": "conformance", "partitions_count": 1}, V3)
    assert created.status == 201, created.raw
    broker_id = ask(rest_url, "GET", f"{below}/brokers").body["data"][0]["broker_id"]
    opened = ask(rest_url, "POST", "/consumers/conformance", {"id": "reader"}, V2)
    assert opened.status == 200, opened.raw
    instance = "/consumers/conformance/instances/reader"
    first = {"topic": "conformance", "partition": 0}
    ask(rest_url, "POST", f"{instance}/assignments", {"partitions": [first]}, V2)
    ask(rest_url, "POST", f"{instance}/offsets", {"offsets": [{**first, "offset": 0}]}, V2)
    names = {"cluster_id": cluster["cluster_id"], "broker_id": broker_id, "name": "retention.ms"}
    names |= dict.fromkeys(("topic", "topic_name", "group", "group_id"), "conformance")
    names |= {"instance": "reader", "partition": 0, "partition_id": 0}
    with requests.Session() as session:
        yield Place(rest_url, session, names)
    ask(rest_url, "DELETE", instance)


@pytest.mark.parametrize("operation", list(operations()))
def test_answers_are_as_described(operation: APIOperation[Any, Any, Any, Any], place: Place) -> None:
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategies.one_of(modes), is_real=strategies.booleans())
    def ask_as_described(case: Case[Any], is_real: bool) -> None:
        place.call(case, is_real=is_real)

    ask_as_described()
