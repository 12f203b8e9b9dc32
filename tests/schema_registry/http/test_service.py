"""What the service says of itself, and what every answer carries."""

from __future__ import annotations

import gzip
import json

from tests.registry import RegistryProcess
from tests.schema_registry.http.conftest import Space, record
from tests.waiting import wait_for


def test_who_it_is(registry: RegistryProcess) -> None:
    assert registry.ask("GET", "/").body == {}
    clusters = registry.ask("GET", "/v1/metadata/id").body["scope"]["clusters"]
    assert clusters["schema-registry-cluster"] == "schema-registry"
    assert clusters["kafka-cluster"]
    assert registry.ask("GET", "/v1/metadata/version").body["version"].startswith("8.")
    assert sorted(registry.ask("GET", "/schemas/types").body) == ["AVRO", "JSON", "PROTOBUF"]


def test_how_it_is(registry: RegistryProcess) -> None:
    wait_for(lambda: registry.ask("GET", "/status/ready").status == 200, "the registry to be ready")
    health = registry.ask("GET", "/_health")
    assert (health.status, health.body["healthy"]) == (200, True)
    assert health.body["status"]["leader"] == registry.url
    assert registry.ask("GET", "/master_available").body == {"master_available": True}


def test_metrics(registry: RegistryProcess, space: Space) -> None:
    space.register("s", record("A", ("x", "int")))
    space.get("/subjects/s/versions/1")
    page = registry.ask("GET", "/metrics").raw.decode()
    assert "schema_registry_leader 1.0" in page
    assert 'route="/subjects/{subject}/versions/{version}"' in page
    assert (
        float(next(line for line in page.splitlines() if line.startswith("schema_registry_schemas ")).split()[1]) >= 1
    )


def test_request_ids(registry: RegistryProcess) -> None:
    assert registry.ask("GET", "/subjects", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    first, second = (registry.ask("GET", "/subjects").headers["x-request-id"] for _ in range(2))
    assert first != second


def test_compression(space: Space) -> None:
    text = record("A", *((f"field_{number}", "int") for number in range(100)))
    space.register("s", text)
    path = f"/contexts/{space.name}/subjects/s/versions/1"
    packed = space.registry.ask("GET", path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed.raw))["schema"] == text
    assert space.registry.ask("GET", path).body["schema"] == text


def test_an_answer_is_never_older_than_a_write(space: Space) -> None:
    for number in range(20):
        schema_id = space.register("s", record("A", *((f"f{index}", "int", 0) for index in range(number))))
        assert space.get("/subjects/s/versions/latest")["id"] == schema_id
        assert len(space.get("/subjects/s/versions")) == number + 1


def test_neither_is_the_answer_to_a_question_that_was_posted(space: Space) -> None:
    space.register("s", record("A", ("x", "int")))
    question = ("POST", "/compatibility/subjects/s/versions/latest", {"schema": record("A", ("y", "int"))})
    for level, compatible in (("BACKWARD", False), ("NONE", True), ("BACKWARD", False)):
        space.ask("PUT", "/config/s", {"compatibility": level})
        for _ in range(2):
            assert space.ask(*question).body == {"is_compatible": compatible}
