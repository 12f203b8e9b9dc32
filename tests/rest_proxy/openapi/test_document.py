"""The OpenAPI document: valid, and neither more nor less than what is served."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis

from barnabas.kernel.http.router import Route
from barnabas.kernel.settings import Settings, resolve
from rest_proxy.assembly import Instance
from rest_proxy.openapi.docs_page import PAGE
from rest_proxy.openapi.document import document
from rest_proxy.settings import REST_CATALOGUE
from tests.registry import ask

NOBODY = "127.0.0.1:1"
APIS = {
    "both": {},
    "v2 alone": {"api.v3.enable": "false"},
    "v3 alone": {"api.v2.enable": "false"},
}


def settings_of(apis: str) -> Settings:
    return resolve(REST_CATALOGUE, {"bootstrap.servers": NOBODY, **APIS[apis]}, {})


async def served(settings: Settings) -> list[Route]:
    instance = Instance(settings)
    try:
        return list(instance.routes())
    finally:
        await instance.stop()


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


@pytest.mark.parametrize("apis", APIS)
def test_the_document_has_every_route_and_no_other(apis: str) -> None:
    settings = settings_of(apis)
    described = {(method.upper(), path) for path, methods in document(settings)["paths"].items() for method in methods}
    assert described == {(route.method, route.template) for route in asyncio.run(served(settings))}


@pytest.mark.parametrize("apis", APIS)
def test_the_document_is_valid(apis: str) -> None:
    found = document(settings_of(apis))
    schemathesis.openapi.from_dict(found).validate()
    shapes = found["components"]["schemas"]
    for name, shape in shapes.items():
        assert jsonschema_rs.meta.is_valid(shape), name
    assert set(references(found)) == {f"#/components/schemas/{name}" for name in shapes}


def test_the_ids_of_operations_differ() -> None:
    paths = document(settings_of("both"))["paths"]
    ids = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)


def test_the_service_tells_the_document(rest_url: str) -> None:
    answer = ask(rest_url, "GET", "/openapi.json")
    assert (answer.status, answer.body) == (200, {**document(settings_of("both")), "servers": [{"url": rest_url}]})


def members_of(shape: dict[str, Any]) -> set[str]:
    """The names that a shape knows, those of the objects in it among them."""
    own = shape.get("properties", {})
    within = [*own.values(), *shape.get("anyOf", ()), shape.get("items", {})]
    return set(own).union(*map(members_of, filter(None, within)))


@pytest.mark.parametrize("name", ["Receipt", "BatchReceipts"])
def test_what_receipts_tell_of_a_record_is_described(name: str) -> None:
    shapes = document(settings_of("both"))["components"]["schemas"]
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


def test_each_type_of_a_body_has_a_shape_of_its_own() -> None:
    """Generators of clients name what they make by the shapes."""
    for path, methods in document(settings_of("both"))["paths"].items():
        for operation in methods.values():
            content = operation.get("requestBody", {"content": {}})["content"]
            shapes = [each["schema"]["$ref"] for each in content.values()]
            assert len(set(shapes)) == len(shapes), path
