"""The demo where one machine is not enough: three nodes of Apache Kafka, and a Spark cluster. Nothing but addresses differs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from tests.e2e.kafka_cluster import NODES, KafkaCluster
from tests.ports import HOST
from tests.service_process import ServiceProcess
from tests.streams_sql.spark.cluster import SparkMaster, SparkWorker

TEST_S = 900
SERVICES = ("registry", "rest", "connect", "sql")
ANSWER_S = 30
COMMAND_TOPIC = "_confluent-ksql-default__command_topic"
RESULT = "[('hammer', 12.5, 'ada'), ('saw', 31.0, 'eve')]"

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(TEST_S)]


class PlatformOnCluster(ServiceProcess):
    """`barnabas up --bootstrap-servers …`: the services without a broker of ours."""

    def __init__(self, home: Path, bootstrap: str, *words: str) -> None:
        super().__init__(home)
        self._words = ("--bootstrap-servers", bootstrap, *words)

    @property
    def address(self) -> str:
        return self.announced

    @property
    def data_dir(self) -> Path:
        return self.home / "data"

    def command(self) -> list[str]:
        ports = [word for name in SERVICES for word in ("--set", f"{name}.listeners=http://{HOST}:0")]
        words = ["up", "--data-dir", str(self.data_dir), *ports, *self._words]
        return [sys.executable, "-m", "barnabas", *words]

    def is_ready(self) -> bool:
        return "barnabas is up" in self.output.read_text()


@pytest.fixture
def kafka_cluster(java: Path, kafka_jars: Path, tmp_path: Path) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(tmp_path / "kafka", java, kafka_jars)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def spark_master(java: Path, spark_jars: Path, tmp_path: Path) -> Iterator[str]:
    os.environ["JAVA_HOME"] = str(java.parent.parent)
    master = SparkMaster(tmp_path / "master")
    master.start()
    worker = SparkWorker(tmp_path / "worker", master)
    try:
        worker.start()
        yield master.address
    finally:
        worker.kill()
        master.kill()


def run_demo(platform: PlatformOnCluster, bootstrap: str, at: str = "", then: Callable[[], None] | None = None) -> str:
    """What the demo says; `then` is done when it comes to the step whose title has `at`."""
    words = [sys.executable, "-m", "barnabas", "demo", "--data-dir", str(platform.data_dir), "-b", bootstrap]
    said: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            said.append(line)
            if then is not None and at in line:
                then()
                then = None
    assert then is None, "the demo never came to that step"
    assert demo.returncode == 0, "".join(said)
    return "".join(said)


def copies_of_topics(bootstrap: str) -> dict[str, int]:
    """The least copies that a partition of each topic has."""
    topics = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=ANSWER_S).topics
    return {
        name: min(len(partition.replicas) for partition in topic.partitions.values()) for name, topic in topics.items()
    }


def test_the_demo_on_three_nodes_of_which_one_is_killed(
    kafka_cluster: KafkaCluster, spark_jars: Path, tmp_path: Path
) -> None:
    platform = PlatformOnCluster(tmp_path / "platform", kafka_cluster.address)
    platform.start()
    try:
        said = run_demo(platform, kafka_cluster.address, "A stream over the orders", kafka_cluster.nodes[1].kill)
        copies = copies_of_topics(kafka_cluster.address)
    finally:
        platform.stop()
    assert RESULT in said
    assert COMMAND_TOPIC in copies
    assert {topic: count for topic, count in copies.items() if count != NODES} == {}


def test_the_demo_on_a_spark_cluster(kafka_cluster: KafkaCluster, spark_master: str, tmp_path: Path) -> None:
    shared = (tmp_path / "checkpoints").as_uri()
    small = ("--set", "sql.spark.executor.memory=512m", "--set", "sql.spark.cores.max=2")
    words = ("--spark-master", spark_master, "--set", f"sql.sql.checkpoint.uri={shared}", *small)
    platform = PlatformOnCluster(tmp_path / "platform", kafka_cluster.address, *words)
    platform.start()
    try:
        assert RESULT in run_demo(platform, kafka_cluster.address)
        # Those of its queries have gone with them.
        assert list((tmp_path / "checkpoints").iterdir()), "checkpoints were kept where the cluster can read them"
    finally:
        platform.stop()
