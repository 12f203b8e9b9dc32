"""Directories that `kafka-storage` has formatted: our broker starts in them with what they were formatted with."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.kafka_tools import main as commands
from barnabas.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from barnabas.wire.records.cluster_metadata import FeatureLevelRecord, UserScramCredentialRecord
from core_broker.log.disk import Disk
from core_broker.metadata import bootstrap
from tests.broker import BarnabasBroker
from tests.core_broker.broker_client import BrokerClient
from tests.kafka_tools.scenario import run_ours

CLUSTER = "AAAAAAAAAAAAAAAAAAAAZg"
SCRAM_SHA_512 = 2


def format_for_ours(data: Path, *words: str) -> None:
    config = data.parent / "server.properties"
    config.write_text(f"data.dir={data}\n")
    assert commands.call("kafka-storage", ["format", "-t", CLUSTER, "-c", str(config), *words]) == 0


@pytest.mark.parametrize("quorum", [(), ("--no-initial-controllers",)])
def test_our_broker_begins_with_the_cluster_id_features_and_users_of_its_directory(
    tmp_path: Path, quorum: tuple[str, ...]
) -> None:
    broker = BarnabasBroker(tmp_path / "home")
    scram = "SCRAM-SHA-512=[name=alice,password=secret,iterations=5000]"
    format_for_ours(broker.data_dir, "--add-scram", scram, "--feature", "group.version=0", *quorum)
    for _ in range(2):  # a second start must not read the file again
        broker.start()
        try:
            described = run_ours(f"kafka-cluster cluster-id --bootstrap-server {broker.address}", {})
            assert described.out == "Cluster ID: <id>\n"
            features = run_ours(f"kafka-features --bootstrap-server {broker.address} describe", {}).out
            with BrokerClient(broker.address) as client:
                request = DescribeUserScramCredentialsRequest(users=None)
                answer = client.ask(request, DescribeUserScramCredentialsResponse, 0)
        finally:
            assert broker.stop() == 0
        (alice,) = answer.results
        assert alice.user == "alice"
        assert [(info.mechanism, info.iterations) for info in alice.credential_infos] == [(SCRAM_SHA_512, 5000)]
        (group_version,) = [line for line in features.splitlines() if "group.version" in line]
        assert "FinalizedVersionLevel: 0" in group_version
    assert f"cluster.id={CLUSTER}" in (broker.log_dir / "meta.properties").read_text()


def test_a_standalone_controller_is_formatted_for_kafka_and_starts_ours(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    config = tmp_path / "server.properties"
    config.write_text(
        f"process.roles=broker,controller\nnode.id=1\nlog.dirs={logs}\n"
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n"
        "controller.quorum.bootstrap.servers=localhost:9093\n"
    )
    assert commands.call("kafka-storage", ["format", "-t", CLUSTER, "-c", str(config), "--standalone"]) == 0
    assert {path.relative_to(logs).as_posix() for path in logs.rglob("*") if path.is_file()} == {
        "meta.properties",
        "bootstrap.checkpoint",
        "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint",
    }
    broker = BarnabasBroker(tmp_path / "home", settings={"log.dirs": str(logs)})
    broker.start()
    assert broker.stop() == 0
    assert "is not used" not in broker.log.read_text()


def test_the_bootstrap_file_holds_the_records_and_no_password(tmp_path: Path) -> None:
    data = tmp_path / "data"
    format_for_ours(data, "-S", "SCRAM-SHA-256=[name=bob,password=hunter2]", "-r", "4.0")
    content = (data / "broker" / bootstrap.FILE_NAME).read_bytes()
    assert b"hunter2" not in content
    records = bootstrap.read(data / "broker", Disk())
    levels = {record.name: record.feature_level for record in records if isinstance(record, FeatureLevelRecord)}
    assert levels == {"metadata.version": 25, "group.version": 1, "transaction.version": 2}
    (user,) = [record for record in records if isinstance(record, UserScramCredentialRecord)]
    assert (user.name, user.mechanism, user.iterations) == ("bob", 1, 4096)
    assert len(user.stored_key) == 32


def test_ids_are_different_and_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(200):
        assert commands.call("kafka-storage", ["random-uuid"]) == 0
    ids = capsys.readouterr().out.split()
    assert len(set(ids)) == 200
    assert {len(text) for text in ids} == {22}
    assert not any(text.startswith("-") for text in ids)
