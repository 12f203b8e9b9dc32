"""The friendly commands against a broker: tables for people, JSON and CSV for programs, errors that say what to do."""

from __future__ import annotations

import csv
import io
import json
import resource
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from barnabas.cli.main import main
from barnabas.cli.status.cluster import cluster_status
from tests.cli.conftest import Call, Failure, environment

START_UPS = 5
# Time of the processor, since others may use it, too. A quiet machine needs less than half of this.
START_UP_LIMIT_S = 0.35


def test_a_topic_from_its_creation_to_its_end(run_at: Call, topic: str) -> None:
    assert (
        run_at("topics", "create", topic, "-p", "3", "--set", "retention.ms=60000", "--config", "segment.ms=7000")
        == f"created topic {topic}\n"
    )
    rows = json.loads(run_at("topics", "list", "--output", "json"))
    assert {"name": topic, "partitions": 3, "replication": 1} in rows
    described = list(csv.DictReader(io.StringIO(run_at("topics", "describe", topic, "--output", "csv"))))
    assert [(row["partition"], row["end_offset"], row["records"]) for row in described] == [
        (str(number), "0", "0") for number in range(3)
    ]
    configs = [json.loads(line) for line in run_at("configs", "describe", "topic", topic, "-o", "jsonl").splitlines()]
    values = {row["name"]: row["value"] for row in configs}
    assert (values["retention.ms"], values["segment.ms"]) == ("60000", "7000")
    run_at("configs", "set", "topic", topic, "retention.ms=70000", "cleanup.policy=compact,delete")
    run_at("configs", "unset", "topic", topic, "retention.ms")
    shown = run_at("configs", "describe", "topic", topic)
    assert "retention.ms" not in shown
    assert shown.splitlines()[0].split() == ["NAME", "VALUE", "SOURCE", "READ", "ONLY"]
    assert run_at("topics", "delete", topic, "--yes") == f"deleted topic {topic}\n"
    assert topic not in run_at("topics", "list")


def test_topics_of_services_are_shown_to_those_who_ask(run_at: Call, broker_address: str, topic: str) -> None:
    run_at("topics", "create", f"_{topic}")
    run_at("produce", topic, "1", "--create")
    run_at("consume", topic, "--group", topic, "-n", "1")
    shown = {row["name"] for row in json.loads(run_at("topics", "list", "-o", "json"))}
    everything = {row["name"] for row in json.loads(run_at("topics", "list", "--internal", "-o", "json"))}
    assert topic in shown
    assert {f"_{topic}", "__consumer_offsets"} <= everything - shown
    cluster = cluster_status(broker_address)
    assert (cluster.topics, cluster.internal) == (len(shown), len(everything - shown))


def test_records_there_and_back(run_at: Call, topic: str, tmp_path: Path) -> None:
    run_at("topics", "create", topic, "-p", "1")
    run_at("produce", topic, "first", "second", "--key", "k", "--header", "h=1", "--compression", "zstd")
    lines = tmp_path / "lines"
    lines.write_text("a:1\nb:2\n")
    run_at("produce", topic, "--file", str(lines), "--key-separator", ":")
    jsonl = run_at("consume", topic, "--output", "jsonl")
    records = [json.loads(line) for line in jsonl.splitlines()]
    assert [(one["offset"], one["key"], one["value"], one["headers"]) for one in records] == [
        (0, "k", "first", {"h": "1"}),
        (1, "k", "second", {"h": "1"}),
        (2, "a", "1", {}),
        (3, "b", "2", {}),
    ]
    copied = tmp_path / "copied"
    copied.write_text(jsonl)
    run_at("produce", topic, "--file", str(copied), "--input", "jsonl")
    again = json.loads(run_at("consume", topic, "--from", "4", "--output", "json"))
    assert [(one["key"], one["value"], one["headers"]) for one in again] == [
        (one["key"], one["value"], one["headers"]) for one in records
    ]
    assert run_at("consume", topic, "-n", "2") == "0:0  k  first\n0:1  k  second\n"
    assert (
        run_at("consume", topic, "-n", "1", "-o", "csv").splitlines()[0]
        == "partition,offset,timestamp,key,value,headers"
    )


def test_a_group_from_its_first_record_to_its_end(run_at: Call, topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_at("topics", "create", topic, "-p", "1")
    run_at("produce", topic, "1", "2", "3")
    run_at("consume", topic, "--group", topic, "-n", "3")
    groups = {row["group"]: row for row in json.loads(run_at("groups", "list", "-o", "json"))}
    assert groups[topic]["state"] == "Empty"
    run_at("produce", topic, "4")
    [row] = json.loads(run_at("groups", "describe", topic, "-o", "json"))
    assert (row["topic"], row["offset"], row["end_offset"], row["lag"]) == (topic, 3, 4, 1)
    [planned] = json.loads(run_at("groups", "reset", topic, "--to", "earliest", "-o", "json"))
    assert (planned["offset"], planned["new_offset"]) == (3, 0)
    assert json.loads(run_at("groups", "describe", topic, "-o", "json"))[0]["offset"] == 3
    run_at("groups", "reset", topic, "--to", "99", "--execute")
    assert json.loads(run_at("groups", "describe", topic, "-o", "json"))[0]["offset"] == 4
    run_at("groups", "reset", topic, "--to", "1999-12-31T00:00", "--execute")
    assert json.loads(run_at("groups", "describe", topic, "-o", "json"))[0]["offset"] == 0
    assert run_at("groups", "delete", topic) == f"deleted group {topic}\n"
    assert topic not in {row["group"] for row in json.loads(run_at("groups", "list", "-o", "json"))}


@pytest.mark.parametrize(
    ("words", "status", "advice"),
    [
        (("topics", "describe", "absent"), 1, "barnabas topics list"),
        (("topics", "create", "bad name"), 1, "Names have up to 249 letters"),
        (("topics", "create", "t", "--set", "retention.ms"), 2, "not of the form name=value"),
        (("topics", "delete", "absent", "--yes"), 1, "barnabas topics list"),
        (("produce", "absent", "x"), 1, "barnabas topics create absent"),
        (("produce", "absent", "x", "--set", "acks=7"), 2, "Invalid value 7 for configuration acks"),
        (("consume", "absent"), 1, "barnabas topics list"),
        (("groups", "describe", "absent"), 1, "barnabas groups list"),
        (("groups", "reset", "absent", "--to", "latest"), 1, "--topic"),
        (("configs", "describe", "topic", "absent"), 1, "barnabas topics list"),
    ],
)
def test_an_error_says_what_to_do(failure_at: Failure, words: tuple[str, ...], status: int, advice: str) -> None:
    found, said = failure_at(*words)
    assert found == status
    assert said.startswith("barnabas: ")
    assert advice in said


@pytest.mark.parametrize("words", [("topics", "list"), ("produce", "t", "x"), ("consume", "t"), ("groups", "list")])
def test_nobody_there_is_told_at_once(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--bootstrap-server", "127.0.0.1:1"]) == 3
    said = capsys.readouterr().err
    assert "cannot connect to 127.0.0.1:1" in said
    assert "barnabas up" in said


@pytest.mark.parametrize(
    ("answer", "told", "advice"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it speaks HTTP", "by default 9092"),
        (b"\x15\x03\x03\x00\x02\x02\x50", "it speaks TLS", "PLAINTEXT"),
    ],
)
def test_somebody_who_is_no_broker_is_told_at_once(
    answer: bytes, told: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        address = f"127.0.0.1:{stranger.getsockname()[1]}"

        def serve() -> None:
            peer, _ = stranger.accept()
            with peer:
                peer.recv(1)
                peer.sendall(answer)

        with ThreadPoolExecutor(1) as pool:
            served = pool.submit(serve)
            assert main(["topics", "list", "-b", address]) == 3
            served.result()
    said = capsys.readouterr().err
    assert f"what answers at {address} is no Kafka broker: {told}\n" in said
    assert advice in said
    assert "trying again" not in said


def test_a_deletion_is_confirmed(failure_at: Failure, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert failure_at("topics", "delete", topic) == (
        2,
        "barnabas: nothing was changed: this cannot be undone\n  Say so with --yes.\n",
    )


def test_it_starts_quickly(broker_address: str) -> None:
    words = [sys.executable, "-m", "barnabas", "topics", "list", "-o", "json", "-b", broker_address]
    took_s = []
    for _ in range(START_UPS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=environment(), capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(took_s) < START_UP_LIMIT_S, took_s
