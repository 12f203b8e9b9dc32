"""Quotas over real sockets: the pause is told at once, and kept by the broker whether or not the client keeps it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
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
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.messages.produce import ProduceResponse
from tests.core_broker.broker_client import BrokerClient, produce_request, records
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.wire_socket import WireSocket

CLIENT = "test"  # the client id of our sockets
FETCH_VERSION = 12
KIB = 1024
QUIET_S = 0.15
# A rate is measured over ten to eleven seconds, depending on how much of the current window has passed. So what is to be over
# a quota of 1000 bytes a second is more than 11,000 bytes: however long the machine takes between two requests.


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path / "log") as running:
        yield running


@pytest.fixture
def client(hosted: HostedBroker) -> Iterator[BrokerClient]:
    with hosted.client() as wire:
        yield wire


def set_quota(hosted: HostedBroker, names: Mapping[str, str | None], **quotas: float | None) -> None:
    """From another address in the table of quotas than the client under test: nobody is paused for it."""
    entry = RequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in names.items()],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in quotas.items()],
    )
    with hosted.client() as admin:
        sent = admin.send(AlterClientQuotasRequest(entries=[entry]), 1, client_id=None)
        answered, answer = admin.receive(AlterClientQuotasResponse, 1)
        assert sent == answered
        assert answer.entries[0].error_code == ErrorCode.NONE, answer.entries[0].error_message


def produce(client: BrokerClient, topic: str, size_bytes: int, acks: int = -1) -> ProduceResponse:
    batch = build_batch(records(b"x" * size_bytes))
    return client.ask(produce_request({(topic, 0): batch}, acks), ProduceResponse, 12)


def fetch_request(topic: str, *, session_epoch: int = -1, session_id: int = 0, offset: int = 0) -> FetchRequest:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 20,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic=topic, partitions=[asked])] if session_epoch <= 0 else [],
    )


def is_silent(wire: WireSocket, seconds: float = QUIET_S) -> bool:
    """Whether nothing arrives for a while."""
    wire.socket.settimeout(seconds)
    try:
        return wire.socket.recv(1, socket.MSG_PEEK) == b"never"
    except TimeoutError:
        return True
    finally:
        wire.socket.settimeout(90)


def test_a_producer_over_its_rate_is_told_and_muted(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    set_quota(hosted, {"client-id": CLIENT}, producer_byte_rate=1000.0)
    first = produce(client, topic, 9_000)
    assert first.throttle_time_ms == 0
    started = time.monotonic()
    second = produce(client, topic, 3_000)
    told_s = second.throttle_time_ms / 1000
    assert time.monotonic() - started < told_s, "the answer itself does not wait"
    assert 0.3 < told_s < 2.5
    assert second.responses[0].partition_responses[0].error_code == ErrorCode.NONE
    client.send(ApiVersionsRequest(), 0)
    assert is_silent(client)
    client.receive(ApiVersionsResponse, 0)
    assert time.monotonic() - started >= told_s - 0.05


def test_the_pause_of_one_client_is_no_pause_of_another(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    set_quota(hosted, {"client-id": CLIENT}, producer_byte_rate=1.0)
    assert produce(client, topic, 10_000).throttle_time_ms > 1_000_000
    with hosted.client() as other:
        other.send(produce_request({(topic, 0): build_batch(records(b"x"))}), 12, client_id="another")
        answer = other.receive(ProduceResponse, 12)[1]
    assert answer.throttle_time_ms == 0


def test_a_producer_without_answers_is_muted_too(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    set_quota(hosted, {"user": "ANONYMOUS"}, producer_byte_rate=1000.0)
    client.send(produce_request({(topic, 0): build_batch(records(b"x" * 12_000))}, acks=0), 12)
    client.send(ApiVersionsRequest(), 0)
    assert is_silent(client)
    client.receive(ApiVersionsResponse, 0)


def test_a_consumer_over_its_rate_gets_nothing_for_a_while(
    hosted: HostedBroker, client: BrokerClient, topic: str
) -> None:
    client.create(topic)
    produce(client, topic, 5_600)
    set_quota(hosted, {"user": None}, consumer_byte_rate=1000.0)
    assert client.fetch(topic, 0).records, "the first is within the burst"
    told = client.ask(fetch_request(topic), FetchResponse, FETCH_VERSION)
    assert told.throttle_time_ms > 0
    assert told.responses == []
    started = time.monotonic()
    again = client.ask(fetch_request(topic), FetchResponse, FETCH_VERSION)
    assert time.monotonic() - started >= told.throttle_time_ms / 1000 - 0.05
    assert again.throttle_time_ms > 0 or again.responses[0].partitions[0].records


def test_a_fetch_is_not_larger_than_the_burst(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    """Else it could never be sent."""
    client.create(topic)
    for _ in range(8):
        produce(client, topic, 2_000)
    set_quota(hosted, {"user": None}, consumer_byte_rate=500.0)
    got = client.ask(fetch_request(topic), FetchResponse, FETCH_VERSION)
    assert got.throttle_time_ms == 0
    assert 2_000 < len(got.responses[0].partitions[0].records or b"") <= 5_000


def test_a_batch_that_is_more_than_the_burst_is_sent_once(
    hosted: HostedBroker, client: BrokerClient, topic: str
) -> None:
    client.create(topic)
    produce(client, topic, 20_000)
    set_quota(hosted, {"user": None}, consumer_byte_rate=1000.0)
    got = client.ask(fetch_request(topic), FetchResponse, FETCH_VERSION)
    assert len(got.responses[0].partitions[0].records or b"") > 20_000
    assert 9_000 < got.throttle_time_ms < 12_000


def test_a_throttled_session_goes_on_where_it_was(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    produce(client, topic, 6_000)
    set_quota(hosted, {"user": None}, consumer_byte_rate=1000.0)
    begun = client.ask(fetch_request(topic, session_epoch=0), FetchResponse, FETCH_VERSION)
    assert begun.session_id > 0
    going_on = fetch_request(topic, session_epoch=1, session_id=begun.session_id)
    throttled = client.ask(going_on, FetchResponse, FETCH_VERSION)
    assert (throttled.throttle_time_ms > 0, throttled.session_id) == (True, begun.session_id)
    set_quota(hosted, {"user": None}, consumer_byte_rate=None)
    going_on.session_epoch = 2
    assert client.ask(going_on, FetchResponse, FETCH_VERSION).responses[0].partitions[0].records


def test_a_throttled_first_fetch_begins_no_session(hosted: HostedBroker, client: BrokerClient, topic: str) -> None:
    client.create(topic)
    produce(client, topic, 3_000)
    set_quota(hosted, {"user": None}, consumer_byte_rate=400.0)
    assert client.ask(fetch_request(topic), FetchResponse, FETCH_VERSION).responses
    first = client.ask(fetch_request(topic, session_epoch=0), FetchResponse, FETCH_VERSION)
    assert first.throttle_time_ms > 0
    assert first.session_id == 0
    assert hosted.look(lambda broker: len(broker.fetch_sessions)) == 0


def test_time_is_a_quota_of_every_api(hosted: HostedBroker, client: BrokerClient) -> None:
    set_quota(hosted, {"client-id": CLIENT}, request_percentage=0.001)
    pauses = [client.ask(MetadataRequest(topics=[]), MetadataResponse, 13).throttle_time_ms for _ in range(3)]
    assert any(0 < pause <= 1000 for pause in pauses), pauses
    set_quota(hosted, {"client-id": CLIENT}, request_percentage=None)
    assert client.ask(MetadataRequest(topics=[]), MetadataResponse, 13).throttle_time_ms == 0


def test_the_time_of_a_handler_that_is_a_coroutine_counts(hosted: HostedBroker, client: BrokerClient) -> None:
    set_quota(hosted, {"client-id": CLIENT}, request_percentage=0.0001)
    topics = [CreatableTopic(name=f"t{number}", num_partitions=5, replication_factor=1) for number in range(20)]
    answer = client.ask(CreateTopicsRequest(topics=topics, timeout_ms=5000), CreateTopicsResponse, 7)
    assert 0 < answer.throttle_time_ms <= 1000
    assert {topic.error_code for topic in answer.topics} == {ErrorCode.NONE}


@pytest.mark.parametrize("version", [5, 6, 7])
def test_creating_topics_has_a_quota(hosted: HostedBroker, client: BrokerClient, version: int) -> None:
    set_quota(hosted, {"user": "ANONYMOUS"}, controller_mutation_rate=1.0)
    names = ["a", "b", "c"]
    topics = [CreatableTopic(name=name, num_partitions=12, replication_factor=1) for name in names]
    answer = client.ask(CreateTopicsRequest(topics=topics, timeout_ms=5000), CreateTopicsResponse, version)
    codes = [topic.error_code for topic in answer.topics]
    present = hosted.look(lambda broker: sorted(broker.metadata.image.topics))
    if version >= 6:
        refused = ErrorCode.THROTTLING_QUOTA_EXCEEDED
        assert codes == [ErrorCode.NONE, refused, refused]
        assert present == ["a"]
        assert 0 < answer.throttle_time_ms <= 1000
    else:
        assert codes == [ErrorCode.NONE] * 3
        assert present == names
        assert answer.throttle_time_ms > 20_000


@pytest.mark.parametrize("version", [2, 3])
def test_adding_partitions_has_a_quota(hosted: HostedBroker, client: BrokerClient, version: int) -> None:
    for name in ("a", "b"):
        client.create(name)
    set_quota(hosted, {"user": "ANONYMOUS"}, controller_mutation_rate=1.0)
    topics = [CreatePartitionsTopic(name=name, count=13, assignments=None) for name in ("a", "b")]
    answer = client.ask(CreatePartitionsRequest(topics=topics, timeout_ms=5000), CreatePartitionsResponse, version)
    second = ErrorCode.THROTTLING_QUOTA_EXCEEDED if version == 3 else ErrorCode.NONE
    assert [result.error_code for result in answer.results] == [ErrorCode.NONE, second]
    assert answer.throttle_time_ms > 0


@pytest.mark.parametrize("version", [4, 5])
def test_deleting_topics_has_a_quota(hosted: HostedBroker, client: BrokerClient, version: int) -> None:
    for name in ("a", "b"):
        client.create(name, 12)
    set_quota(hosted, {"user": "ANONYMOUS"}, controller_mutation_rate=1.0)
    request = DeleteTopicsRequest(topic_names=["a", "b"], timeout_ms=5000)
    answer = client.ask(request, DeleteTopicsResponse, version)
    second = ErrorCode.THROTTLING_QUOTA_EXCEEDED if version == 5 else ErrorCode.NONE
    assert [result.error_code for result in answer.responses] == [ErrorCode.NONE, second]
    assert answer.throttle_time_ms > 0


def test_a_topic_that_does_not_exist_costs_nothing(hosted: HostedBroker, client: BrokerClient) -> None:
    set_quota(hosted, {"user": "ANONYMOUS"}, controller_mutation_rate=0.01)
    for _ in range(3):
        asked = [DeleteTopicState(name="nothing")]
        answer = client.ask(DeleteTopicsRequest(topics=asked, timeout_ms=5000), DeleteTopicsResponse, 6)
        assert answer.responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert answer.throttle_time_ms == 0


def test_topics_that_make_themselves_count_too(hosted: HostedBroker, client: BrokerClient) -> None:
    set_quota(hosted, {"user": "ANONYMOUS"}, controller_mutation_rate=0.01)
    asked = [MetadataRequestTopic(name=name) for name in ("one", "two")]
    answer = client.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=True), MetadataResponse, 9)
    assert [topic.error_code for topic in answer.topics] == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_an_address_over_its_rate_of_connections_is_closed_after_a_while(hosted: HostedBroker) -> None:
    set_quota(hosted, {"ip": "127.0.0.1"}, connection_creation_rate=1.0)
    admitted, begun = 0, time.monotonic()
    for _ in range(12):
        started = time.monotonic()
        with WireSocket(hosted.address) as wire:
            wire.send(ApiVersionsRequest(), 0)
            try:
                wire.receive(ApiVersionsResponse, 0)
                admitted += 1
            except ConnectionError:
                assert time.monotonic() - started > 0.02, "the client is kept waiting"
    # Ten at once, and one for each second that has passed meanwhile.
    assert 10 <= admitted <= 10 + int(time.monotonic() - begun)
    assert hosted.look(lambda broker: broker._connection_rates.refused) == 12 - admitted


@pytest.mark.parametrize(
    "name", ["max.connection.creation.rate", "listener.name.plaintext.max.connection.creation.rate"]
)
def test_connections_over_the_brokers_rate_wait_for_their_turn(tmp_path: Path, name: str) -> None:
    with HostedBroker(tmp_path / "log", {name: 2}) as hosted:
        started = time.monotonic()
        wires = [WireSocket(hosted.address) for _ in range(22)]
        for wire in wires:
            wire.send(ApiVersionsRequest(), 0)
        for wire in wires:
            wire.receive(ApiVersionsResponse, 0)
            wire.socket.close()
        # Twenty at once and two after them; without the burst it would be 11 s for all.
        assert 0.5 < time.monotonic() - started < 10


def test_the_length_of_the_windows_can_be_set(tmp_path: Path, topic: str) -> None:
    settings = {"quota.window.num": 2, "quota.window.size.seconds": 1}
    with HostedBroker(tmp_path / "log", settings) as hosted, hosted.client() as client:
        client.create(topic)
        set_quota(hosted, {"client-id": CLIENT}, producer_byte_rate=10_000.0)
        assert 300 < produce(client, topic, 15_000).throttle_time_ms < 900


def test_quotas_are_there_after_a_restart(tmp_path: Path, topic: str) -> None:
    with HostedBroker(tmp_path / "log") as hosted:
        with hosted.client() as client:
            client.create(topic)
        set_quota(hosted, {"client-id": CLIENT}, producer_byte_rate=1.0)
        set_quota(hosted, {"user": "gone"}, producer_byte_rate=1.0)
        set_quota(hosted, {"user": "gone"}, producer_byte_rate=None)
    with HostedBroker(tmp_path / "log") as hosted, hosted.client() as client:
        assert produce(client, topic, 100).throttle_time_ms > 0
        assert hosted.look(lambda broker: len(broker.metadata.image.client_quotas)) == 1


def test_a_client_that_leaves_while_it_is_muted_leaves_nothing(
    hosted: HostedBroker, client: BrokerClient, topic: str
) -> None:
    client.create(topic)
    set_quota(hosted, {"client-id": CLIENT}, producer_byte_rate=1.0)
    with hosted.client() as muted:
        assert produce(muted, topic, 1000).throttle_time_ms > 0
        muted.send(ApiVersionsRequest(), 0)
    hosted.stop()
