"""kafkajs, the JavaScript client. It reads in groups only, so it writes here and another client reads."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.broker import BrokerProcess
from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.records import KEEP_FOREVER, Record, edge_cases, numbered, stored_batches
from tests.provision import kafkajs

SCRIPT = Path(__file__).with_name("kafkajs_client.js")
DEADLINE_S = 180


@pytest.fixture(scope="module")
def modules() -> Path:
    try:
        return kafkajs.provide() / "node_modules"
    except kafkajs.KafkaJsError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
def test_others_read_what_it_wrote(
    broker: BrokerProcess, modules: Path, topic: str, codec: str, idempotent: bool
) -> None:
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    records = numbered(50) + [record for record in edge_cases() if can_write(record)]
    job = {
        "do": "produce",
        "topic": topic,
        "partition": 0,
        "codec": codec,
        "idempotent": idempotent,
        "records": [encoded(record) for record in records],
    }
    answer = run(modules, broker.address, job)
    assert isinstance(answer, list)
    assert [(sent["errorCode"], sent["baseOffset"]) for sent in answer] == [(0, "0")]
    assert [r.record for r in ConfluentClient().consume(broker.address, topic, len(records))] == records
    (batch,) = stored_batches(broker.log_dir, topic)
    assert batch.codec == codec
    assert (batch.producer_id >= 0) == idempotent


def test_it_administers(broker_address: str, modules: Path, topic: str) -> None:
    answer = run(modules, broker_address, {"do": "administer", "topic": topic})
    assert isinstance(answer, dict)
    offsets = sorted(answer.pop("offsets"), key=lambda entry: int(entry["partition"]))
    assert answer == {"created": True, "partitions": 5, "retention": "3600000", "brokers": 1}
    assert offsets == [{"partition": n, "offset": "0", "high": "0", "low": "0"} for n in range(5)]


def can_write(record: Record) -> bool:
    """It takes an object of headers, so that no name comes twice, and gives a null one no value of its own."""
    names = [name for name, _ in record.headers]
    return len(set(names)) == len(names) and all(value is not None for _, value in record.headers)


def encoded(record: Record) -> dict[str, object]:
    headers = [(name, base64_of(value)) for name, value in record.headers]
    return {
        "key": base64_of(record.key),
        "value": base64_of(record.value),
        "headers": headers,
        "timestamp": record.timestamp_ms,
    }


def base64_of(part: bytes | None) -> str | None:
    return None if part is None else base64.b64encode(part).decode()


def run(modules: Path, address: str, job: dict[str, object]) -> object:
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, str(SCRIPT)],
        input=json.dumps({"address": address, **job}),
        env={**os.environ, "NODE_PATH": str(modules), "KAFKAJS_NO_PARTITIONER_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
