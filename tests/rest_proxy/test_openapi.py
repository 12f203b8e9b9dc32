"""The OpenAPI document of the REST proxy, and whether the proxy does what it says."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from schemathesis import Case

from barnabas.kernel.http.openapi import document
from barnabas.kernel.settings import resolve
from rest_proxy.api import API
from rest_proxy.assembly import Instance
from rest_proxy.docs_page import PAGE
from rest_proxy.settings import REST_CATALOGUE
from tests.openapi import Target, check_document, check_examples, check_responses, fetched, operations
from tests.registry import ask

NO_BROKER = "127.0.0.1:1"
APIS = {
    "both": {},
    "v2 only": {"api.v3.enable": "false"},
    "v3 only": {"api.v2.enable": "false"},
}
V2 = {"Content-Type": "application/vnd.kafka.v2+json"}
V3 = {"Content-Type": "application/json"}
STREAMS = (
    # It does not end.
    "GET /v3/clusters/{cluster_id}/topics/{topic_name}/records",
    # Bodies are many objects, not one JSON value.
    "POST /v3/clusters/{cluster_id}/topics/{topic_name}/records",
)


async def described(apis: str) -> dict[str, Any]:
    instance = Instance(resolve(REST_CATALOGUE, {"bootstrap.servers": NO_BROKER, **APIS[apis]}, {}))
    try:
        return document(API, instance.routes())
    finally:
        await instance.stop()


@pytest.fixture(scope="module")
def served(rest_url: str) -> dict[str, Any]:
    return fetched(rest_url)


@pytest.mark.parametrize("apis", APIS)
def test_the_document_is_valid_whichever_apis_are_enabled(apis: str) -> None:
    found = asyncio.run(described(apis))
    check_document(found)
    paths = found["paths"]
    assert (any(path.startswith("/v3") for path in paths), "/topics" in paths) == (apis != "v2 only", apis != "v3 only")


def members_of(shape: dict[str, Any]) -> set[str]:
    """The names of an object's members, those of the objects in it among them."""
    own = shape.get("properties", {})
    within = [*own.values(), *shape.get("anyOf", ()), shape.get("items", {})]
    return set(own).union(*map(members_of, filter(None, within)))


@pytest.mark.parametrize("name", ["Receipt", "BatchReceipts"])
def test_the_members_of_receipts_are_described(name: str, served: dict[str, Any]) -> None:
    shapes = served["components"]["schemas"]
    assert members_of(shapes[name]) >= {
        "cluster_id",
        "topic_name",
        "partition_id",
        "offset",
        "timestamp",
        "key",
        "value",
    }
    assert members_of(shapes["WrittenData"]) == {"type", "subject", "schema_id", "schema_version", "size"}


def test_the_page_asks_for_nothing_but_the_document(rest_url: str) -> None:
    answer = ask(rest_url, "GET", "/docs")
    assert (answer.status, answer.raw.decode()) == (200, PAGE)
    assert answer.headers["content-type"].startswith("text/html")
    addresses = re.findall(r"""(?:href|src)="([^"]*)"|fetch\("([^"]*)"\)|(https?:[^\s"]*)|@import""", PAGE)
    assert {"".join(each) for each in addresses} == {"data:,", "openapi.json"}


def test_a_browser_is_led_to_the_page(rest_url: str) -> None:
    led = ask(rest_url, "GET", "/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (led.status, led.headers["location"]) == (303, "docs")
    assert ask(rest_url, "GET", "/", headers={"Accept": "*/*"}).body == {}


def test_each_type_of_a_body_has_its_own_schema(served: dict[str, Any]) -> None:
    """Generators of clients name what they make by the schemas."""
    for label, operation in operations(served):
        content = operation.get("requestBody", {"content": {}})["content"]
        shapes = [each["schema"]["$ref"] for each in content.values()]
        assert len(set(shapes)) == len(shapes), label


@pytest.fixture(scope="module")
def target(rest_url: str, registry_url: str) -> Iterator[Target]:
    """The proxy with a topic and an instance that reads it."""
    # The examples of all formats go to one topic.
    ask(registry_url, "PUT", "/config/conformance-value", {"compatibility": "NONE"})
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
    yield Target(rest_url, names, harmless, always=("cluster_id",))
    ask(rest_url, "DELETE", instance)


def harmless(case: Case[Any]) -> None:
    if case.path.endswith("/topics") and isinstance(case.body, dict):
        # Topics of a hundred thousand partitions are allowed.
        case.body["validate_only"] = True
    if case.path.endswith("/records"):
        case.query["timeout"] = "1"


def test_examples_are_accepted(target: Target) -> None:
    check_examples(target, STREAMS)


@pytest.mark.parametrize("examples", [3, pytest.param(30, marks=pytest.mark.long)])
def test_responses_are_as_described(examples: int, target: Target) -> None:
    check_responses(target, examples, STREAMS)
