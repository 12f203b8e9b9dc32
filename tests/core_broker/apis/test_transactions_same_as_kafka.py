"""A story of transactions, told to Apache Kafka and to us, gets the same answers word for word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from barnabas.wire import apis
from barnabas.wire.batch import Record, build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from barnabas.wire.messages.describe_transactions import DescribeTransactionsRequest, TopicData
from barnabas.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.list_transactions import ListTransactionsRequest
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from barnabas.wire.struct import Message, Struct
from core_broker.coordinators.transactions.transaction import Producer
from tests.broker import BarnabasBroker
from tests.core_broker.broker_client import now_ms, produce_request
from tests.core_broker.transaction_client import GROUP_KEY, LATER, READ_COMMITTED, TransactionClient
from tests.oracle import ApacheKafka
from tests.waiting import wait_for

TOPIC = "story"
PARTITIONS = 3
# What names a place or a time, and messages, which are our own.
DIFFERENT = (
    "error_message",
    "last_timestamp",
    "throttle_time_ms",
    "records",
    "log_start_offset",
    "current_leader",
    "producer_id_filters",
)
TIMES = ("transaction_start_time_ms", "log_append_time_ms")


class Teller:
    """Asks one broker, and writes down what it says. Producer ids are told by who has them."""

    def __init__(self, client: TransactionClient, transactional_id: str) -> None:
        self.answers: list[tuple[str, object]] = []
        self.producer = Producer(-1, -1)
        self.id = transactional_id
        self._client = client
        client.find(transactional_id)
        client.find("group", key_type=GROUP_KEY)

        def is_ready() -> bool:
            states = client.describe(transactional_id)
            offsets = client.fetch("__consumer_offsets", 0)
            return states.error_code not in LATER and offsets.error_code == ErrorCode.NONE

        wait_for(is_ready, "both coordinators")
        # Nobody else is to have id 0, which also stands for none.
        plain = InitProducerIdRequest(transactional_id=None)
        wait_for(lambda: client.ask(plain, InitProducerIdResponse, 5).error_code == ErrorCode.NONE, "a producer id")

    def ask(self, request: Message, version: int) -> Message:
        answer = self._client.ask(request, apis.response_class(request.API_KEY), version)
        self.answers.append((f"{type(request).__name__} v{version} {self._plain(request)}", self._plain(answer)))
        return answer

    def _plain(self, value: object, name: str = "") -> object:
        if isinstance(value, TopicData) and value.topic == "__consumer_offsets":
            return len(value.partitions)  # the oracle has fewer of them
        if isinstance(value, Struct):
            return {
                field.name: self._plain(getattr(value, field.name), field.name)
                for field in value.FIELDS
                if field.name not in DIFFERENT
            }
        if isinstance(value, list):
            return sorted((self._plain(item, name) for item in value), key=repr)
        if name.endswith("producer_id") and isinstance(value, int) and value > 0:
            return f"own{value - self.producer.producer_id:+d}"
        if name in TIMES and isinstance(value, int):
            return value > 0
        return value

    # The questions.

    def initialise(
        self, expected: Producer | None = None, timeout_ms: int = 60_000, version: int = 5, name: str | None = None
    ) -> None:
        asked = expected or Producer(-1, -1)
        request = InitProducerIdRequest(
            transactional_id=self.id if name is None else name,
            transaction_timeout_ms=timeout_ms,
            producer_id=asked.producer_id,
            producer_epoch=asked.epoch,
        )
        if self.producer.producer_id < 0:
            self.producer = self._client.initialise(self.id)
            return
        answer = self.ask(request, version)
        assert isinstance(answer, InitProducerIdResponse)
        if answer.error_code == ErrorCode.NONE:
            self.producer = Producer(answer.producer_id, answer.producer_epoch)

    def who(self, epochs: int = 0, ids: int = 0) -> Producer:
        """The producer, or somebody near it."""
        return Producer(self.producer.producer_id + ids, self.producer.epoch + epochs)

    def add(
        self,
        partitions: Mapping[str, Sequence[int]],
        who: Producer | None = None,
        version: int = 3,
        name: str | None = None,
        *,
        verify: bool = False,
    ) -> None:
        who = who or self.producer
        name = self.id if name is None else name
        topics = [AddPartitionsToTxnTopic(name=topic, partitions=list(found)) for topic, found in partitions.items()]
        if version < 4:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=name,
                v3_and_below_producer_id=who.producer_id,
                v3_and_below_producer_epoch=who.epoch,
                v3_and_below_topics=topics,
            )
        else:
            transaction = AddPartitionsToTxnTransaction(
                transactional_id=name,
                producer_id=who.producer_id,
                producer_epoch=who.epoch,
                verify_only=verify,
                topics=topics,
            )
            request = AddPartitionsToTxnRequest(transactions=[transaction])
        self.ask(request, version)

    def write(
        self,
        partition: int = 0,
        sequence: int = 0,
        version: int = 12,
        who: Producer | None = None,
        name: str | None = "",
    ) -> None:
        who = who or self.producer
        batch = build_batch(
            [Record(0, now_ms(), b"k", b"v")],
            transactional=True,
            producer_id=who.producer_id,
            producer_epoch=who.epoch,
            base_sequence=sequence,
        )
        request = produce_request({(TOPIC, partition): batch})
        request.transactional_id = self.id if name == "" else name
        self.ask(request, version)

    def add_offsets(self, who: Producer | None = None, version: int = 4, name: str | None = None) -> None:
        who = who or self.producer
        request = AddOffsetsToTxnRequest(
            transactional_id=self.id if name is None else name,
            producer_id=who.producer_id,
            producer_epoch=who.epoch,
            group_id="group",
        )
        self.ask(request, version)

    def commit_offsets(
        self,
        who: Producer | None = None,
        version: int = 5,
        topic: str = TOPIC,
        partition: int = 0,
        group: str = "group",
        member: str = "",
        generation: int = -1,
    ) -> None:
        who = who or self.producer
        asked = TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=5, committed_metadata="m")
        request = TxnOffsetCommitRequest(
            transactional_id=self.id,
            group_id=group,
            producer_id=who.producer_id,
            producer_epoch=who.epoch,
            member_id=member,
            generation_id=generation,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[asked])],
        )
        self.ask(request, version)

    def end(self, *, commits: bool, who: Producer | None = None, version: int = 5, name: str | None = None) -> None:
        who = who or self.producer
        request = EndTxnRequest(
            transactional_id=self.id if name is None else name,
            producer_id=who.producer_id,
            producer_epoch=who.epoch,
            committed=commits,
        )
        answer = self.ask(request, version)
        assert isinstance(answer, EndTxnResponse)
        if answer.error_code == ErrorCode.NONE and version >= 5:
            self.producer = Producer(answer.producer_id, answer.producer_epoch)
        self.rest()

    def rest(self) -> None:
        """Kafka answers before it has told the partitions."""
        prepared = ("PrepareCommit", "PrepareAbort")
        wait_for(
            lambda: self._client.describe(self.id).transaction_state not in prepared, "the transaction to be complete"
        )

    def describe(self) -> None:
        self.ask(DescribeTransactionsRequest(transactional_ids=[self.id, "nobody", ""]), 0)
        self.ask(DescribeProducersRequest(topics=[TopicRequest(name=TOPIC, partition_indexes=[0, 1, 2, 9])]), 0)
        asked = [
            FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20) for index in range(PARTITIONS)
        ]
        for isolation_level in (0, READ_COMMITTED):
            request = FetchRequest(
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=1 << 20,
                isolation_level=isolation_level,
                topics=[FetchTopic(topic=TOPIC, partitions=asked)],
            )
            self.ask(request, 12)


# The stories.


def initialisation(teller: Teller) -> None:
    teller.initialise()
    first = teller.producer
    for expected in (first, first, teller.who(ids=500), teller.who(epochs=70)):
        teller.initialise(expected)
    for version in (3, 4, 5):
        teller.initialise(teller.who(epochs=70), version=version)
    teller.initialise(Producer(first.producer_id, -1))
    teller.initialise(Producer(-1, 3))
    for timeout_ms in (0, -1, 900_001):
        teller.initialise(timeout_ms=timeout_ms)
    teller.initialise(name="")
    for version in range(6):
        teller.initialise(version=version)
    teller.describe()


def older_clients(teller: Teller) -> None:
    teller.initialise()
    for version in (0, 1, 2, 3, 4):
        teller.end(commits=True, version=version)
        teller.end(commits=True, version=version, who=teller.who(epochs=1))
    teller.end(commits=True, version=1, who=teller.who(ids=500))
    teller.end(commits=True, version=1, name="nobody")
    teller.end(commits=True, version=1, name="")
    teller.add({TOPIC: [0]})
    teller.describe()
    for partitions in ({TOPIC: [0, 9]}, {TOPIC: [1], "nix": [0]}, {"__consumer_offsets": [0]}, {}):
        teller.add(partitions)
    for version in range(4):
        teller.add({TOPIC: [1]}, teller.who(epochs=-1), version)
    teller.add({TOPIC: [1]}, teller.who(ids=500))
    teller.add({TOPIC: [1]}, name="nobody")
    teller.add({TOPIC: [1]}, name="")
    for version in (4, 5):
        teller.add({TOPIC: [0, 1]}, version=version, verify=True)
        teller.add({TOPIC: [0, 1]}, teller.who(epochs=1), version, verify=True)
        teller.add({TOPIC: [0, 9]}, version=version)
        teller.add({TOPIC: [0]}, version=version, name="")
    teller.write(0, 0, version=9)
    teller.write(0, 0, version=9)
    for version in (3, 8, 9, 10, 11):
        teller.write(1, 0, version=version)
    teller.write(1, version=11, name=None)
    for who in (teller.who(epochs=-1), teller.who(epochs=1), teller.who(ids=500)):
        teller.write(1, version=11, who=who)
    teller.write(1, version=11, name="nobody")
    teller.describe()
    for commits in (True, True, False):
        teller.end(commits=commits, version=4)
        teller.describe()


def newer_clients(teller: Teller) -> None:
    teller.initialise()
    teller.write(0, 0)
    teller.write(1, 0)
    teller.write(2, 5)
    teller.describe()
    teller.end(commits=True)
    teller.describe()
    for epochs, commits in ((-1, True), (-1, False), (0, True), (-2, True), (1, True)):
        teller.end(commits=commits, who=teller.who(epochs=epochs))
    teller.end(commits=True, who=teller.who(ids=500))
    for who in (teller.who(epochs=-1), teller.who(epochs=1), teller.who(ids=500)):
        teller.write(0, 0, who=who)
    teller.write(0, 0, name="nobody")
    teller.write(0, 0, name=None)
    teller.end(commits=False)
    teller.end(commits=False)
    teller.describe()
    teller.write(0, 3)
    teller.write(0, 0)
    teller.describe()
    old = teller.producer
    teller.initialise()
    teller.rest()
    teller.describe()
    teller.end(commits=True, who=old)
    teller.initialise()
    teller.end(commits=False, who=old)
    teller.write(0, 1, who=old)
    teller.write(0, 1, who=old, version=11)
    teller.describe()


def offsets(teller: Teller) -> None:
    teller.initialise()
    for version in range(5):
        teller.commit_offsets(version=version)
    teller.add_offsets(teller.who(epochs=1))
    teller.add_offsets(teller.who(epochs=1), version=1)
    teller.add_offsets(teller.who(ids=500))
    teller.add_offsets(name="nobody")
    teller.add_offsets(name="")
    teller.add_offsets()
    teller.describe()
    teller.commit_offsets(version=3)
    teller.commit_offsets(version=3, topic="nix")
    teller.commit_offsets(version=3, partition=9)
    teller.commit_offsets(version=3, group="")
    teller.commit_offsets(version=3, member="x", generation=3)
    teller.commit_offsets(teller.who(epochs=1), version=3)
    teller.commit_offsets(teller.who(ids=500), version=3)
    teller.end(commits=True, version=4)
    teller.commit_offsets()
    teller.describe()
    teller.end(commits=True)
    for version in (2, 3, 4, 5):
        teller.commit_offsets(teller.who(epochs=-1), version)


def markers(teller: Teller) -> None:
    def mark(who: Producer, partitions: Mapping[str, Sequence[int]], coordinator_epoch: int = 0) -> None:
        marker = WritableTxnMarker(
            producer_id=who.producer_id,
            producer_epoch=who.epoch,
            coordinator_epoch=coordinator_epoch,
            topics=[
                WritableTxnMarkerTopic(name=topic, partition_indexes=list(found)) for topic, found in partitions.items()
            ],
        )
        for version in (1, 2):
            teller.ask(WriteTxnMarkersRequest(markers=[marker]), version)

    teller.initialise()
    teller.write(0, 0)
    mark(teller.producer, {TOPIC: [0, 7], "nix": [0]})
    mark(teller.who(epochs=-1), {TOPIC: [0]})
    mark(teller.who(ids=500), {TOPIC: [0], "__consumer_offsets": [0, 77]})
    mark(teller.who(ids=500), {TOPIC: [1]}, coordinator_epoch=5)
    mark(teller.who(ids=500), {TOPIC: [1]}, coordinator_epoch=2)
    teller.ask(WriteTxnMarkersRequest(markers=[]), 2)
    teller.describe()


def lists(teller: Teller) -> None:
    teller.initialise()
    teller.write(0, 0)
    pattern = f".*{teller.id[1:]}"
    for states in ([], ["Ongoing"], ["Empty"], ["Ongoing", "Dead", "unheard of"]):
        teller.ask(ListTransactionsRequest(state_filters=states, transactional_id_pattern=pattern), 2)
    for duration_ms in (-1, 10**9):
        request = ListTransactionsRequest(duration_filter=duration_ms, transactional_id_pattern=pattern)
        teller.ask(request, 2)
    for text in ("(", "no such id", teller.id[:3]):
        teller.ask(ListTransactionsRequest(transactional_id_pattern=text), 2)
    for producer_id in (teller.producer.producer_id, 1 << 40):
        teller.ask(ListTransactionsRequest(producer_id_filters=[producer_id]), 0)


STORIES: Sequence[Callable[[Teller], None]] = (
    initialisation,
    older_clients,
    newer_clients,
    offsets,
    markers,
    lists,
)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_the_same_story(
    barnabas: BarnabasBroker, apache_kafka: ApacheKafka, topic: str, story: Callable[[Teller], None]
) -> None:
    tellers = []
    for broker in (barnabas, apache_kafka):
        with TransactionClient(broker.address) as client:
            create_anew(client)
            teller = Teller(client, topic)
            story(teller)
            tellers.append(teller)
    ours, kafkas = tellers
    for own, kafka in zip(ours.answers, kafkas.answers, strict=True):
        assert own == kafka


def create_anew(client: TransactionClient) -> None:
    """The topic of the story, with nothing in it."""
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=TOPIC)], timeout_ms=10_000)
    client.ask(request, DeleteTopicsResponse, 6)

    def is_gone() -> bool:
        data = client.fetch(TOPIC, 0)
        return data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    wait_for(is_gone, "the topic to be gone")
    client.create(TOPIC, PARTITIONS)
    for partition in range(PARTITIONS):
        wait_for(
            lambda partition=partition: client.fetch(TOPIC, 0, partition=partition).error_code == ErrorCode.NONE,  # type: ignore[misc]
            "the new topic",
        )
