"""Configurations and modes, and where they hold."""

from __future__ import annotations

import pytest

from tests.registry import RegistryProcess
from tests.schema_registry.http.conftest import Space, record

ONE = record("A", ("x", "int"))
BREAKING = record("A", ("x", "int"), ("z", "string"))
RULE = {"name": "a", "kind": "CONDITION", "mode": "WRITE", "type": "CEL"}


def test_a_configuration_holds_for_its_scope(space: Space) -> None:
    assert space.get("/config?defaultToGlobal=true") == {"compatibilityLevel": "BACKWARD"}
    assert space.ask("GET", "/config/s").code == 40408
    assert space.ask("PUT", "/config", {"compatibility": "full"}).body == {"compatibility": "FULL"}
    assert space.get("/config/s?defaultToGlobal=true") == {"compatibilityLevel": "FULL"}
    assert space.ask("PUT", "/config/s", {"compatibility": "NONE", "normalize": True}).status == 200
    assert space.get("/config/s") == {"normalize": True, "compatibilityLevel": "NONE"}
    assert space.ask("PUT", "/config/s", {"normalize": None}).body == {"compatibility": "NONE"}
    assert space.ask("DELETE", "/config/s").body == {"compatibilityLevel": "NONE"}
    assert space.ask("DELETE", "/config/s").code == 40401


@pytest.mark.parametrize(
    ("level", "allowed"),
    [("NONE", True), ("BACKWARD", False), ("FORWARD", True), ("FULL", False), ("FORWARD_TRANSITIVE", True)],
)
def test_levels(space: Space, level: str, allowed: bool) -> None:
    space.register("s", ONE)
    space.ask("PUT", "/config/s", {"compatibility": level})
    assert space.ask("POST", "/subjects/s/versions", {"schema": BREAKING}).status == (200 if allowed else 409)


def test_transitive_levels_look_at_every_version(space: Space) -> None:
    older = record("A", ("x", "int"), ("y", "int", 0))
    newer = record("A", ("x", "int"))
    text = record("A", ("x", "int"), ("y", "string", ""))
    for one in (older, newer):
        space.register("s", one)
    for level, compatible in (("BACKWARD", True), ("BACKWARD_TRANSITIVE", False)):
        space.ask("PUT", "/config/s", {"compatibility": level})
        answer = space.ask("POST", "/compatibility/subjects/s/versions", {"schema": text})
        assert answer.body == {"is_compatible": compatible}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"compatibility": "SOMETIMES"}, 422, 42203),
        ({"compatibility": 1}, 422, 42203),
        ({"compatibilityPolicy": "HARSH"}, 422, 42203),
        ({"normalize": "perhaps"}, 400, 400),
        ({"defaultRuleSet": {"domainRules": [RULE | {"mode": "UPGRADE"}]}}, 422, 42210),
        ({"defaultRuleSet": {"domainRules": [RULE | {"kind": None}]}}, 422, 42210),
        ([], 400, 400),
    ],
)
def test_configurations_that_cannot_be(space: Space, body: object, status: int, code: int) -> None:
    answer = space.ask("PUT", "/config/s", body)
    assert (answer.status, answer.code) == (status, code)
    assert space.ask("GET", "/config/s").code == 40408


def test_what_the_configuration_adds_to_schemas(space: Space) -> None:
    additions = {
        "defaultMetadata": {"properties": {"owner": "nobody", "team": "a"}},
        "overrideMetadata": {"properties": {"team": "b"}},
    }
    space.ask("PUT", "/config/s", additions)
    space.register("s", ONE, metadata={"properties": {"owner": "me", "team": "c"}})
    assert space.get("/subjects/s/versions/1")["metadata"]["properties"] == {"owner": "me", "team": "b"}


def test_only_versions_of_the_same_group_are_compared(space: Space) -> None:
    space.ask("PUT", "/config/s", {"compatibilityGroup": "major"})
    space.register("s", ONE, metadata={"properties": {"major": "1"}})
    body = {"schema": BREAKING, "metadata": {"properties": {"major": "1"}}}
    assert space.ask("POST", "/subjects/s/versions", body).status == 409
    space.register("s", BREAKING, metadata={"properties": {"major": "2"}})


def test_reserved_fields(space: Space) -> None:
    space.ask("PUT", "/config/s", {"validateFields": True})
    reserved = {"properties": {"confluent:reserved": "y, z"}}
    space.register("s", ONE, metadata=reserved)
    text = record("A", ("x", "int"), ("y", "int", 0))
    answer = space.ask("POST", "/subjects/s/versions", {"schema": text, "metadata": reserved})
    assert (answer.status, "conflicts with the reserved field y" in answer.body["message"]) == (409, True)


def test_an_alias_stands_for_its_subject(space: Space) -> None:
    space.register("s", ONE)
    space.ask("PUT", "/config/nick", {"alias": "s"})
    assert space.get("/subjects/nick/versions") == [1]
    assert space.ask("POST", "/subjects/nick", {"schema": ONE}).body["subject"] == f"{space.prefix}s"
    assert space.get("/schemas?aliases=true&subjectPrefix=nick")[0]["aliases"] == [f"{space.prefix}nick"]


@pytest.mark.parametrize("mode", ["READONLY", "READONLY_OVERRIDE"])
def test_read_only(space: Space, mode: str) -> None:
    space.register("s", ONE)
    assert space.ask("PUT", "/mode/s", {"mode": mode}).body == {"mode": mode}
    assert space.ask("POST", "/subjects/s/versions", {"schema": BREAKING}).code == 42205
    assert space.ask("DELETE", "/subjects/s").code == 42205
    assert space.ask("PUT", "/config/s", {"compatibility": "NONE"}).code == 42205
    assert space.ask("DELETE", "/mode/s").body == {"mode": mode}
    assert space.ask("GET", "/mode/s").code == 40409
    assert space.ask("DELETE", "/subjects/s").body == [1]


def test_an_import_needs_room(space: Space) -> None:
    space.register("s", ONE)
    assert space.ask("PUT", "/mode/s", {"mode": "IMPORT"}).code == 42205
    assert space.ask("PUT", "/mode/s?force=true", {"mode": "IMPORT"}).status == 200
    assert space.ask("DELETE", "/mode?recursive=true").status == 200
    space.ask("DELETE", "/subjects/s")
    assert space.ask("PUT", "/mode", {"mode": "IMPORT"}).status == 200
    assert space.get("/subjects?deleted=true") == [], "what was deleted softly made room"


@pytest.mark.parametrize("body", [{"mode": "FORWARD"}, {"mode": "sometimes"}, {"mode": 7}, {}])
def test_modes_that_cannot_be(space: Space, body: dict[str, object]) -> None:
    assert space.ask("PUT", "/mode/s", body).code == 42204


def test_a_mode_that_is_null_goes(space: Space) -> None:
    space.ask("PUT", "/mode/s", {"mode": "READONLY"})
    assert space.ask("PUT", "/mode/s", {"mode": None}).body == {"mode": None}
    assert space.ask("GET", "/mode/s").code == 40409


def test_contexts(space: Space) -> None:
    space.register("s", ONE)
    plain = space.registry.ask
    assert space.name in plain("GET", "/contexts").body
    assert plain("GET", f"/contexts?contextPrefix={space.name}").body == [space.name]
    assert plain("GET", f"/subjects/{space.prefix}s/versions").body == [1]
    assert plain("GET", f"/schemas/ids/1?subject={space.prefix}s").body["schema"] == ONE
    assert plain("GET", f"/schemas?subjectPrefix={space.prefix}").body == space.get("/schemas")
    assert plain("DELETE", f"/contexts/{space.name}").code == 42211
    for query in ("", "?permanent=true"):
        space.ask("DELETE", f"/subjects/s{query}")
    assert plain("DELETE", f"/contexts/{space.name}").status == 204
    assert space.name not in plain("GET", "/contexts").body


def test_a_subject_without_context_is_found_in_all(space: Space) -> None:
    subject = space.name.removeprefix(".")
    space.register(subject, ONE)
    assert space.registry.ask("GET", f"/subjects/{subject}/versions/1").body["subject"] == f"{space.prefix}{subject}"
    assert space.registry.ask("POST", f"/subjects/{subject}", {"schema": ONE}).body["id"] == 1


def test_what_means_nothing_in_another_context_is_not_found_there(space: Space) -> None:
    subject = space.name.removeprefix(".")
    space.register(subject, ONE)
    plain = space.registry.ask
    assert plain("POST", f"/subjects/{subject}-leaf/versions", {"schema": ONE}).status == 200
    body = {
        "schema": record("Tree", ("leaf", "A")),
        "references": [{"name": "A", "subject": f"{subject}-leaf", "version": 1}],
    }
    assert plain("POST", f"/subjects/{subject}", body).code == 40401


@pytest.mark.parametrize("subject", ["__GLOBAL", "__EMPTY", "a%00b", ":.__GLOBAL:s", ":*:s"])
def test_subjects_that_cannot_be(registry: RegistryProcess, subject: str) -> None:
    assert registry.ask("POST", f"/subjects/{subject}/versions", {"schema": ONE}).code == 42208


def test_a_context_with_a_colon_cannot_be(registry: RegistryProcess) -> None:
    answer = registry.ask("GET", "/contexts/a:b/subjects")
    assert (answer.status, answer.code) == (400, 400)
