"""Registering, looking up, listing and deleting."""

from __future__ import annotations

import pytest

from tests.schema_registry.http.conftest import Space, record

ONE = record("A", ("x", "int"))
TWO = record("A", ("x", "int"), ("y", "string", ""))
THREE = record("A", ("x", "int"), ("y", "string", ""), ("z", "int", 0))
BREAKING = record("A", ("x", "int"), ("z", "string"))


def test_a_new_schema_gets_the_next_id_and_version(space: Space) -> None:
    assert space.register("s", ONE) == 1
    assert space.register("s", TWO) == 2
    assert space.get("/subjects/s/versions") == [1, 2]


def test_what_is_registered_already_keeps_its_version(space: Space) -> None:
    spread = ONE.replace(",", " ,\n ")
    assert [space.register("s", text) for text in (ONE, spread, ONE)] == [1, 1, 1]
    assert space.get("/subjects/s/versions") == [1]


def test_the_same_schema_has_one_id_in_all_subjects(space: Space) -> None:
    assert [space.register(subject, ONE) for subject in ("s", "t")] == [1, 1]
    assert space.get("/schemas/ids/1/versions") == [
        {"subject": f"{space.prefix}{subject}", "version": 1} for subject in ("s", "t")
    ]
    assert space.get("/schemas/ids/1/subjects") == [f"{space.prefix}s", f"{space.prefix}t"]
    assert space.get("/schemas/ids/1?includeSubjects=True")["subjects"] == [f"{space.prefix}s", f"{space.prefix}t"]


def test_new_members_are_told_to_clients_that_bear_them(space: Space) -> None:
    modern = space.ask("POST", "/subjects/s/versions", {"schema": ONE}).body
    assert list(modern) == ["id", "version", "guid", "schemaType", "schema"]
    assert space.ask("POST", "/subjects/s/versions", {"schema": ONE}, modern=False).body == {"id": 1}
    members = ["subject", "version", "id", "guid", "schemaType", "schema", "ts", "deleted"]
    assert list(space.ask("GET", "/subjects/s/versions/1").body) == members
    space.register("t", ONE, metadata={"properties": {"owner": "me"}})
    members = ["subject", "version", "guid", "schemaType", "schema", "metadata", "ts", "deleted"]
    assert list(space.ask("GET", "/schemas/ids/2").body) == members
    assert list(space.ask("GET", "/subjects/s/versions/1", modern=False).body) == [
        "subject",
        "version",
        "id",
        "schema",
    ]


def test_who_says_which_version_it_is_bears_them_too(space: Space) -> None:
    space.register("s", ONE)
    path = f"/contexts/{space.name}/subjects/s/versions/1"
    plain = space.registry.ask("GET", path, modern=False)
    told = space.registry.ask("GET", path, headers={"Confluent-Client-Version": "python/2.16.0"}, modern=False)
    assert ("guid" in plain.body, "guid" in told.body) == (False, True)


def test_an_incompatible_schema_is_refused_and_leaves_no_trace(space: Space) -> None:
    space.register("s", ONE)
    answer = space.ask("POST", "/subjects/s/versions", {"schema": BREAKING})
    assert (answer.status, answer.code) == (409, 409)
    assert "Schema being registered is incompatible with an earlier schema" in answer.body["message"]
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in answer.body["message"]
    assert space.get("/subjects/s/versions") == [1]
    assert space.ask("POST", "/subjects/s/versions?force=true", {"schema": BREAKING}).status == 200


def test_the_same_text_in_another_format_is_another_schema(space: Space) -> None:
    text = '{"type": "array", "items": "string"}'
    space.register("s", text)
    json_schema = {"schema": '{"type":"array","items":"string"}', "schemaType": "JSON"}
    assert space.ask("POST", "/subjects/s/versions", json_schema).code == 42201, "it is no JSON Schema"
    space.register("t", '"string"')
    assert space.ask("POST", "/subjects/t", {"schema": '"string"', "schemaType": "JSON"}).code == 40403


def test_look_up(space: Space) -> None:
    space.register("s", ONE)
    found = space.ask("POST", "/subjects/s", {"schema": ONE.replace(":", ": ")})
    assert (found.body["id"], found.body["version"]) == (1, 1)
    assert space.ask("POST", "/subjects/s", {"schema": TWO}).code == 40403
    assert space.ask("POST", "/subjects/none", {"schema": ONE}).code == 40401


@pytest.mark.parametrize("version", ["latest", "-1", "2"])
def test_the_latest_version(space: Space, version: str) -> None:
    for text in (ONE, TWO):
        space.register("s", text)
    assert space.get(f"/subjects/s/versions/{version}")["schema"] == TWO
    assert space.ask("GET", f"/subjects/s/versions/{version}/schema").raw.decode() == TWO


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/subjects/none/versions", 40401),
        ("/subjects/none/versions/1", 40401),
        ("/subjects/s/versions/9", 40402),
        ("/subjects/s/versions/0", 42202),
        ("/subjects/s/versions/-2", 42202),
        ("/subjects/s/versions/newest", 42202),
        ("/subjects/s/versions/99999999999999999999", 42202),
        ("/schemas/ids/77", 40403),
        ("/schemas/ids/-1", 40403),
        ("/schemas/ids/one", 404),
        ("/schemas/guids/nothing", 40403),
        ("/subjects?offset=x", 404),
    ],
)
def test_what_is_not_there(space: Space, path: str, code: int) -> None:
    space.register("s", ONE)
    assert space.ask("GET", path).code == code


def test_soft_deletion_hides_a_version_and_keeps_its_data_readable(space: Space) -> None:
    for text in (ONE, TWO):
        space.register("s", text)
    assert space.ask("DELETE", "/subjects/s/versions/latest").body == 2
    assert space.get("/subjects/s/versions") == [1]
    assert space.get("/subjects/s/versions?deleted=true") == [1, 2]
    assert space.get("/subjects/s/versions?deletedOnly=True") == [2]
    assert space.get("/subjects/s/versions?deletedAsNegative=true") == [1, -2]
    assert space.ask("GET", "/subjects/s/versions/2").code == 40402
    assert space.get("/subjects/s/versions/2?deleted=true")["deleted"] is True
    assert space.get("/schemas/ids/2")["schema"] == TWO
    assert space.ask("DELETE", "/subjects/s/versions/2").code == 40406


def test_permanent_deletion_comes_second(space: Space) -> None:
    space.register("s", ONE)
    assert space.ask("DELETE", "/subjects/s/versions/1?permanent=true").code == 40407
    assert space.ask("DELETE", "/subjects/s?permanent=true").code == 40405
    assert space.ask("DELETE", "/subjects/s").body == [1]
    assert space.ask("DELETE", "/subjects/s").code == 40404
    assert space.get("/subjects") == []
    assert space.get("/subjects?deleted=true") == [f"{space.prefix}s"]
    assert space.ask("DELETE", "/subjects/s?permanent=true").body == [1]
    assert space.ask("DELETE", "/subjects/s?permanent=true").code == 40401
    assert space.ask("GET", "/schemas/ids/1").code == 40403


def test_a_schema_that_comes_back_has_its_old_id_and_a_new_version(space: Space) -> None:
    for text in (ONE, TWO):
        space.register("s", text)
    space.ask("DELETE", "/subjects/s/versions/2")
    assert space.register("s", TWO) == 2
    assert space.get("/subjects/s/versions?deleted=true") == [1, 3]


def test_ids_are_never_given_again(space: Space) -> None:
    space.register("s", ONE)
    space.register("s", TWO)
    for query in ("", "?permanent=true"):
        assert space.ask("DELETE", f"/subjects/s{query}").body == [1, 2]
    assert space.register("t", ONE) == 3


def test_versions_are_not_given_again_after_soft_deletion(space: Space) -> None:
    space.register("s", ONE)
    space.ask("DELETE", "/subjects/s")
    assert space.ask("POST", "/subjects/s/versions", {"schema": BREAKING}).body["version"] == 2


@pytest.mark.parametrize("subject", ["a%2Fb", "a%20b", "%C3%A9", "..", "a%3Ab", "100%25", "a%2F..%2Fb"])
def test_odd_subjects(space: Space, subject: str) -> None:
    assert space.register(subject, ONE) == 1
    assert space.get(f"/subjects/{subject}/versions/1")["id"] == 1
    assert space.ask("DELETE", f"/subjects/{subject}").body == [1]


def test_pages(space: Space) -> None:
    for number in range(5):
        space.register(f"s{number}", record("A", (f"f{number}", "int")))
    names = [f"{space.prefix}s{number}" for number in range(5)]
    assert space.get("/subjects?offset=1&limit=2") == names[1:3]
    assert [space.get(f"/subjects?limit={limit}") for limit in (-3, 0)] == [names, names]
    assert space.get("/subjects?offset=9") == []
    assert [one["subject"] for one in space.get("/schemas?limit=2&offset=2")] == names[2:4]


def test_an_empty_text_keeps_the_schema_and_changes_its_metadata(space: Space) -> None:
    space.register("s", ONE)
    space.register("s", "", metadata={"properties": {"owner": "billing"}})
    newest = space.get("/subjects/s/versions/latest")
    assert (newest["version"], newest["schema"]) == (2, ONE)
    assert newest["metadata"] == {"properties": {"owner": "billing"}}
    assert space.get("/subjects/s/metadata?key=owner&value=billing")["version"] == 2
    assert space.ask("GET", "/subjects/s/metadata?key=owner&value=nobody").code == 40403
    assert space.ask("POST", "/subjects/t/versions", {"schema": ""}).code == 42201


def test_a_version_that_is_named_must_be_the_next(space: Space) -> None:
    space.register("s", ONE)
    assert space.ask("POST", "/subjects/s/versions", {"schema": ONE, "version": 1}).code == 42201
    assert space.ask("POST", "/subjects/s/versions", {"schema": TWO, "version": 3}).code == 42201
    assert space.ask("POST", "/subjects/s/versions", {"schema": TWO, "version": "2"}).body["version"] == 2


def test_an_id_of_ones_own_needs_import_mode(space: Space) -> None:
    assert space.ask("POST", "/subjects/s/versions", {"schema": ONE, "id": 5}).code == 42205
    assert space.ask("PUT", "/mode/s", {"mode": "IMPORT"}).status == 200
    assert space.ask("POST", "/subjects/s/versions", {"schema": ONE}).code == 42205
    assert space.register("s", ONE, id=5, version=3) == 5
    assert space.ask("POST", "/subjects/s/versions", {"schema": TWO, "id": 5, "version": 4}).code == 42205
    assert space.register("s", TWO, id=4, version=1) == 4
    assert space.get("/subjects/s/versions") == [1, 3], "versions may come in any order"
    assert space.ask("PUT", "/mode/s", {"mode": "READWRITE"}).status == 200
    assert space.register("s", THREE) == 6
    assert space.get("/subjects/s/versions/latest")["version"] == 4


RULES = {
    "domainRules": [
        {
            "name": "short",
            "kind": "CONDITION",
            "mode": "WRITE",
            "type": "CEL",
            "expr": "size(message.y) < 9",
            "tags": ["B", "A"],
            "disabled": False,
        }
    ]
}


def test_rules_and_metadata_are_kept_and_make_a_version_of_their_own(space: Space) -> None:
    metadata = {"properties": {"owner": "a"}, "tags": {"A.y": ["PII"]}, "sensitive": ["owner"]}
    assert space.register("s", TWO) == 1
    assert space.register("s", TWO, metadata=metadata, ruleSet=RULES) == 2
    found = space.get("/subjects/s/versions/2")
    assert found["metadata"] == metadata
    assert found["ruleSet"]["domainRules"] == [{**RULES["domainRules"][0], "tags": ["A", "B"]}]
    space.register("s", record("A", ("x", "int"), ("y", "string", ""), ("z", "int", 0)))
    following = space.get("/subjects/s/versions/3")
    assert (following["metadata"], following["ruleSet"]) == (metadata, found["ruleSet"]), "taken over from before"
    assert [one["version"] for one in space.get("/schemas?ruleType=CEL")] == [2, 3]


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "9lives", "mode": "WRITE", "type": "CEL"},
        {"name": "a", "mode": "UPGRADE", "type": "CEL"},
        {"name": "a", "mode": "WRITE"},
        {"name": "a", "mode": "WRITE", "type": "CEL", "onFailure": "DLQ,NONE"},
    ],
)
def test_rules_that_nobody_could_carry_out(space: Space, rule: dict[str, str]) -> None:
    answer = space.ask("POST", "/subjects/s/versions", {"schema": ONE, "ruleSet": {"domainRules": [rule]}})
    assert answer.code == 42210


def test_schemas_by_guid(space: Space) -> None:
    guid = space.ask("POST", "/subjects/s/versions", {"schema": record(f"A{space.name[6:]}")}).body["guid"]
    assert space.registry.ask("GET", f"/schemas/guids/{guid}").body["guid"] == guid
    assert {"context": space.name, "id": 1} in space.registry.ask("GET", f"/schemas/guids/{guid}/ids").body
