"""Kafka's own tool reads what the coordinator writes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from core_broker.coordinators.transactions.transaction import Status
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.transaction_client import TransactionClient

TOOL_DEADLINE_S = 180
SETTINGS = {"transaction.state.log.num.partitions": 1}


def test_dump_log_segments_decodes_transactions(java: Path, kafka_jars: Path, tmp_path: Path) -> None:
    with HostedBroker(tmp_path, SETTINGS) as broker, TransactionClient(broker.address) as client:
        client.create("t", 2)
        producer = client.initialise("id")
        client.write("id", producer, "t", b"x", partition=1)
        client.end("id", producer, commits=True)
    log = tmp_path / "__transaction_state-0" / f"{0:020}.log"
    tool = ("org.apache.kafka.tools.DumpLogSegments", "--transaction-log-decoder", "--files", str(log))
    command = [str(java), "-cp", f"{kafka_jars}/*", *tool]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TOOL_DEADLINE_S).stdout
    assert "isvalid: false" not in dumped
    found = [json.loads(payload) for payload in re.findall(r"payload: (\{.*\})", dumped)]
    assert {record["version"] for record in found} == {"1"}
    states = [record["data"] for record in found]
    assert [state["transactionStatus"] for state in states] == [
        Status.EMPTY,
        Status.ONGOING,
        Status.PREPARE_COMMIT,
        Status.COMPLETE_COMMIT,
    ]
    assert [state["producerEpoch"] for state in states] == [0, 0, 1, 1]
    assert {state["previousProducerId"] for state in states} == {producer.producer_id}
    joined = [{"topic": "t", "partitionIds": [1]}]
    assert [state["transactionPartitions"] for state in states] == [None, joined, joined, []]
    assert [state.get("clientTransactionVersion", 0) for state in states] == [0, 2, 2, 2]
