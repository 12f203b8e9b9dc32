"""The page of metrics: every group that dashboards know is there, and the numbers are what was done."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from core_broker.metrics.state_families import GROUP_STATES
from core_broker.observer import SAMPLE_EVERY
from tests.core_broker.broker_client import BrokerClient, produce_request, records
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.metrics.scrape import Page, scrape
from tests.waiting import wait_for

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"
ON = {"metrics.listener": "http://127.0.0.1:0"}
TOPIC_METRICS = "kafka_server_brokertopicmetrics_"
REQUEST_METRICS = "kafka_network_requestmetrics_"


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path_factory.mktemp("metrics") / "log", ON) as running:
        yield running


@pytest.fixture
def client(hosted: HostedBroker) -> Iterator[BrokerClient]:
    with hosted.client() as wire:
        yield wire


def documented_names() -> set[str]:
    """Every name that the page about metrics promises of a broker, but for those of single partitions, which are asked for."""
    page = REFERENCE.read_text(encoding="utf-8")
    parts = [page.partition(f"\n## {title}\n")[2].partition("\n## ")[0] for title in ("Broker", "Processes")]
    names = {name for part in parts for name in re.findall(r"^\| `(\w+)` ", part, re.MULTILINE)}
    return {name for name in names if not name.startswith("kafka_log_log_")}


def test_every_documented_name_is_there(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    client.append(topic, b"x")
    client.fetch(topic, 0)
    assert client.produce(topic, b"not a batch").error_code != ErrorCode.NONE
    page = scrape(hosted)
    promised = documented_names()
    assert len(promised) > 70
    # Only who has a quota is told of, and only transactions that exist; a cleaner that has not run yet has no last run.
    may_lack = {name for name in promised if name.startswith(("kafka_server_quota_", "barnabas_transactions"))}
    may_lack.add("kafka_log_logcleanermanager_time_since_last_run_ms")
    assert promised - page.names() <= may_lack
    assert all(name in page.families or name.removesuffix("_total") in page.families for name in may_lack)
    assert page.names() - promised - {f"{name}_count" for name in promised} == set()


def test_traffic_is_counted_by_topic_and_in_all(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    before = scrape(hosted)
    client.create(topic, 2)
    batch = build_batch(records(b"one", b"two", b"three"))
    for partition in (0, 1, 1):
        assert client.produce(topic, batch, partition=partition).error_code == ErrorCode.NONE
    size = len(client.fetch(topic, 0).records or b"")
    after = scrape(hosted)
    expected = {
        "messagesin_total": 9,
        "bytesin_total": 3 * len(batch),
        "bytesout_total": size,
        "totalproducerequests_total": 3,
        "totalfetchrequests_total": 1,
        "failedproducerequests_total": 0,
        "failedfetchrequests_total": 0,
    }
    for name, value in expected.items():
        assert after.value(TOPIC_METRICS + name, topic=topic) == value, name
        assert (after.value(TOPIC_METRICS + name) or 0) - (before.value(TOPIC_METRICS + name) or 0) == value, name


def test_what_a_deleted_topic_had_stays_in_the_total(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    client.append(topic, b"a", b"b")
    before = scrape(hosted)
    client.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=5000), DeleteTopicsResponse, 6)
    after = scrape(hosted)
    name = f"{TOPIC_METRICS}messagesin_total"
    assert before.value(name, topic=topic) == 2
    assert after.value(name, topic=topic) is None
    assert after.value(name) == before.value(name)


def test_failures_are_counted(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic, max_message_bytes="1000")
    large = build_batch(records(b"x" * 2000))
    assert client.produce(topic, large).error_code == ErrorCode.MESSAGE_TOO_LARGE
    damaged = build_batch(records(b"x"))
    damaged[-1] ^= 1
    assert client.produce(topic, damaged).error_code == ErrorCode.CORRUPT_MESSAGE
    assert client.fetch(topic, 99).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    page = scrape(hosted)
    assert page.value(f"{TOPIC_METRICS}bytesrejected_total", topic=topic) == len(large)
    assert page.value(f"{TOPIC_METRICS}invalidmessagecrcrecords_total", topic=topic) == 1
    errors = f"{REQUEST_METRICS}errors_total"
    assert (page.value(errors, request="Produce", error="MESSAGE_TOO_LARGE") or 0) >= 1
    assert (page.value(errors, request="FetchConsumer", error="OFFSET_OUT_OF_RANGE") or 0) >= 1
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="bad name")], allow_auto_topic_creation=False)
    client.ask(asked, MetadataResponse, 9)
    assert (scrape(hosted).value(errors, request="Metadata", error="INVALID_TOPIC_EXCEPTION") or 0) >= 1


def test_requests_are_counted_exactly_and_timed(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    def count(page: Page) -> float:
        return page.value(f"{REQUEST_METRICS}requests_total", request="Produce", version="12") or 0

    client.create(topic)
    before = scrape(hosted)
    for _ in range(3 * SAMPLE_EVERY + 1):
        client.append(topic, b"x")
    after = scrape(hosted)
    assert count(after) - count(before) == 3 * SAMPLE_EVERY + 1
    for name in ("totaltimems", "localtimems", "requestbytes"):
        times = [after.value(REQUEST_METRICS + name, request="Produce", quantile=q) for q in ("0.50", "0.99", "0.999")]
        assert None not in times
        assert times == sorted(times, key=lambda time: time or 0)
        assert times[0]
    total = after.value(f"{REQUEST_METRICS}totaltimems", request="Produce", quantile="0.99") or 0
    assert total < 20_000, "milliseconds"
    flushes = "kafka_log_logflushstats_logflushrateandtimems_count"
    assert (after.value(flushes) or 0) > (before.value(flushes) or 0)


def test_requests_that_wait_are_seen(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    client.append(topic, b"x")

    def waiting() -> float | None:
        return scrape(hosted).value("kafka_server_delayedoperationpurgatory_purgatorysize", delayedOperation="Fetch")

    with hosted.client() as parked:
        request = FetchRequest(max_wait_ms=20_000, min_bytes=1, max_bytes=1000)
        request.topics = fetch_topics(topic, 1)
        parked.send(request, 12)
        wait_for(lambda: waiting() == 1, "the fetch is parked")
        client.append(topic, b"y")
        assert parked.receive(FetchResponse, 12)[1].responses[0].partitions[0].records
    assert waiting() == 0


def fetch_topics(topic: str, offset: int) -> list[FetchTopic]:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1000)
    return [FetchTopic(topic=topic, partitions=[partition])]


def test_connections_are_counted_by_listener(hosted: HostedBroker) -> None:
    labels = {"listener": "PLAINTEXT", "networkProcessor": "0"}
    count, created = (
        f"kafka_server_socket_server_metrics_{name}" for name in ("connection_count", "connection_creation_total")
    )
    before = scrape(hosted)
    with hosted.client() as one, hosted.client() as two:
        for wire in (one, two):
            wire.ask(ApiVersionsRequest(), ApiVersionsResponse, 0)
        during = scrape(hosted)
        assert (during.value(count, **labels) or 0) - (before.value(count, **labels) or 0) == 2
        assert (during.value(created, **labels) or 0) - (before.value(created, **labels) or 0) == 2
    wait_for(lambda: scrape(hosted).value(count, **labels) == before.value(count, **labels), "they have gone")


def test_one_node_is_told_as_it_is(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic, 3)
    page = scrape(hosted)
    partitions = hosted.look(
        lambda broker: sum(len(topic.partitions) for topic in broker.metadata.image.topics.values())
    )
    topics = hosted.look(lambda broker: len(broker.metadata.image.topics))
    assert page.value("kafka_controller_kafkacontroller_globaltopiccount") == topics
    for name in ("kafka_controller_kafkacontroller_globalpartitioncount", "kafka_server_replicamanager_leadercount"):
        assert page.value(name) == partitions
    assert page.value("kafka_controller_kafkacontroller_activecontrollercount") == 1
    assert page.value("kafka_controller_kafkacontroller_offlinepartitionscount") == 0
    assert page.value("kafka_server_kafkaserver_brokerstate") == 3
    idle = page.value("kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent")
    assert idle is not None
    assert 0 <= idle <= 1
    assert (page.value("process_resident_memory_bytes") or 0) > 1 << 20
    assert all(
        page.value(f"kafka_coordinator_group_groupmetadatamanager_numgroups{state.lower()}") is not None
        for state in GROUP_STATES
    )


def test_single_partitions_only_where_they_are_asked_for(hosted: HostedBroker, tmp_path: Path, topic: str) -> None:
    assert "kafka_log_log_size" not in scrape(hosted).families
    with HostedBroker(tmp_path / "log", {**ON, "metrics.per.partition": "true"}) as own, own.client() as client:
        client.create(topic, 2)
        client.append(topic, b"x", b"y", partition=1)
        page = scrape(own)
        labels = {"topic": topic, "partition": "1"}
        assert page.value("kafka_log_log_logendoffset", **labels) == 2
        assert page.value("kafka_log_log_logstartoffset", **labels) == 0
        assert page.value("kafka_log_log_numlogsegments", **labels) == 1
        assert (page.value("kafka_log_log_size", **labels) or 0) > 0


def test_quotas_are_told(hosted: HostedBroker, topic: str) -> None:
    entity = [EntityData(entity_type="client-id", entity_name="slow")]

    def change(operation: OpData) -> None:
        entry = RequestEntryData(entity=entity, ops=[operation])
        with hosted.client() as admin:
            admin.ask(AlterClientQuotasRequest(entries=[entry]), AlterClientQuotasResponse, 1)

    with hosted.client() as client:
        client.create(topic)
        change(OpData(key="producer_byte_rate", value=10.0))
        client.send(produce_request({(topic, 0): build_batch(records(b"x" * 2000))}), 12, client_id="slow")
        client.receive_frame()
    page = scrape(hosted)
    labels = {"resource": "Produce", "user": "", "clientId": "slow"}
    assert (page.value("kafka_server_quota_byte_rate", **labels) or 0) > 100
    assert page.value("kafka_server_quota_throttles_total", **labels) == 1
    assert (page.value("kafka_server_quota_throttle_time", **labels) or 0) > 10_000
    change(OpData(key="producer_byte_rate", remove=True))
    requests = f"{REQUEST_METRICS}requests_total"
    again = scrape(hosted)
    assert (again.value(requests, request="Produce", version="12") or 0) >= (
        page.value(requests, request="Produce", version="12") or 0
    ), "counting goes on"


def test_nothing_is_loaded_or_counted_without_a_listener(tmp_path: Path, topic: str) -> None:
    with HostedBroker(tmp_path / "log") as plain, plain.client() as client:
        client.create(topic)
        client.append(topic, b"x")
        assert plain.broker.metrics is None
        assert plain.look(lambda broker: broker._server.observer) is None
        assert plain.look(lambda broker: {end.requests for _, _, end in broker._server.dispatcher.endpoints()}) == {0}
    loaded = subprocess.run(
        [sys.executable, "-c", "import core_broker.main, sys; print('prometheus_client' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=90,
    )
    assert loaded.stdout.strip() == "False"
