"""The tools of Apache Kafka 4.3.0, which are what its Java client library is used by most."""

import json
import re

from confluent_kafka import TopicPartition

from tests.broker import BrokerProcess
from tests.clients import confluent_client
from tests.clients.confluent_client import ADMIN_DEADLINE_S, ConfluentClient, create_topic
from tests.clients.java_client import JavaTools
from tests.clients.records import EPOCH_MS, KEEP_FOREVER, numbered, stored_batches

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"


def test_topic_command_makes_describes_grows_and_deletes(
    broker_address: str, java_tools: JavaTools, topic: str
) -> None:
    at = ("--bootstrap-server", broker_address, "--topic", topic)
    made = java_tools.run(TOPICS, *at, "--create", "--partitions", "3", "--config", "retention.ms=3600000")
    assert made.strip() == f"Created topic {topic}."
    java_tools.run(TOPICS, *at, "--alter", "--partitions", "5")
    described = java_tools.run(TOPICS, *at, "--describe").splitlines()
    summary = described[0].split("\t")
    assert summary[0] == f"Topic: {topic}"
    assert re.fullmatch(r"TopicId: [A-Za-z0-9_-]{22}", summary[1])
    assert summary[2:4] == ["PartitionCount: 5", "ReplicationFactor: 1"]
    assert "retention.ms=3600000" in summary[4]
    assert [re.findall(r"Partition: (\d+)\tLeader: 1\tReplicas: 1\tIsr: 1", line) for line in described[1:]] == [
        [str(partition)] for partition in range(5)
    ]
    java_tools.run(TOPICS, *at, "--delete")
    gone = java_tools.attempt(TOPICS, *at, "--describe")
    assert gone.returncode != 0
    assert f"Topic '{topic}' does not exist as expected" in gone.stdout


def test_config_command_changes_and_shows_configs(broker_address: str, java_tools: JavaTools, topic: str) -> None:
    create_topic(broker_address, topic)
    at = ("--bootstrap-server", broker_address, "--topic", topic)
    java_tools.run(CONFIGS, *at, "--alter", "--add-config", "retention.ms=7200000,cleanup.policy=[delete,compact]")
    shown = java_tools.run(CONFIGS, *at, "--describe", "--all")
    assert "retention.ms=7200000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=7200000}" in shown
    assert "cleanup.policy=delete,compact sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:" in shown
    assert "segment.bytes=1073741824 sensitive=false synonyms={DEFAULT_CONFIG:log.segment.bytes=1073741824}" in shown
    refused = java_tools.attempt(CONFIGS, *at, "--alter", "--add-config", "no.such.config=1")
    assert refused.returncode != 0
    assert "no.such.config" in refused.stdout + refused.stderr


def test_verifiable_producer_and_get_offset_shell(broker_address: str, java_tools: JavaTools, topic: str) -> None:
    create_topic(broker_address, topic, 3, KEEP_FOREVER)
    printed = java_tools.run(
        "org.apache.kafka.tools.VerifiableProducer",
        *("--bootstrap-server", broker_address, "--topic", topic, "--max-messages", "300", "--acks", "-1"),
    )
    lines = [json.loads(line) for line in printed.splitlines()]
    acknowledged = [line for line in lines if line["name"] == "producer_send_success"]
    assert sorted(int(line["value"]) for line in acknowledged) == list(range(300))
    assert (lines[-1]["name"], lines[-1]["sent"], lines[-1]["acked"]) == ("tool_data", 300, 300)
    written = dict.fromkeys(range(3), 0)
    for line in acknowledged:
        written[line["partition"]] += 1
    at = ("--bootstrap-server", broker_address, "--topic", topic)
    assert java_tools.run(OFFSETS, *at, "--time", "-1").splitlines() == [
        f"{topic}:{partition}:{end}" for partition, end in written.items()
    ]


def test_get_offset_shell_searches_by_time(broker_address: str, java_tools: JavaTools, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    ConfluentClient().produce(broker_address, topic, numbered(100))
    at = ("--bootstrap-server", broker_address, "--topic", topic)
    assert java_tools.run(OFFSETS, *at, "--time", str(EPOCH_MS + 42)).strip() == f"{topic}:0:42"
    assert java_tools.run(OFFSETS, *at, "--time", "max-timestamp").strip() == f"{topic}:0:99"


def test_producer_performance_writes_compressed_batches(
    broker: BrokerProcess, java_tools: JavaTools, topic: str
) -> None:
    create_topic(broker.address, topic)
    printed = java_tools.run(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", topic, "--num-records", "20000", "--record-size", "100", "--throughput", "-1"),
        *("--command-property", f"bootstrap.servers={broker.address}", "compression.type=lz4", "acks=all"),
    )
    assert printed.splitlines()[-1].startswith("20000 records sent")
    batches = stored_batches(broker.log_dir, topic)
    assert sum(batch.record_count for batch in batches) == 20000
    assert {batch.codec for batch in batches} == {"lz4"}
    # The Java producer is idempotent unless told otherwise.
    assert {batch.producer_id for batch in batches} == {batches[0].producer_id}
    assert batches[0].producer_id >= 0
    with confluent_client.assigned(broker.address, [TopicPartition(topic, 0, 0)]) as consumer:
        assert consumer.get_watermark_offsets(TopicPartition(topic, 0), ADMIN_DEADLINE_S) == (0, 20000)


def test_the_java_client_can_use_every_api_that_is_offered(broker_address: str, java_tools: JavaTools) -> None:
    printed = java_tools.run("org.apache.kafka.tools.BrokerApiVersionsCommand", "--bootstrap-server", broker_address)
    assert printed.startswith(f"{broker_address} (id: 1 ")
    assert "Produce(0): 0 to 13 [usable: 13]" in printed
    assert "Fetch(1): 4 to 18 [usable: 18]" in printed
    assert "unusable" not in printed
