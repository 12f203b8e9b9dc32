"""What the log tells of requests: with whom, and under which id."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from barnabas.embedded.failing_disk import DISK_FULL, FailingDisk
from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.fetch import FetchResponse
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.wire.messages.produce import ProduceResponse
from tests.core_broker.broker_client import FETCH_VERSION, PRODUCE_VERSION, produce_request, records
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.faults.stuck_disk import StuckDisk

LOGGER = "core_broker.request_log"
BROKER, BROKER_LOGGER = 4, 8
SLOW_MS = 500
WAIT_MS = 700


def told(caplog: pytest.LogCaptureFixture, api: str) -> list[Mapping[str, Any]]:
    """The fields of the lines about requests of an API."""
    found = [record.__dict__["fields"] for record in caplog.records if record.name == LOGGER]
    return [fields for fields in found if fields["api"] == api]


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path / "log") as running:
        yield running


def test_ordinary_requests_and_errors_of_clients_have_no_lines(
    hosted: HostedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with AdminClient(hosted.address) as client:
        client.create("topic")
        assert client.try_create("topic").error_code == ErrorCode.TOPIC_ALREADY_EXISTS
        client.append("topic", b"x")
        client.read_all("topic")
    assert [record for record in caplog.records if record.name == LOGGER] == []


def alter(client: AdminClient, kind: int, name: str, value: str) -> None:
    config = AlterableConfig(name=name, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=kind, resource_name="1", configs=[config])
    answer = client.ask(
        IncrementalAlterConfigsRequest(resources=[resource]), IncrementalAlterConfigsResponse, version=1
    )
    assert answer.responses[0].error_code == ErrorCode.NONE, answer.responses[0].error_message


@pytest.mark.parametrize(
    ("kind", "name", "on", "off", "level"),
    [
        (BROKER, "request.log", "all", "problems", logging.INFO),
        (BROKER_LOGGER, LOGGER, "DEBUG", "INFO", logging.DEBUG),
    ],
)
def test_every_request_is_told_on_demand_while_the_broker_runs(
    hosted: HostedBroker,
    caplog: pytest.LogCaptureFixture,
    kind: int,
    name: str,
    on: str,
    off: str,
    level: int,
) -> None:
    caplog.set_level(logging.INFO)
    caplog.handler.setLevel(logging.DEBUG)
    try:
        with AdminClient(hosted.address) as client:
            client.create("topic")
            alter(client, kind, name, on)
            client.append("topic", b"x")
            alter(client, kind, name, off)
            client.append("topic", b"y")
    finally:
        logging.getLogger(LOGGER).setLevel(logging.NOTSET)
    (line,) = told(caplog, "Produce")
    assert line["connection"].startswith("127.0.0.1:")
    assert (line["client_id"], line["principal"], line["listener"]) == ("test", "User:ANONYMOUS", "PLAINTEXT")
    assert line["errors"] == []
    assert line["duration_ms"] > 0
    assert isinstance(line["correlation_id"], int)
    (record,) = [each for each in caplog.records if each.name == LOGGER and "Produce" in each.getMessage()]
    assert record.levelno == level
    assert f"correlation id {line['correlation_id']}" in record.getMessage()


def test_slow_requests_are_told_and_those_that_clients_let_wait_are_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    disk = StuckDisk()
    with (
        HostedBroker(tmp_path / "log", {"request.log.slow.ms": SLOW_MS}, disk=disk) as hosted,
        AdminClient(hosted.address) as client,
        AdminClient(hosted.address) as reader,
    ):
        client.create("topic")
        client.append("topic", b"x")
        reader.start_fetch("topic", 1, max_wait_ms=WAIT_MS)
        reader.receive(FetchResponse, FETCH_VERSION)
        disk.stick("topic-0", "fdatasync")
        request = produce_request({("topic", 0): build_batch(records(b"y"))})
        request.timeout_ms = WAIT_MS
        answer = client.ask(request, ProduceResponse, PRODUCE_VERSION)
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.REQUEST_TIMED_OUT
        disk.let_go()
    assert told(caplog, "Fetch") == []
    failed, slow = [fields for fields in told(caplog, "Produce") if fields["errors"] == ["REQUEST_TIMED_OUT"]]
    assert failed["correlation_id"] == slow["correlation_id"]
    assert slow["duration_ms"] >= SLOW_MS


def test_what_the_disk_refuses_is_told_with_its_client(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    disk = FailingDisk()
    with HostedBroker(tmp_path / "log", disk=disk) as hosted, AdminClient(hosted.address) as client:
        client.create("topic")
        disk.error_number = DISK_FULL
        assert client.produce("topic", build_batch(records(b"x"))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert client.try_create("other").error_code == ErrorCode.KAFKA_STORAGE_ERROR
        disk.error_number = None
    (produce,) = told(caplog, "Produce")
    (create,) = told(caplog, "CreateTopics")
    for line in (produce, create):
        assert (line["client_id"], line["errors"]) == ("test", ["KAFKA_STORAGE_ERROR"])
        assert line["connection"].startswith("127.0.0.1:")
