"""A request can be followed by its id: from its answer to the topic, the partition and the offsets, and to the registry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.broker import BarnabasBroker
from tests.registry import RegistryProcess, ask
from tests.rest import RestProcess
from tests.service_process import ServiceProcess
from tests.waiting import wait_for

LOGGED = {"log.format": "json", "request.log": "all"}
SCHEMA = json.dumps({"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]})
AVRO = {"Content-Type": "application/vnd.kafka.avro.v2+json"}
JSON = {"Content-Type": "application/json"}
EVERY_LINE = {"time", "level", "service", "logger", "message"}


@pytest.fixture(scope="module")
def services(
    barnabas: BarnabasBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RestProcess, RegistryProcess]]:
    home = tmp_path_factory.mktemp("followed")
    topic = {"kafkastore.topic": "_followed", "schema.registry.group.id": "followed"}
    registry = RegistryProcess(home / "registry", barnabas.address, settings={**topic, **LOGGED})
    registry.start()
    rest = RestProcess(home / "rest", barnabas.address, registry.url, LOGGED)
    rest.start()
    yield rest, registry
    rest.stop()
    registry.stop()


def lines(service: ServiceProcess, request_id: str) -> list[Mapping[str, Any]]:
    """What the log of a service has about a request. Every line of it is an object with the same members."""
    found = [json.loads(line) for line in service.log.read_text().splitlines()]
    assert all(line.keys() >= EVERY_LINE for line in found)
    return [line for line in found if line.get("request_id") == request_id]


def awaited(service: ServiceProcess, request_id: str, logger: str) -> list[Mapping[str, Any]]:
    def found() -> list[Mapping[str, Any]]:
        return [line for line in lines(service, request_id) if line["logger"] == logger]

    wait_for(lambda: bool(found()), f"the line of {request_id}")
    return found()


def test_records_and_the_schema_of_a_request_are_found_by_its_id(services: tuple[RestProcess, RegistryProcess]) -> None:
    rest, registry = services
    body = {"value_schema": SCHEMA, "records": [{"value": {"a": 1}}, {"value": {"a": 2}}]}
    answer = ask(rest.url, "POST", "/topics/followed", body, {**AVRO, "X-Request-ID": "order-66"})
    assert (answer.status, answer.headers["x-request-id"]) == (200, "order-66")
    offsets = [place["offset"] for place in answer.body["offsets"]]
    (place,) = awaited(rest, "order-66", "rest_proxy.record_log")
    assert (place["service"], place["level"], place["topic"], place["partition"]) == ("rest", "info", "followed", 0)
    assert (place["first_offset"], place["last_offset"], place["records"]) == (offsets[0], offsets[-1], 2)
    (line,) = awaited(rest, "order-66", "barnabas.kernel.http.request_log")
    assert (line["method"], line["path"], line["status"]) == ("POST", "/topics/followed", 200)
    assert {line["route"] for line in awaited(registry, "order-66", "barnabas.kernel.http.request_log")} >= {
        "/subjects/{subject}/versions"
    }


def test_an_upload_has_one_line_for_each_partition(services: tuple[RestProcess, RegistryProcess]) -> None:
    rest, _ = services
    cluster = ask(rest.url, "GET", "/v3/clusters").body["data"][0]["cluster_id"]
    for topic in ("uploaded", "batched"):
        made = {"topic_name": topic, "partitions_count": 2}
        assert ask(rest.url, "POST", f"/v3/clusters/{cluster}/topics", made, JSON).status == 201
    record = {"partition_id": 1, "value": {"type": "JSON", "data": 1}}
    path = f"/v3/clusters/{cluster}/topics"
    ask(rest.url, "POST", f"{path}/uploaded/records", record, {**JSON, "X-Request-ID": "upload-1"})
    entries = {"entries": [{"id": str(number), **record, "partition_id": number % 2} for number in range(4)]}
    ask(rest.url, "POST", f"{path}/batched/records:batch", entries, {**JSON, "X-Request-ID": "batch-1"})
    (place,) = awaited(rest, "upload-1", "rest_proxy.record_log")
    assert (place["topic"], place["partition"], place["first_offset"], place["records"]) == ("uploaded", 1, 0, 1)
    wait_for(lambda: len(awaited(rest, "batch-1", "rest_proxy.record_log")) == 2, "a line for each partition")
    first, second = awaited(rest, "batch-1", "rest_proxy.record_log")
    assert [(line["partition"], line["last_offset"], line["records"]) for line in (first, second)] == [
        (0, 1, 2),
        (1, 1, 2),
    ]


def test_records_that_fail_are_told_without_asking(barnabas: BarnabasBroker, tmp_path: Path) -> None:
    rest = RestProcess(tmp_path / "rest", barnabas.address, "http://127.0.0.1:1", {"log.format": "json"})
    rest.start()
    try:
        path, body = "/topics/some/partitions/77", {"records": [{"value": 1}]}
        content = {"Content-Type": "application/vnd.kafka.json.v2+json"}
        ask(rest.url, "POST", path, body, {**content, "X-Request-ID": "lost-1"})
        (line,) = awaited(rest, "lost-1", "rest_proxy.record_log")
        assert (line["level"], line["topic"], line["records_failed"]) == ("warning", "some", 1)
        assert "_UNKNOWN_PARTITION" in line["reason"]
        ask(rest.url, "POST", "/topics/some", body, {**content, "X-Request-ID": "kept-1"})
        assert lines(rest, "kept-1") == []
    finally:
        rest.stop()
