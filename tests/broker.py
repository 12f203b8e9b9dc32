"""Brokers that run as processes of their own: ours, and what it shares with Apache Kafka."""

import socket
import struct
import sys
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from tests.ports import HOST
from tests.service_process import ServiceProcess

PROBE_DEADLINE_S = 5.0
# A new group does not wait for more members, and members hear of changes at once: Kafka's defaults are meant for clusters.
QUICK_GROUPS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
}
KEEPS_RECORDS = {"log.retention.check.interval.ms": str(24 * 60 * 60 * 1000)}
"""For brokers that many tests share: records whose times are of 1970 would go at the next look, every 5 minutes."""


class BrokerProcess(ServiceProcess):
    """A broker with its data folder; started again, it goes on with the same data."""

    @property
    @abstractmethod
    def log_dir(self) -> Path:
        """The folder that holds the folders of the partitions."""


class BarnabasBroker(BrokerProcess):
    """Ours, as `barnabas serve broker` runs it. With port 0 it takes any free port at each start."""

    def __init__(self, home: Path, port: int = 0, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(home)
        self.data_dir = home / "data"
        self._port = port
        self.settings = dict(settings or {})

    @property
    def address(self) -> str:
        return self.announced

    @property
    def log_dir(self) -> Path:
        return self.data_dir / "broker"

    def command(self) -> list[str]:
        program = Path(sys.executable).with_name("barnabas")
        where = ["--listeners", f"PLAINTEXT://{HOST}:{self._port}", "--data-dir", str(self.data_dir)]
        settings = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        return [str(program), "serve", "broker", *where, *settings]

    def is_ready(self) -> bool:
        return bool(self.address)


def answers(address: str) -> bool:
    """True when the broker at the address answers an ApiVersions request without an error."""
    host, _, port = address.rpartition(":")
    # Length, API key 18, version 0, correlation id 1, no client id.
    request = struct.pack(">ihhih", 10, 18, 0, 1, -1)
    try:
        with socket.create_connection((host, int(port)), timeout=PROBE_DEADLINE_S) as connection:
            connection.sendall(request)
            answer = connection.recv(10, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(answer) == 10 and struct.unpack(">iih", answer)[1:] == (1, 0)
