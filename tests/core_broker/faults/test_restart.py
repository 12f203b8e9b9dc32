"""A broker is killed, or stopped, and started again on the same data."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random, SystemRandom

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.produce import PartitionProduceResponse
from tests.broker import BarnabasBroker
from tests.conftest import StartBroker
from tests.core_broker.broker_client import records, values
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.ledger import Ledger, Place
from tests.core_broker.faults.load import Client, Consumer, IdempotentProducer, PlainProducer
from tests.core_broker.faults.topic_owner import TopicOwner
from tests.waiting import wait_for

SEED = SystemRandom().randrange(10**9)
KILLS = 3
ACKNOWLEDGED_BEFORE_KILL_MAX = 400
CLEAN_MARK = ".kafka_cleanshutdown"
REFUSAL_DEADLINE_S = 90


@pytest.fixture
def own(start_broker: StartBroker) -> BarnabasBroker:
    """A broker that belongs to the test."""
    return start_broker()


@pytest.fixture
def crash(own: BarnabasBroker) -> Callable[[], None]:
    """Kill the broker and start it again."""

    def kill_and_start() -> None:
        own.kill()
        own.start()

    return kill_and_start


def numbered(value: bytes, sequence: int) -> bytearray:
    return build_batch(records(value), producer_id=3, producer_epoch=0, base_sequence=sequence)


@pytest.mark.parametrize(("durability", "seed"), [("durable", SEED), ("relaxed", 7)], ids=["durable", "relaxed"])
def test_nothing_that_was_acknowledged_is_lost_by_kills(start_broker: StartBroker, durability: str, seed: int) -> None:
    broker = start_broker(durability=durability)
    random, ledger = Random(seed), Ledger()
    places = [Place("plain", 0), Place("plain", 1), Place("numbered", 0)]
    owner = TopicOwner("owned", Random(random.random()), ledger)
    clients: list[Client] = [
        PlainProducer("one", Random(random.random()), ledger, places),
        IdempotentProducer("numbered", Random(random.random()), ledger, places[-1]),
        Consumer("reader", Random(random.random()), ledger, places),
        owner,
    ]
    with AdminClient(broker.address) as client:
        for topic, partitions in (("plain", 2), ("numbered", 1)):
            assert not client.try_create(topic, partitions, internal_segment_bytes=200_000).error_code
    for _ in range(KILLS):
        wanted = ledger.acknowledged_count + random.randrange(ACKNOWLEDGED_BEFORE_KILL_MAX)
        with ThreadPoolExecutor(len(clients)) as threads:
            running = [threads.submit(client.run, broker.address, threading.Event()) for client in clients]
            wait_for(lambda wanted=wanted: ledger.acknowledged_count > wanted, "producers to get on")  # type: ignore[misc]
            broker.kill()
        for finished in running:
            finished.result()
        broker.start()
        with AdminClient(broker.address) as client:
            owner.check(client)
            for place in ledger.places:
                ledger.check(place, client.read_all(*place))


def test_an_idempotent_producer_is_known_after_a_kill(own: BarnabasBroker, crash: Callable[[], None]) -> None:
    def send(value: bytes, sequence: int) -> PartitionProduceResponse:
        with AdminClient(own.address) as client:
            return client.produce("topic", numbered(value, sequence))

    with AdminClient(own.address) as client:
        client.create("topic")
    assert [send(b"%d" % number, number).base_offset for number in range(7)] == list(range(7))
    crash()
    assert send(b"6", 6).base_offset == 6
    assert send(b"2", 2).base_offset == 2, "the last five are remembered"
    assert send(b"9", 9).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(b"7", 7).base_offset == 7
    own.restart()
    assert send(b"7", 7).base_offset == 7
    with AdminClient(own.address) as client:
        assert values(client.read_all("topic")) == [b"%d" % number for number in range(8)]


def test_topics_configs_and_producer_ids_outlive_kills_and_stops(own: BarnabasBroker) -> None:
    with AdminClient(own.address) as client:
        client.create("topic", partitions=3, retention_ms="1000000")
        topic_id = client.topics()["topic"].topic_id
        producer_ids = [client.init_producer_id().producer_id]
    for number, end in enumerate((own.kill, own.stop, own.kill)):
        with AdminClient(own.address) as client:
            assert client.set_config("topic", "retention.ms", str(2_000_000 + number)) == ErrorCode.NONE
        end()
        own.start()
        with AdminClient(own.address) as client:
            topic = client.topics()["topic"]
            assert (topic.topic_id, len(topic.partitions)) == (topic_id, 3)
            assert client.config("topic", "retention.ms") == str(2_000_000 + number)
            producer_ids.append(client.init_producer_id().producer_id)
    assert len(set(producer_ids)) == len(producer_ids), "an id was given twice"


def test_the_leader_epoch_rises_after_a_kill_and_not_after_a_stop(own: BarnabasBroker) -> None:
    def epoch() -> int:
        with AdminClient(own.address) as client:
            return client.leader_epoch("topic")

    with AdminClient(own.address) as client:
        client.create("topic")
        client.append("topic", b"a")
    first = epoch()
    mark = own.log_dir / CLEAN_MARK
    assert not mark.exists(), "a running broker is not cleanly stopped"
    assert own.stop() == 0
    assert mark.exists()
    own.start()
    assert not mark.exists()
    assert epoch() == first
    own.kill()
    assert not mark.exists()
    own.start()
    assert epoch() == first + 1
    with AdminClient(own.address) as client:
        assert client.append("topic", b"b") == 1
        assert client.fetch("topic", 0, version=12).error_code == ErrorCode.NONE


def test_a_mark_that_was_left_by_an_earlier_stop_does_not_count_after_a_kill(own: BarnabasBroker) -> None:
    own.restart()
    with AdminClient(own.address) as client:
        client.create("topic")
        client.append("topic", b"whole")
    own.kill()
    append_garbage(own.log_dir / "topic-0")
    own.start()
    with AdminClient(own.address) as client:
        assert values(client.read_all("topic")) == [b"whole"]


@pytest.mark.parametrize("garbage", [b"\0" * 5000, b"garbage" * 1000, b"\0" * 8 + b"\0\0\0\x70" + b"\1" * 300])
def test_a_torn_tail_is_cut_off(own: BarnabasBroker, garbage: bytes) -> None:
    with AdminClient(own.address) as client:
        client.create("topic")
        for number in range(5):
            client.append("topic", b"%d" % number)
    own.kill()
    append_garbage(own.log_dir / "topic-0", garbage)
    own.start()
    with AdminClient(own.address) as client:
        assert values(client.read_all("topic")) == [b"%d" % number for number in range(5)]
        assert client.append("topic", b"5") == 5
    own.restart()
    with AdminClient(own.address) as client:
        assert values(client.read_all("topic")) == [b"%d" % number for number in range(6)]


def append_garbage(folder: Path, garbage: bytes = b"garbage") -> None:
    segment = max(folder.glob("*.log"))
    with segment.open("ab") as file:
        file.write(garbage)


def test_a_stop_under_load_is_clean(start_broker: StartBroker) -> None:
    """Also with large batches on their way to the disk and topics being created."""
    broker = start_broker()
    ledger, places = Ledger(), [Place("topic", 0), Place("topic", 1)]
    owner = TopicOwner("owned", Random(1), ledger)
    clients = [PlainProducer(f"p{n}", Random(n), ledger, places) for n in range(3)]
    for producer in clients:
        producer.large_share = 0.9
    with AdminClient(broker.address) as client:
        client.create("topic", partitions=2)
    for _ in range(3):
        with ThreadPoolExecutor(4) as threads:
            wanted = ledger.acknowledged_count + 50
            running = [threads.submit(each.run, broker.address, threading.Event()) for each in (*clients, owner)]
            wait_for(lambda wanted=wanted: ledger.acknowledged_count > wanted, "producers to get on")  # type: ignore[misc]
            assert broker.stop() == 0, broker.tail()
        for finished in running:
            finished.result()
        assert (broker.log_dir / CLEAN_MARK).exists()
        assert "Traceback" not in broker.tail()
        broker.start()
        with AdminClient(broker.address) as client:
            owner.check(client)
            for place in ledger.places:
                ledger.check(place, client.read_all(*place))


def test_a_folder_that_belongs_to_no_topic_is_set_aside(own: BarnabasBroker) -> None:
    with AdminClient(own.address) as client:
        client.create("topic")
        client.append("topic", b"a")
    own.stop()
    stray = own.log_dir / "stranger-0"
    stray.mkdir()
    (stray / f"{0:020d}.log").write_bytes(b"precious")
    (own.log_dir / "topic-7").mkdir()  # of a topic that has one partition
    own.start()
    assert not stray.exists()
    (aside,) = own.log_dir.glob("stranger-0.*-stray")
    assert (aside / f"{0:020d}.log").read_bytes() == b"precious"
    assert len(list(own.log_dir.glob("topic-7.*-stray"))) == 1
    with AdminClient(own.address) as client:
        assert list(client.topics()) == ["topic"]
        client.create("stranger")
        assert client.append("stranger", b"new") == 0
        assert values(client.read_all("topic")) == [b"a"]


def refusal(broker: BarnabasBroker) -> str:
    """What another one on the same directory says, which does not start."""
    other = subprocess.run(
        [*broker.command(), "--set", "listeners=PLAINTEXT://127.0.0.1:0"],
        capture_output=True,
        text=True,
        timeout=REFUSAL_DEADLINE_S,
        check=False,
    )
    assert other.returncode == 1
    assert str(broker.log_dir) in other.stderr
    assert "Traceback" not in other.stderr
    return other.stderr


def test_a_broker_does_not_start_without_what_says_what_it_holds(own: BarnabasBroker, tmp_path: Path) -> None:
    with AdminClient(own.address) as client:
        for name in ("one", "two"):
            client.create(name)
            client.append(name, b"a")
    own.stop()
    whole, metadata = tmp_path / "whole", own.log_dir / "__cluster_metadata-0"
    shutil.copytree(own.log_dir, whole)
    shutil.rmtree(metadata)
    assert "holds the records of one-0, two-0, but nothing is in __cluster_metadata-0" in refusal(own)
    shutil.copytree(whole / metadata.name, metadata, dirs_exist_ok=True)
    (log,) = metadata.glob("*.log")
    with log.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff\xff\xff\xff")
    assert f"{log} is damaged at byte " in refusal(own)
    shutil.copytree(whole, own.log_dir, dirs_exist_ok=True)
    own.start()
    with AdminClient(own.address) as client:
        assert sorted(client.topics()) == ["one", "two"]
        assert values(client.read_all("two")) == [b"a"]


def test_a_second_broker_on_the_same_directory_is_refused(own: BarnabasBroker) -> None:
    assert "in use by another process" in refusal(own)
    with AdminClient(own.address) as client:
        client.create("topic")
        assert client.append("topic", b"a") == 0


@pytest.mark.parametrize("delay_ms", [0, 60_000], ids=["removed at once", "removed by the next start"])
def test_the_files_of_a_deleted_topic_go(own: BarnabasBroker, delay_ms: int) -> None:
    with AdminClient(own.address) as client:
        client.create("topic", partitions=2, file_delete_delay_ms=str(delay_ms))
        client.append("topic", b"a", partition=1)
        assert client.delete("topic") == ErrorCode.NONE
        assert not (own.log_dir / "topic-1").exists()
    if delay_ms:
        own.kill()
        own.start()
    wait_for(lambda: not list(own.log_dir.glob("topic-*")), "the files to be removed")
    with AdminClient(own.address) as client:
        assert client.topics() == {}


@pytest.fixture
def reborn(start_broker: StartBroker) -> Iterator[tuple[BarnabasBroker, AdminClient]]:
    """A broker whose checkpoints tell of a topic that was deleted since."""
    broker = start_broker(log_flush_offset_checkpoint_interval_ms=3_600_000)
    with AdminClient(broker.address) as client:
        client.create("topic")
        for _ in range(20):
            client.append("topic", b"old")
        assert client.delete_records("topic", 15).low_watermark == 15
    broker.restart()
    with AdminClient(broker.address) as client:
        assert client.delete("topic") == ErrorCode.NONE
        yield broker, client


def test_a_new_topic_has_nothing_of_a_deleted_one_of_its_name(reborn: tuple[BarnabasBroker, AdminClient]) -> None:
    broker, client = reborn
    client.create("topic")
    for number in range(3):
        assert client.append("topic", b"new %d" % number) == number
    broker.kill()
    broker.start()
    with AdminClient(broker.address) as again:
        assert values(again.read_all("topic")) == [b"new 0", b"new 1", b"new 2"]


def test_a_topic_that_is_made_anew_after_a_kill_starts_at_0(reborn: tuple[BarnabasBroker, AdminClient]) -> None:
    broker, _ = reborn
    broker.kill()
    broker.start()
    with AdminClient(broker.address) as client:
        client.create("topic")
        assert client.append("topic", b"new") == 0
        assert values(client.read_all("topic")) == [b"new"]
