"""Apache Kafka 4.3.0 from its jars, one node: what ours is compared with."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.broker import QUICK_GROUPS, BrokerProcess, answers
from tests.ports import HOST, free_port
from tests.provision import kafka_classes

CLUSTER_ID = "QmFybmFiYXMtdGVzdHM0Mw"
FORMAT_DEADLINE_S = 180
HEAP = "-Xmx512M"
# Tests are over before code is worth being compiled well.
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# One node has no peers to replicate to, and few partitions of its own topics start quicker.
SINGLE_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    **QUICK_GROUPS,
}
LOG4J = """\
Configuration:
  Appenders:
    File: {{name: file, fileName: "{file}", PatternLayout: {{pattern: "%d %p %c %m%n"}}}}
  Loggers:
    Root: {{level: INFO, AppenderRef: {{ref: file}}}}
"""


class ApacheKafka(BrokerProcess):
    """A broker and controller in one process, on a port that it keeps over restarts."""

    def __init__(
        self,
        home: Path,
        java: Path,
        jars: Path,
        settings: Mapping[str, str] | None = None,
        ports: tuple[int, int] | None = None,
    ) -> None:
        """`ports` are those of the broker and of the controller."""
        super().__init__(home)
        self._java = java
        self._jars = jars
        self._port, controller_port = ports or (free_port(), free_port())
        self._properties = {
            **SINGLE_NODE,
            "controller.quorum.voters": f"1@{HOST}:{controller_port}",
            "listeners": f"PLAINTEXT://{HOST}:{self._port},CONTROLLER://{HOST}:{controller_port}",
            "advertised.listeners": self.listener,
            "log.dirs": str(self.log_dir),
            **(settings or {}),
        }

    @property
    def listener(self) -> str:
        return f"PLAINTEXT://{self.address}"

    @property
    def address(self) -> str:
        return f"{HOST}:{self._port}"

    @property
    def log_dir(self) -> Path:
        return self.home / "data"

    def launch(self) -> None:
        if not self.log_dir.exists():
            self._format()
        super().launch()

    def command(self) -> list[str]:
        return self._run("kafka.Kafka", str(self.home / "server.properties"))

    def is_ready(self) -> bool:
        return answers(self.address)

    def _format(self) -> None:
        properties = self.home / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in self._properties.items()))
        (self.home / "log4j2.yaml").write_text(LOG4J.format(file=self.home / "server.log"))
        command = self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties))
        subprocess.run(command, check=True, capture_output=True, timeout=FORMAT_DEADLINE_S)

    def _run(self, main_class: str, *arguments: str) -> list[str]:
        logging = f"-Dlog4j2.configurationFile={self.home / 'log4j2.yaml'}"
        options = (HEAP, *QUICK_START, *kafka_classes.options(self._java, self._jars), logging)
        return [str(self._java), *options, "-cp", f"{self._jars}/*", main_class, *arguments]
