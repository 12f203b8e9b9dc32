"""Schemas that build on others."""

from __future__ import annotations

from tests.schema_registry.http.conftest import Space, record

LEAF = record("Leaf", ("x", "int"))
TREE = record("Tree", ("leaf", "Leaf"))


def reference(name: str, subject: str, version: int = 1) -> dict[str, object]:
    return {"name": name, "subject": subject, "version": version}


def test_a_reference_is_resolved_and_seen_from_its_target(space: Space) -> None:
    space.register("leaf", LEAF)
    tree = space.register("tree", TREE, references=[reference("Leaf", "leaf")])
    assert space.get("/subjects/leaf/versions/1/referencedby") == [tree]
    found = space.get("/subjects/tree/versions/1?format=resolved")
    assert found["schema"] == TREE.replace('"Leaf"', LEAF)
    assert found["references"] == [reference("Leaf", "leaf")]
    assert space.get("/subjects/tree/versions/1?referenceFormat=qualified")["references"] == [
        reference("Leaf", f"{space.prefix}leaf")
    ]


def test_the_latest_version_is_pinned(space: Space) -> None:
    space.register("leaf", LEAF)
    space.register("leaf", record("Leaf", ("x", "int"), ("y", "int", 0)))
    space.register("tree", TREE, references=[reference("Leaf", "leaf", -1)])
    assert space.get("/subjects/tree/versions/1")["references"] == [reference("Leaf", "leaf", 2)]


def test_a_schema_with_its_references_written_out_is_the_same(space: Space) -> None:
    space.register("leaf", LEAF)
    tree = space.register("tree", TREE, references=[reference("Leaf", "leaf")])
    whole = TREE.replace('"Leaf"', LEAF)
    assert space.register("tree", whole) == tree
    assert space.ask("POST", "/subjects/tree", {"schema": whole}).body["id"] == tree


def test_what_others_build_on_stays(space: Space) -> None:
    space.register("leaf", LEAF)
    space.register("tree", TREE, references=[reference("Leaf", "leaf")])
    for path in ("/subjects/leaf", "/subjects/leaf/versions/1"):
        answer = space.ask("DELETE", path)
        assert answer.code == 42206
        assert "One or more references exist to the schema" in answer.body["message"]
    space.ask("DELETE", "/subjects/tree")
    assert space.ask("DELETE", "/subjects/leaf").body == [1]
    assert space.ask("DELETE", "/subjects/leaf?permanent=true").code == 42206, "the referrer may come back"
    space.ask("DELETE", "/subjects/tree?permanent=true")
    assert space.ask("DELETE", "/subjects/leaf?permanent=true").body == [1]


def test_a_reference_that_leads_nowhere(space: Space) -> None:
    answer = space.ask("POST", "/subjects/tree/versions", {"schema": TREE, "references": [reference("Leaf", "no")]})
    assert answer.code == 42201
    assert "No schema reference found for subject" in answer.body["message"]


def test_a_reference_to_what_was_deleted_since(space: Space) -> None:
    space.register("leaf", LEAF)
    body = {"schema": TREE, "references": [reference("Leaf", "leaf")]}
    path = "/compatibility/subjects/tree/versions"
    assert space.ask("POST", path, body).body == {"is_compatible": True}
    space.ask("DELETE", "/subjects/leaf")
    assert space.ask("POST", path, body).code == 42201
    assert space.ask("GET", "/subjects/leaf/versions/1/referencedby").body == []


def test_a_reference_to_a_schema_of_another_type(space: Space) -> None:
    space.register("leaf", LEAF)
    body = {"schema": '{"$ref": "leaf"}', "schemaType": "JSON", "references": [reference("leaf", "leaf")]}
    answer = space.ask("POST", "/subjects/tree/versions", body)
    assert answer.code == 42201
    assert "which is of type AVRO" in answer.body["message"]


def test_references_in_a_circle_end(space: Space) -> None:
    """Only an import can close a circle, by putting another schema in the place of one that was referred to."""
    space.ask("PUT", "/mode", {"mode": "IMPORT"})
    space.register("leaf", LEAF, id=1, version=1)
    space.register("tree", TREE, id=2, version=1, references=[reference("Leaf", "leaf")])
    back = [reference("Tree", "tree")]
    direct = {"schema": record("Leaf", ("tree", "Tree")), "id": 3, "version": 1, "references": back}
    assert space.ask("POST", "/subjects/leaf/versions", direct).code == 42201
    other = record("Other", ("tree", "Tree"))
    space.register("leaf", other, id=3, version=1, references=back)
    assert space.get("/subjects/leaf/versions/1")["schema"] == other
    for subject in ("leaf", "tree"):
        assert space.ask("GET", f"/subjects/{subject}/versions/1?format=resolved").code == 42201


def test_references_of_references(space: Space) -> None:
    space.register("leaf", LEAF)
    space.register("tree", TREE, references=[reference("Leaf", "leaf")])
    forest = record("Forest", ("trees", {"type": "array", "items": "Tree"}))
    space.register("forest", forest, references=[reference("Tree", "tree")])
    resolved = space.get("/subjects/forest/versions/1?format=resolved")["schema"]
    assert TREE.replace('"Leaf"', LEAF) in resolved
