"""Rules of access, on brokers that have none."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka.admin import AclBinding  # type: ignore[attr-defined] # Its types do not say what it exports.

from rest_proxy.v3.acl import NEW_ACL, Acl
from rest_proxy.v3.members import Members
from tests.rest_proxy.v3.v3_service import V3Service

RULE = {
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "PREFIXED",
    "principal": "User:alice",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
PATTERN = "resource_type=TOPIC&pattern_type=LITERAL&operation=ANY&permission=ANY"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/acls", None),
        ("GET", "/acls?resource_type=topic&principal=User:alice", None),
        ("POST", "/acls", RULE),
        ("POST", "/acls:batch", {"data": [RULE, RULE]}),
        ("DELETE", f"/acls?{PATTERN}", None),
    ],
)
def test_a_broker_without_rules_says_so(v3: V3Service, method: str, path: str, body: object) -> None:
    answer = v3.ask(method, path, body)
    assert (answer.status, answer.code) == (400, 40002)
    assert "authorizer" in answer.body["message"].lower()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/acls?resource_type=nope", None, 404, 404),
        ("GET", "/acls?resource_type=UNKNOWN", None, 400, 400),
        ("GET", "/acls?operation=", None, 404, 404),
        ("DELETE", "/acls", None, 400, 400),
        ("DELETE", "/acls?resource_type=TOPIC&pattern_type=LITERAL&operation=READ", None, 400, 400),
        ("POST", "/acls", None, 422, 42206),
        ("POST", "/acls", {**RULE, "nope": 1}, 422, 422),
        ("POST", "/acls", {**RULE, "principal": None}, 400, 400),
        ("POST", "/acls", {**RULE, "principal": "User:alice\0"}, 400, 400),
        ("POST", "/acls", {**RULE, "resource_type": "topic"}, 400, 400),
        ("POST", "/acls", {**RULE, "resource_type": "ANY"}, 400, 400),
        ("POST", "/acls", {**RULE, "pattern_type": "MATCH"}, 400, 400),
        ("POST", "/acls", {**RULE, "operation": "UNKNOWN"}, 400, 400),
        ("POST", "/acls:batch", {}, 422, 42206),
        ("POST", "/acls:batch", {"data": [{}]}, 400, 400),
    ],
)
def test_bad_rules_are_refused(v3: V3Service, method: str, path: str, body: object, status: int, code: int) -> None:
    answer = v3.ask(method, path, body)
    assert (answer.status, answer.code) == (status, code), answer.raw


def test_no_rule_is_created_from_none(v3: V3Service) -> None:
    assert v3.ask("POST", "/acls:batch", {"data": []}).status == 204


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"resource_type": "CLUSTER", "resource_name": "kafka-cluster", "operation": "CLUSTER_ACTION"},
        {"resource_type": "TRANSACTIONAL_ID", "permission": "DENY", "pattern_type": "LITERAL"},
    ],
)
def test_a_rule_survives_the_way_to_the_client_library_and_back(change: dict[str, Any]) -> None:
    rule = {**RULE, **change}
    binding = Acl.of_members(Members(rule, "the rule", NEW_ACL)).binding()
    assert isinstance(binding, AclBinding)
    assert Acl.of_binding(binding).members() == rule
