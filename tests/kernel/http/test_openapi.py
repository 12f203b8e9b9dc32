"""The OpenAPI document of a service's routes."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from barnabas.kernel.http.openapi import PATH, Api, document, with_document
from barnabas.kernel.http.operation import ERROR, NO_BODY, Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import (
    BOOLEAN,
    INT32,
    NAME,
    STRING,
    Shape,
    closed_object,
    list_of,
    nullable,
    open_object,
    ref,
)
from tests.kernel.http.service import Service
from tests.openapi import check_document

API = Api("Trees", "7", "Trees and their leaves.", {"tree": (NAME, "A tree."), "leaf": (INT32, "A leaf.")})
LEAF = Shape("Leaf", open_object({"number": INT32}, {"of": nullable(ref("Tree"))}))
TREE = Shape("Tree", open_object({"name": STRING, "leaves": list_of(LEAF)}))
NEW_TREE = Shape("NewTree", closed_object({"name": STRING}))
NOT_FOUND = {404: content(ERROR)}
GET = Operation("getTree", "Trees", "Get a tree", {200: content(TREE), **NOT_FOUND})
PUT = Operation(
    "putTree",
    "Trees",
    "Plant a tree",
    {204: NO_BODY, **NOT_FOUND},
    (Parameter("dry", BOOLEAN, "Only check it."), Parameter("X-Who", STRING, "Who plants it.", "header")),
    content(NEW_TREE, "application/json", "application/tree+json", example={"name": "oak"}),
    needs_body=False,
)
GET_LEAF = Operation("getLeaf", "Leaves", "Get a leaf", {200: content(LEAF)})


async def handle(_request: Request) -> Response:
    return Response()


ROUTES = [
    Route("GET", "/trees/{tree}", handle, GET),
    Route("PUT", "/trees/{tree}", handle, PUT),
    Route("GET", "/trees/{tree}/leaves/{leaf}", handle, GET_LEAF),
]


def test_a_document_describes_every_route() -> None:
    found = document(API, ROUTES)
    check_document(found)
    assert found["info"] == {"title": "Trees", "version": "7", "description": "Trees and their leaves."}
    assert found["tags"] == [{"name": "Trees"}, {"name": "Leaves"}]
    assert {path: set(methods) for path, methods in found["paths"].items()} == {
        "/trees/{tree}": {"get", "put"},
        "/trees/{tree}/leaves/{leaf}": {"get"},
    }


def test_an_operation_has_its_parameters_body_and_responses() -> None:
    body = {"schema": {"$ref": "#/components/schemas/NewTree"}, "example": {"name": "oak"}}
    error = {"schema": {"$ref": "#/components/schemas/Error"}}
    assert document(API, ROUTES)["paths"]["/trees/{tree}"]["put"] == {
        "tags": ["Trees"],
        "operationId": "putTree",
        "summary": "Plant a tree",
        "parameters": [
            {"name": "tree", "in": "path", "description": "A tree.", "required": True, "schema": NAME},
            {"name": "dry", "in": "query", "description": "Only check it.", "schema": BOOLEAN},
            {"name": "X-Who", "in": "header", "description": "Who plants it.", "schema": STRING},
        ],
        "requestBody": {
            "required": False,
            "content": {"application/json": body, "application/tree+json": body},
        },
        "responses": {
            "204": {"description": "No Content"},
            "404": {"description": "Not Found", "content": {"application/json": error}},
        },
    }


def test_schemas_are_those_that_routes_refer_to() -> None:
    assert set(document(API, ROUTES)["components"]["schemas"]) == {"Error", "Leaf", "NewTree", "Tree"}
    assert set(document(API, ROUTES[2:])["components"]["schemas"]) == {"Leaf"}


def test_two_schemas_cannot_have_one_name() -> None:
    other = Operation("other", "Trees", "Another", {200: content(Shape("Tree", STRING))})
    with pytest.raises(AssertionError, match="two schemas are named Tree"):
        document(API, [*ROUTES, Route("POST", "/trees", handle, other)])


def test_a_parameter_of_a_path_must_be_described() -> None:
    with pytest.raises(KeyError, match="root"):
        document(API, [Route("GET", "/roots/{root}", handle, GET)])


def test_a_shape_knows_its_members() -> None:
    assert NEW_TREE.members == {"name"}
    assert LEAF.members == {"number", "of"}
    assert Shape("Text", STRING).members == frozenset()


def test_the_document_is_served_with_the_address_that_the_client_has_used() -> None:
    routes = with_document(API, ROUTES)
    with Service(routes) as service:
        for host in (f"127.0.0.1:{service.port}", "trees.example"):
            answer = service.ask("GET", PATH, host=host)
            assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
            assert answer.json == {**document(API, routes), "servers": [{"url": f"http://{host}"}]}
            assert answer.json["paths"][PATH]["get"]["operationId"] == "getOpenApi"


def test_a_service_may_know_its_address_better() -> None:
    with Service(with_document(API, ROUTES, lambda _request: "https://trees.example")) as service:
        assert service.ask("GET", PATH).json["servers"] == [{"url": "https://trees.example"}]
