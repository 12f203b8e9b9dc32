"""Whether services do what their OpenAPI documents say, whatever they are asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from itertools import product
from typing import Any

import jsonschema_rs
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

PATH = "/openapi.json"
TIMEOUT_S = 90.0
ANY = "*/*"
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
DELETING = ("DELETE", "PATCH")


def fetched(url: str) -> dict[str, Any]:
    """The document as a service serves it."""
    response = requests.get(f"{url}{PATH}", timeout=TIMEOUT_S)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json"), response.text
    document: dict[str, Any] = response.json()
    assert document.pop("servers") == [{"url": url}]
    return document


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each operation by its method and path."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def check_document(document: Mapping[str, Any]) -> None:
    """It is valid, its operations have different ids, and its schemas are neither missing nor unused."""
    schemathesis.openapi.from_dict(dict(document)).validate()
    shapes = document["components"]["schemas"]
    for name, shape in shapes.items():
        assert jsonschema_rs.meta.is_valid(shape), name
    assert set(_references(document)) == {f"#/components/schemas/{name}" for name in shapes}
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(ids)) == len(ids)
    assert all(operation["summary"] for _, operation in operations(document))


@dataclass(frozen=True, slots=True)
class Target:
    """A service to ask. `names` are values of path parameters that exist there; `adapt` changes requests that would do harm."""

    url: str
    names: Mapping[str, Any]
    adapt: Callable[[Case[Any]], None] = lambda _case: None
    always: Collection[str] = ()
    """The names that requests which delete may have as well."""

    def call(self, session: requests.Session, case: Case[Any], *, is_real: bool) -> None:
        """`is_real`: about what exists, unless the request deletes."""
        may_harm = not is_real or case.method.upper() in DELETING
        known = {name: self.names[name] for name in self.always} if may_harm else self.names
        case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
        self.ask(session, case)

    def ask(self, session: requests.Session, case: Case[Any], accepted: str = ANY) -> int:
        """Compare the response with the document, and return its status. A result must be of the type that the request accepts."""
        self.adapt(case)
        headers = {"Accept": accepted}
        response = case.call(base_url=self.url, session=session, timeout=TIMEOUT_S, headers=headers)
        may_fail = _may_fail(case.operation.definition.raw["responses"])
        case.validate_response(response, checks=CHECKS if may_fail else [*CHECKS, not_a_server_error])
        if accepted != ANY and response.status_code == HTTPStatus.OK:
            assert response.headers["content-type"][0].startswith(accepted), response.headers
        return response.status_code


def check_examples(target: Target, left_out: Collection[str] = ()) -> None:
    """Ask as clients do: about what exists, with the example of each body, which must be accepted unless it conflicts with what exists."""
    _check_each(target, left_out, lambda session, operation: _check_example(target, session, operation))


def check_responses(target: Target, examples: int, left_out: Collection[str] = ()) -> None:
    """Ask each operation `examples` times, with requests that fit the document and others. They are the same in each run."""
    _check_each(target, left_out, lambda session, operation: _check_operation(target, session, operation, examples))


def _check_each(target: Target, left_out: Collection[str], check: Callable[[requests.Session, Any], None]) -> None:
    document = fetched(target.url)
    known = dict(operations(document))
    assert set(left_out) <= set(known)
    schema = schemathesis.openapi.from_dict(document)
    failures = []
    with requests.Session() as session:
        for label in known:
            if label in left_out:
                continue
            method, path = label.split(" ")
            try:
                check(session, schema[path][method.lower()])
            except (Exception, FailureGroup) as problem:  # noqa: BLE001 - all operations are asked before the test fails
                failures.append(f"{label}: {problem}")
    assert not failures, "\n\n".join(failures)


def _check_example(target: Target, session: requests.Session, operation: Any) -> None:
    described = operation.definition.raw
    wanted = {parameter["name"] for parameter in described["parameters"] if parameter["in"] == "path"}
    if operation.method.upper() in DELETING or not wanted <= set(target.names):
        return
    names = {name: target.names[name] for name in wanted}
    body = described.get("requestBody")
    if body is None:
        for accepted in (ANY, *_types(described)):
            target.ask(session, operation.Case(path_parameters=dict(names)), accepted)
        return
    examples = {name: content["example"] for name, content in body["content"].items() if "example" in content}
    for media_type, example in examples.items():
        case = operation.Case(path_parameters=dict(names), body=example, media_type=media_type)
        status = target.ask(session, case)
        is_accepted = status < HTTPStatus.BAD_REQUEST or status == HTTPStatus.CONFLICT
        assert is_accepted, f"the example of {media_type} is rejected: {status}"
    for (media_type, example), accepted in product(list(examples.items())[:1], _types(described)):
        case = operation.Case(path_parameters=dict(names), body=example, media_type=media_type)
        target.ask(session, case, accepted)


def _types(described: Mapping[str, Any]) -> list[str]:
    return list(described["responses"].get("200", {}).get("content", ()))


def _check_operation(target: Target, session: requests.Session, operation: Any, examples: int) -> None:
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategies.one_of(modes), is_real=strategies.booleans())
    def ask_as_described(case: Case[Any], is_real: bool) -> None:
        target.call(session, case, is_real=is_real)

    ask_as_described()


def _may_fail(responses: Mapping[str, Any]) -> bool:
    """Whether an operation is not implemented, or says how the service is: a server error is then no mistake."""
    state = responses.get("503", {}).get("content")
    return "501" in responses or (state is not None and state == responses.get("200", {}).get("content"))


def _references(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "$ref" in value:
            yield value["$ref"]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
