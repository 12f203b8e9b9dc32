"""Apache Kafka Connect's worker (Java 4.3.0), distributed, with sources exactly once: from a file to a topic to a file."""

import json
import urllib.error
import urllib.request
from pathlib import Path

from tests.clients.java_client import JavaTools
from tests.ports import HOST, free_port
from tests.waiting import wait_for

WORKER_DEADLINE_S = 90
REQUEST_DEADLINE_S = 90
LINES = [f"line {number}" for number in range(200)]


def test_a_worker_carries_a_file_through_a_topic(
    broker_address: str, java_tools: JavaTools, topic: str, tmp_path: Path
) -> None:
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    source.write_text("".join(f"{line}\n" for line in LINES))
    port = free_port()
    settings = tmp_path / "worker.properties"
    settings.write_text(
        f"bootstrap.servers={broker_address}\ngroup.id=connect-{topic}\nlisteners=http://{HOST}:{port}\n"
        "key.converter=org.apache.kafka.connect.storage.StringConverter\n"
        "value.converter=org.apache.kafka.connect.storage.StringConverter\n"
        f"config.storage.topic=configs-{topic}\nconfig.storage.replication.factor=1\n"
        f"offset.storage.topic=offsets-{topic}\noffset.storage.replication.factor=1\noffset.storage.partitions=5\n"
        f"status.storage.topic=status-{topic}\nstatus.storage.replication.factor=1\n"
        "exactly.once.source.support=enabled\noffset.flush.interval.ms=500\n"
    )
    url = f"http://{HOST}:{port}/connectors"
    with java_tools.running(
        "org.apache.kafka.connect.cli.ConnectDistributed", str(settings), log=tmp_path / "worker.log"
    ):
        wait_for(lambda: _answers(url), "the worker to be in its group", WORKER_DEADLINE_S)
        _put(
            f"{url}/source/config",
            {"connector.class": "FileStreamSource", "file": str(source), "topic": topic, "tasks.max": "1"},
        )
        _put(
            f"{url}/sink/config",
            {"connector.class": "FileStreamSink", "file": str(sink), "topics": topic, "tasks.max": "1"},
        )
        wait_for(lambda: sink.exists() and sink.read_text().splitlines() == LINES, "all lines", WORKER_DEADLINE_S)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=REQUEST_DEADLINE_S) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _put(url: str, config: dict[str, str]) -> None:
    request = urllib.request.Request(
        url, json.dumps(config).encode(), {"Content-Type": "application/json"}, method="PUT"
    )

    def accepted() -> bool:
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_DEADLINE_S) as answer:
                return answer.status in (200, 201)
        except urllib.error.HTTPError as refusal:
            if refusal.code == 409:  # a rebalance is under way
                return False
            raise

    wait_for(accepted, f"PUT {url}", WORKER_DEADLINE_S)
