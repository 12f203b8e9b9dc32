"""Transactions over the wire: what producers may write, and what readers of committed data get when."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.messages.produce import ProduceResponse
from barnabas.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse
from core_broker.broker import Broker
from core_broker.coordinators.transactions.transaction import Status, Transaction
from tests.core_broker.broker_client import FETCH_VERSION, produce_request, records
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.transaction_client import GROUP_KEY, READ_COMMITTED, TransactionClient
from tests.waiting import wait_for

LONG_MS = 20_000
LATEST = -1
SETTINGS = {"transaction.state.log.num.partitions": 2, "offsets.topic.num.partitions": 2}
DURABILITIES = ("durable", "relaxed")


@pytest.fixture(params=DURABILITIES)
def hosted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path, {**SETTINGS, "durability": request.param}) as hosted:
        yield hosted


@pytest.fixture
def client(hosted: HostedBroker) -> Iterator[TransactionClient]:
    with TransactionClient(hosted.address) as client:
        client.create("t", 2)
        yield client


def fetch_request(offset: int, min_bytes: int) -> FetchRequest:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=LONG_MS,
        min_bytes=min_bytes,
        max_bytes=1 << 20,
        isolation_level=READ_COMMITTED,
        topics=[FetchTopic(topic="t", partitions=[asked])],
    )


@pytest.mark.parametrize("min_bytes", [1, 500])
@pytest.mark.parametrize("commits", [True, False])
def test_a_reader_of_committed_data_is_woken_by_the_end(
    hosted: HostedBroker, client: TransactionClient, commits: bool, min_bytes: int
) -> None:
    """Also one that wants more bytes than a marker has: the marker sets free what came before it."""
    producer = client.initialise("id")
    client.write("id", producer, "t", b"x" * 1000)
    with TransactionClient(hosted.address) as reader:
        reader.send(fetch_request(0, min_bytes), FETCH_VERSION)
        wait_for(lambda: hosted.look(lambda found: bool(found.partition("t", 0).watchers)), "the reader to wait")  # type: ignore[union-attr]
        code, _ = client.end("id", producer, commits=commits)
        assert code is ErrorCode.NONE
        _, answer = reader.receive(FetchResponse, FETCH_VERSION)
    data = answer.responses[0].partitions[0]
    assert data.last_stable_offset == data.high_watermark == 2
    assert [aborted.first_offset for aborted in data.aborted_transactions or ()] == ([] if commits else [0])
    assert len(data.records or b"") > 1000


def test_committed_data_can_be_read_when_the_commit_is_answered(client: TransactionClient) -> None:
    producer = client.initialise("id")
    for number in range(20):
        client.write("id", producer, "t", b"%d" % number)
        client.write("id", producer, "t", b"%d" % number, partition=1)
        code, producer = client.end("id", producer, commits=True)
        assert code is ErrorCode.NONE
        for partition in (0, 1):
            assert client.read_committed("t", partition)[-1] == b"%d" % number


def test_the_end_of_committed_data(client: TransactionClient) -> None:
    def latest(isolation_level: int) -> int:
        asked = ListOffsetsPartition(partition_index=0, timestamp=LATEST)
        request = ListOffsetsRequest(
            isolation_level=isolation_level, topics=[ListOffsetsTopic(name="t", partitions=[asked])]
        )
        return client.ask(request, ListOffsetsResponse, 9).topics[0].partitions[0].offset

    producer = client.initialise("id")
    client.append("t", b"plain")
    client.write("id", producer, "t", b"x")
    client.append("t", b"plain")
    assert (latest(0), latest(READ_COMMITTED)) == (3, 1)
    client.end("id", producer, commits=True)
    assert (latest(0), latest(READ_COMMITTED)) == (4, 4)


def test_a_repeated_batch_is_stored_once(client: TransactionClient) -> None:
    producer = client.initialise("id")
    first = client.write("id", producer, "t", b"x")
    again = client.write("id", producer, "t", b"x")
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, first.base_offset)
    client.end("id", producer, commits=True)
    assert client.read_committed("t") == [b"x"]


def test_a_large_batch_keeps_its_place_before_the_marker(client: TransactionClient) -> None:
    producer = client.initialise("id")
    client.write("id", producer, "t", b"x" * 500_000)
    client.end("id", producer, commits=True)
    assert client.read_committed("t") == [b"x" * 500_000]


def test_batches_that_are_opened_stay_in_their_transaction(client: TransactionClient) -> None:
    """On a compacted topic, and stored in another codec."""
    client.create("c", 1, cleanup_policy="compact", compression_type="gzip")
    producer = client.initialise("id")
    client.write("id", producer, "c", b"x")
    assert client.read_committed("c") == []
    client.end("id", producer, commits=False)
    assert client.read_committed("c") == []
    assert client.is_stable("c")


def test_a_produce_request_waits_for_the_transaction_before(tmp_path: Path) -> None:
    """Of an older client's commit the answer may be under way while its next batch arrives."""
    for retry_max_ms in (40, LONG_MS):
        settings = {**SETTINGS, "add.partitions.to.txn.retry.backoff.max.ms": retry_max_ms}
        with (
            HostedBroker(tmp_path / str(retry_max_ms), settings) as hosted,
            TransactionClient(hosted.address) as client,
        ):
            client.create("t", 2)
            producer = client.initialise("id")
            client.write("id", producer, "t", b"x")
            prepared = hold_up(hosted)
            refused = client.write("id", producer, "t", b"y", partition=1, version=11)
            assert refused.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
            if retry_max_ms < LONG_MS:
                refused = client.write("id", producer, "t", b"y", partition=1)
                assert refused.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
                continue
            with ThreadPoolExecutor(1) as threads:
                written = threads.submit(client.write, "id", producer, "t", b"y", partition=1)
                wait_for(lambda hosted=hosted: hosted.look(is_waiting), "the batch to wait")  # type: ignore[misc]
                let_go(hosted, prepared)
                assert written.result().error_code == ErrorCode.NONE


def hold_up(hosted: HostedBroker) -> Transaction:
    """Lets the transaction be decided, and nobody be told."""

    def decide(broker: Broker) -> Transaction:
        state = broker.transactions.shard_of("id").state
        prepared = state.transactions["id"].prepared(commits=True, client_version=0, now_ms=0)
        state.write("id", prepared, lambda error: None)
        return prepared

    return hosted.look(decide)


def let_go(hosted: HostedBroker, prepared: Transaction) -> None:
    def complete(broker: Broker) -> None:
        broker.transactions.shard_of("id").state.write("id", prepared.completed(0), lambda error: None)

    hosted.look(complete)


def is_waiting(broker: Broker) -> bool:
    """Whether a produce request has looked in vain for the end of the transaction before it."""
    return len(broker.timeouts) > 0


def test_one_request_has_one_transactional_producer(client: TransactionClient) -> None:
    producer = client.initialise("id")
    batches = {
        ("t", index): build_batch(
            records(b"x"),
            transactional=True,
            producer_id=producer.producer_id + index,
            producer_epoch=0,
            base_sequence=0,
        )
        for index in (0, 1)
    }
    request = produce_request(batches)
    request.transactional_id = "id"
    answer = client.ask(request, ProduceResponse, 12)
    codes = {found.error_code for topic in answer.responses for found in topic.partition_responses}
    assert codes == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}
    assert client.write(None, producer, "t", b"x").error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_nobody_else_writes_to_the_coordinators_topics(client: TransactionClient) -> None:
    client.find("id")
    answer = client.produce("__transaction_state", build_batch(records(b"x")))
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_offsets_count_when_the_transaction_commits(client: TransactionClient) -> None:
    client.find("g", key_type=GROUP_KEY)
    producer = client.initialise("id")
    assert client.commit_offset("id", producer, "g", "t", 7) is ErrorCode.NONE
    assert client.committed_offset("g", "t") == -1
    _, producer = client.end("id", producer, commits=True)
    assert client.committed_offset("g", "t") == 7
    client.commit_offset("id", producer, "g", "t", 9)
    client.end("id", producer, commits=False)
    assert client.committed_offset("g", "t") == 7


def test_a_deleted_topic_holds_up_no_transaction(hosted: HostedBroker, client: TransactionClient) -> None:
    client.create("gone")
    producer = client.initialise("id")
    client.write("id", producer, "gone", b"x")
    client.write("id", producer, "t", b"x")
    with AdminClient(hosted.address) as admin:
        assert admin.delete("gone") is ErrorCode.NONE
    code, _ = client.end("id", producer, commits=True)
    assert code is ErrorCode.NONE
    assert client.describe("id").transaction_state == Status.COMPLETE_COMMIT.label
    assert client.read_committed("t") == [b"x"]


def test_transactions_go_on_after_a_restart(tmp_path: Path) -> None:
    with HostedBroker(tmp_path, SETTINGS) as broker, TransactionClient(broker.address) as client:
        client.create("t", 2)
        client.find("g", key_type=GROUP_KEY)
        producer = client.initialise("id")
        client.write("id", producer, "t", b"x")
        client.commit_offset("id", producer, "g", "t", 3)
    with HostedBroker(tmp_path, SETTINGS) as broker, TransactionClient(broker.address) as client:
        wait_for(lambda: client.describe("id").error_code == ErrorCode.NONE, "the coordinator to load")
        assert client.describe("id").transaction_state == Status.ONGOING.label
        client.write("id", producer, "t", b"y", sequence=1)
        code, _ = client.end("id", producer, commits=True)
        assert code is ErrorCode.NONE
        assert client.read_committed("t") == [b"x", b"y"]
        assert client.committed_offset("g", "t") == 3


def test_a_transaction_of_an_instance_that_is_gone_times_out(tmp_path: Path) -> None:
    interval = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 20}
    with HostedBroker(tmp_path, {**SETTINGS, **interval}) as broker, TransactionClient(broker.address) as client:
        client.create("t")
        producer = client.initialise("id", timeout_ms=50)
        client.write("id", producer, "t", b"x")
        wait_for(lambda: client.is_stable("t"), "the transaction to be aborted")
        assert client.read_committed("t") == []
        assert client.write("id", producer, "t", b"y", sequence=1).error_code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_the_transaction_version_is_chosen_once_and_stays(tmp_path: Path) -> None:
    def level(hosted: HostedBroker) -> int:
        return hosted.look(lambda found: found.transactions.transaction_version())

    with HostedBroker(tmp_path) as broker, TransactionClient(broker.address) as client:
        assert level(broker) == 2
        lowered = FeatureUpdateKey(feature="transaction.version", max_version_level=0, upgrade_type=2)
        answer = client.ask(UpdateFeaturesRequest(feature_updates=[lowered]), UpdateFeaturesResponse, 2)
        assert answer.error_code == ErrorCode.NONE
        assert level(broker) == 0
    with HostedBroker(tmp_path) as broker:
        assert level(broker) == 0
