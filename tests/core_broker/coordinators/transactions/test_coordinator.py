"""The rules of transactions, one by one, on virtual time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.transaction_state import TransactionLogValue
from core_broker.coordinators.transactions.decisions import Admission
from core_broker.coordinators.transactions.records import record_of
from core_broker.coordinators.transactions.transaction import LAST_CLIENT_EPOCH, Producer, Status, Transaction
from core_broker.log.checkpoints import TopicPartition
from tests.core_broker.coordinators.transactions.world import Died, World, code_of

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()


def status(world: World, transactional_id: str = "t") -> Status:
    found = world.find(transactional_id)
    assert found is not None
    return found.status


def exhaust(world: World, epoch: int = LAST_CLIENT_EPOCH) -> Producer:
    """Lets a transactional id be at the end of its epochs, as if it had been used for years."""
    producer = world.initialise("t")
    shard = world.transactions.shard_of("t")
    found = shard.state.transactions["t"]
    shard.state.write("t", found._replace(epoch=epoch), lambda error: None)
    return producer._replace(epoch=epoch)


# InitProducerId.


def test_each_instance_gets_the_next_epoch(world: World) -> None:
    first = world.initialise("t")
    assert first.epoch == 0
    assert world.initialise("t") == first._replace(epoch=1)
    assert world.initialise("other").producer_id != first.producer_id


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_a_timeout_has_limits(world: World, timeout_ms: int) -> None:
    code = code_of(lambda: world.initialise("t", timeout_ms=timeout_ms))
    assert code is ErrorCode.INVALID_TRANSACTION_TIMEOUT


def test_the_largest_timeout_is_a_setting(tmp_path: Path) -> None:
    world = World(tmp_path, transaction_max_timeout_ms=5000)
    assert code_of(lambda: world.initialise("t", timeout_ms=5001)) is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert code_of(lambda: world.initialise("t", timeout_ms=5000)) is ErrorCode.NONE
    world.close()


def test_an_empty_id_is_refused(world: World) -> None:
    assert code_of(lambda: world.initialise("")) is ErrorCode.INVALID_REQUEST


def test_a_producer_that_comes_back_says_who_it_was(world: World) -> None:
    producer = world.initialise("t")
    raised = world.initialise("t", producer)
    assert raised == producer._replace(epoch=1)
    assert world.initialise("t", producer) == raised, "the answer was lost, and it asks again"
    assert world.initialise("t", raised).epoch == 2
    assert code_of(lambda: world.initialise("t", producer)) is ErrorCode.PRODUCER_FENCED
    stranger = Producer(producer.producer_id + 1, 2)
    assert code_of(lambda: world.initialise("t", stranger)) is ErrorCode.PRODUCER_FENCED


def test_a_new_instance_aborts_the_transaction_of_the_old_one(world: World) -> None:
    old = world.initialise("t")
    world.produce("t", old, ("a", 0), b"half")
    assert code_of(lambda: world.initialise("t")) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert status(world) is Status.COMPLETE_ABORT
    new = world.initialise("t")
    assert new.epoch == old.epoch + 2
    assert world.is_stable("a", 0)
    assert world.committed("a", 0) == []
    assert code_of(lambda: world.produce("t", old, ("a", 0), b"zombie")) is ErrorCode.PRODUCER_FENCED
    assert code_of(lambda: world.end("t", old, commits=True)) is ErrorCode.PRODUCER_FENCED


def test_with_the_last_epoch_comes_a_new_producer_id(world: World) -> None:
    producer = exhaust(world)
    rotated = world.initialise("t", producer)
    assert rotated.epoch == 0
    assert rotated.producer_id != producer.producer_id
    assert world.initialise("t", producer) == rotated, "the answer was lost, and it asks again"


def test_the_last_epoch_leaves_one_to_fence_with(world: World) -> None:
    producer = exhaust(world)
    world.produce("t", producer, ("a", 0), b"half")
    assert code_of(lambda: world.initialise("t")) is ErrorCode.CONCURRENT_TRANSACTIONS
    new = world.initialise("t")
    assert new.epoch == 0
    assert new.producer_id != producer.producer_id
    assert world.is_stable("a", 0)


# Partitions.


def test_a_partition_joins_when_it_is_produced_to(world: World) -> None:
    producer = world.initialise("t")
    world.produce("t", producer, ("a", 0), b"1")
    world.produce("t", producer, ("b", 0), b"2")
    found = world.find("t")
    assert found is not None
    assert found.status is Status.ONGOING
    assert found.partitions == {TopicPartition("a", 0), TopicPartition("b", 0)}


@pytest.mark.parametrize(
    ("admission", "code"),
    [(Admission.VERIFY, ErrorCode.TRANSACTION_ABORTABLE), (Admission.VERIFY_OLD, ErrorCode.INVALID_TXN_STATE)],
)
def test_older_clients_add_partitions_first(world: World, admission: Admission, code: ErrorCode) -> None:
    producer = world.initialise("t")
    world.add("t", producer, ("a", 0))
    world.produce("t", producer, ("a", 0), b"1", admission)
    assert code_of(lambda: world.produce("t", producer, ("a", 1), b"2", admission)) is code
    world.verifies_transactions = False
    assert code_of(lambda: world.produce("t", producer, ("a", 1), b"2", admission)) is ErrorCode.NONE


def test_who_is_not_the_producer_adds_nothing(world: World) -> None:
    producer = world.initialise("t")
    foreign = Producer(producer.producer_id + 1, 0)
    assert code_of(lambda: world.add("t", foreign, ("a", 0))) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert code_of(lambda: world.add("nobody", producer, ("a", 0))) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    older, newer = producer._replace(epoch=-1), producer._replace(epoch=1)
    assert code_of(lambda: world.add("t", older, ("a", 0))) is ErrorCode.PRODUCER_FENCED
    assert code_of(lambda: world.add("t", newer, ("a", 0))) is ErrorCode.PRODUCER_FENCED
    assert status(world) is Status.EMPTY


# The end.


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("commits", [True, False])
def test_an_ended_transaction_is_seen_wholly_or_not_at_all(world: World, commits: bool, version: int) -> None:
    producer = world.initialise("t")
    partitions = [("a", 0), ("a", 1), ("b", 0)]
    world.add("t", producer, *partitions)
    for partition in partitions:
        world.produce("t", producer, partition, b"x", Admission.VERIFY)
        assert world.committed(*partition) == []
        assert not world.is_stable(*partition)
    after = world.end("t", producer, commits=commits, version=version)
    assert after.epoch == (1 if version == 2 else 0)
    assert status(world) is (Status.COMPLETE_COMMIT if commits else Status.COMPLETE_ABORT)
    for partition in partitions:
        assert world.committed(*partition) == ([b"x"] if commits else [])
        assert world.is_stable(*partition)


def test_ends_of_older_clients(world: World) -> None:
    producer = world.initialise("t")

    def end(commits: bool, epoch: int = 0) -> ErrorCode:
        return code_of(lambda: world.end("t", producer._replace(epoch=epoch), commits=commits, version=0))

    assert end(True) is ErrorCode.INVALID_TXN_STATE
    assert end(False) is ErrorCode.INVALID_TXN_STATE
    world.add("t", producer, ("a", 0))
    assert end(True, epoch=1) is ErrorCode.PRODUCER_FENCED
    assert end(True) is ErrorCode.NONE
    assert end(True) is ErrorCode.NONE, "it did not hear, and asks again"
    assert end(False) is ErrorCode.INVALID_TXN_STATE
    world.add("t", producer, ("a", 0))
    assert end(False) is ErrorCode.NONE
    assert end(False) is ErrorCode.NONE
    assert end(True) is ErrorCode.INVALID_TXN_STATE


def test_ends_of_newer_clients(world: World) -> None:
    """Kafka's table: with the epoch before a request is a repetition, with the present one it is about the next transaction."""
    producer = world.initialise("t")

    def end(commits: bool, epoch: int) -> tuple[ErrorCode, int]:
        code = code_of(lambda: world.end("t", producer._replace(epoch=epoch), commits=commits))
        found = world.find("t")
        assert found is not None
        return code, found.epoch

    assert end(True, 0) == (ErrorCode.INVALID_TXN_STATE, 0)
    assert end(False, -1) == (ErrorCode.PRODUCER_FENCED, 0)
    assert end(False, 0) == (ErrorCode.NONE, 1)  # there was nothing to abort, and the epoch is raised
    assert end(False, 0) == (ErrorCode.NONE, 1)
    assert end(True, 0) == (ErrorCode.INVALID_TXN_STATE, 1)
    assert end(True, 1) == (ErrorCode.INVALID_TXN_STATE, 1)
    assert end(False, 1) == (ErrorCode.NONE, 2)
    world.produce("t", producer._replace(epoch=2), ("a", 0), b"x")
    assert end(True, 1) == (ErrorCode.PRODUCER_FENCED, 2)
    assert end(True, 3) == (ErrorCode.PRODUCER_FENCED, 2)
    assert end(True, 2) == (ErrorCode.NONE, 3)
    assert end(True, 2) == (ErrorCode.NONE, 3)
    assert end(False, 2) == (ErrorCode.INVALID_TXN_STATE, 3)
    assert end(True, 3) == (ErrorCode.INVALID_TXN_STATE, 3)
    assert end(False, 3) == (ErrorCode.NONE, 4)
    foreign = Producer(producer.producer_id + 1, 4)
    assert code_of(lambda: world.end("t", foreign, commits=True)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert code_of(lambda: world.end("nobody", producer, commits=True)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_a_zombie_does_not_learn_the_epoch_of_an_older_client(world: World) -> None:
    zombie = world.initialise("t")
    producer = world.initialise("t")
    world.add("t", producer, ("a", 0))
    world.end("t", producer, commits=False, version=0)
    assert code_of(lambda: world.end("t", zombie, commits=False)) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("commits", [True, False])
def test_the_end_with_the_last_epoch_brings_a_new_producer_id(world: World, commits: bool) -> None:
    producer = exhaust(world)
    world.produce("t", producer, ("a", 0), b"x")
    after = world.end("t", producer, commits=commits)
    assert after.epoch == 0
    assert after.producer_id != producer.producer_id
    assert world.committed("a", 0) == ([b"x"] if commits else [])
    assert world.end("t", producer, commits=commits) == after, "the answer was lost, and it asks again"
    world.restart()
    assert world.end("t", producer, commits=commits) == after, "even of another process"
    world.produce("t", after, ("a", 0), b"y")
    world.end("t", after, commits=True)
    assert world.committed("a", 0)[-1:] == [b"y"]


def test_a_partition_that_was_deleted_holds_nothing_up(world: World) -> None:
    producer = world.initialise("t")
    world.produce("t", producer, ("a", 0), b"x")
    world.add("t", producer, ("gone", 0))
    world.end("t", producer, commits=True)
    assert status(world) is Status.COMPLETE_COMMIT
    assert world.committed("a", 0) == [b"x"]


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("writes", range(4))
def test_what_a_full_disk_keeps_from_its_end_is_tried_again(world: World, writes: int, version: int) -> None:
    """The end is four writes: the decision, two markers, and that all is done."""
    producer = world.initialise("t")
    world.add("t", producer, ("a", 0), ("b", 0))
    for partition in (("a", 0), ("b", 0)):
        world.produce("t", producer, partition, b"x", Admission.VERIFY)
    world.disk.writes_left, world.disk.fills_up = writes, True
    answers = world.begin_end("t", producer, commits=True, version=version)
    if writes == 0:
        (refusal,) = answers
        assert isinstance(refusal, KafkaError), "nothing was decided, and the client may try again"
        assert status(world) is Status.ONGOING
        world.disk.writes_left = None
        assert code_of(lambda: world.end("t", producer, commits=False, version=version)) is ErrorCode.NONE
        return
    (answer,) = answers
    assert isinstance(answer, Transaction), "it is decided, and the client need not wait for the disk"
    assert status(world) is Status.PREPARE_COMMIT
    assert code_of(lambda: world.add("t", producer, ("a", 1))) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert code_of(lambda: world.initialise("t")) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert code_of(lambda: world.end("t", producer, commits=True)) is ErrorCode.CONCURRENT_TRANSACTIONS
    world.advance(1000)
    assert status(world) is Status.PREPARE_COMMIT
    world.disk.writes_left = None
    world.advance(5000)
    assert answers == [answer]
    assert status(world) is Status.COMPLETE_COMMIT
    for partition in (("a", 0), ("b", 0)):
        assert world.committed(*partition) == [b"x"]


# Time.


def test_a_transaction_that_takes_too_long_is_aborted(world: World) -> None:
    producer = world.initialise("t", timeout_ms=20_000)
    world.produce("t", producer, ("a", 0), b"x")
    world.advance(20_000)
    assert status(world) is Status.ONGOING
    world.advance(10_000)
    assert status(world) is Status.COMPLETE_ABORT
    assert world.is_stable("a", 0)
    found = world.find("t")
    assert found is not None
    assert found.epoch == producer.epoch + 1
    assert code_of(lambda: world.produce("t", producer, ("a", 0), b"y")) is ErrorCode.PRODUCER_FENCED
    assert code_of(lambda: world.end("t", producer, commits=True)) is ErrorCode.INVALID_TXN_STATE
    assert code_of(lambda: world.end("t", producer, commits=True, version=0)) is ErrorCode.PRODUCER_FENCED
    # A newer client aborts what was aborted, and goes on with the epoch that it is told.
    after = world.end("t", producer, commits=False)
    world.produce("t", after, ("a", 0), b"z")
    world.end("t", after, commits=True)
    assert world.committed("a", 0) == [b"z"]


def test_how_often_is_looked_for_them_is_a_setting(tmp_path: Path) -> None:
    world = World(tmp_path, transaction_abort_timed_out_transaction_cleanup_interval_ms=100)
    producer = world.initialise("t", timeout_ms=1000)
    world.produce("t", producer, ("a", 0), b"x")
    world.advance(1000)
    assert status(world) is Status.ONGOING
    world.advance(101)
    assert status(world) is Status.COMPLETE_ABORT
    world.close()


def test_ids_that_nobody_uses_are_forgotten(world: World) -> None:
    world.initialise("t")
    busy = world.initialise("busy", timeout_ms=900_000)
    for _ in range(7 * 24 * 5 - 1):
        world.advance(HOUR_MS // 5)
        busy = world.initialise("busy", busy)
    assert world.find("t") is not None
    world.advance(HOUR_MS)
    assert world.find("t") is None
    assert world.find("busy") is not None
    world.restart()
    assert world.find("t") is None
    assert world.find("busy") is not None
    assert code_of(lambda: world.add("t", Producer(1001, 0), ("a", 0))) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_ids_with_an_open_transaction_are_kept(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        transactional_id_expiration_ms=1000,
        transaction_remove_expired_transaction_cleanup_interval_ms=100,
    )
    producer = world.initialise("t", timeout_ms=100_000)
    world.produce("t", producer, ("a", 0), b"x")
    world.advance(50_000)
    assert status(world) is Status.ONGOING
    world.end("t", producer, commits=True)
    world.advance(1100)
    assert world.find("t") is None
    world.close()


# Restarts.


def test_a_restart_knows_what_was_known(world: World) -> None:
    producer = world.initialise("t")
    world.produce("t", producer, ("a", 0), b"x")
    world.initialise("u")
    done = world.initialise("v")
    world.produce("v", done, ("b", 0), b"y")
    world.end("v", done, commits=True)
    before = world.state()
    world.restart()
    assert world.state() == before
    world.end("t", producer, commits=True)
    assert world.committed("a", 0) == [b"x"]


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("writes", range(5))
def test_a_decision_is_carried_out_after_a_crash(world: World, writes: int, version: int) -> None:
    """The end is five writes: the decision, three markers, and that all is done."""
    producer = world.initialise("t")
    partitions = [("a", 0), ("a", 1), ("b", 0)]
    world.add("t", producer, *partitions)
    for partition in partitions:
        world.produce("t", producer, partition, b"x", Admission.VERIFY)
    world.disk.writes_left = writes
    with pytest.raises(Died):
        world.end("t", producer, commits=True, version=version)
    world.restart()
    decided = writes > 0
    for partition in partitions:
        assert world.committed(*partition) == ([b"x"] if decided else [])
        assert world.is_stable(*partition) is decided
    assert status(world) is (Status.COMPLETE_COMMIT if decided else Status.ONGOING)


def test_data_that_the_coordinator_does_not_know_is_aborted(world: World) -> None:
    """The power went after the data and before the coordinator's record: what was not known is not committed later."""
    producer = world.initialise("t")
    world.produce("t", producer, ("a", 0), b"x")
    world.produce("t", producer, ("b", 0), b"y")
    shard = world.transactions.shard_of("t")
    shard.state.write("t", shard.state.transactions["t"]._replace(partitions=frozenset()), lambda error: None)
    world.restart()
    assert world.is_stable("a", 0)
    assert world.is_stable("b", 0)
    assert code_of(lambda: world.produce("t", producer, ("a", 0), b"more")) is ErrorCode.PRODUCER_FENCED
    after = world.end("t", producer, commits=False)
    world.produce("t", after, ("a", 0), b"again")
    world.end("t", after, commits=True)
    assert world.committed("a", 0) == [b"again"]
    assert world.committed("b", 0) == []


def test_a_status_that_nobody_knows_is_passed_over(world: World) -> None:
    producer = world.initialise("t")
    shard = world.transactions.shard_of("t")
    record = record_of("t", shard.state.transactions["t"], 2)
    assert isinstance(record.value, TransactionLogValue)
    record.value.transaction_status = 99
    shard.write([record], lambda error: None)
    world.restart()
    assert world.initialise("t", producer).epoch == 1
