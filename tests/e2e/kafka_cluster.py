"""An Apache Kafka cluster of three nodes, each broker and controller in one process."""

from __future__ import annotations

from pathlib import Path

from tests.oracle import ApacheKafka
from tests.ports import HOST, free_port

NODES = 3
REPLICATED = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    # A node that dies is missed soon.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


class KafkaCluster:
    def __init__(self, home: Path, java: Path, jars: Path) -> None:
        ports = [(free_port(), free_port()) for _ in range(NODES)]
        voters = ",".join([f"{number}@{HOST}:{port}" for number, (_, port) in enumerate(ports, start=1)])
        self.nodes = [
            ApacheKafka(
                home / str(number),
                java,
                jars,
                {**REPLICATED, "node.id": str(number), "controller.quorum.voters": voters},
                own,
            )
            for number, own in enumerate(ports, start=1)
        ]

    @property
    def address(self) -> str:
        """The setting bootstrap.servers of clients."""
        return ",".join([node.address for node in self.nodes])

    def start(self) -> None:
        # None of them answers before most of them are there.
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.await_start()

    def stop(self) -> None:
        for node in self.nodes:
            if node.is_running():
                node.kill()
