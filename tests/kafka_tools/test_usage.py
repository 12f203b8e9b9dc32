"""Mistaken command lines of the console and performance tools: what Kafka 4.3.0's tools said to them, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.kafka_tools.main import call

RECORDED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "usage.json").read_text())


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: " ".join([case["tool"], *case["arguments"]]))
def test_it_says_what_kafkas_tool_said(case: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(case["tool"], case["arguments"]) == case["status"]
    captured = capsys.readouterr()
    assert captured.out == case["out"]
    message = captured.err.split("\nOption ")[0]
    if message.startswith("usage: "):
        message = message.partition("error:")[2]
    # Lines break where the descriptions of options make them.
    assert "".join(message.split()) == "".join(case["error"].split())


@pytest.mark.parametrize("tool", sorted({case["tool"] for case in RECORDED}))
def test_the_table_of_options_names_every_option(tool: str, capsys: pytest.CaptureFixture[str]) -> None:
    call(tool, ["--help"])
    captured = capsys.readouterr()
    shown = captured.err + captured.out
    assert all(option in shown for option in OPTIONS[tool])


OPTIONS = {
    "kafka-console-producer": (
        *(
            "--batch-size <Integer: size>",
            "--bootstrap-server <String: server to",
            "--command-config <String: config file>",
        ),
        *("--command-property <String:", "--compression-codec [String:", "--line-reader <String: reader_class>"),
        *(
            "--max-block-ms <Long: max block on",
            "--max-memory-bytes <Long: total memory",
            "--max-partition-memory-bytes",
        ),
        *(
            "--message-send-max-retries <Integer>",
            "--metadata-expiry-ms <Long: metadata",
            "--producer-property <String:",
        ),
        *(
            "--producer.config <String: config file>",
            "--property <String: prop>",
            "--reader-config <String: config file>",
        ),
        *(
            "--reader-property <String: prop>",
            "--request-required-acks <String:",
            "--request-timeout-ms <Integer: request",
        ),
        *(
            "--retry-backoff-ms <Long>",
            "--socket-buffer-size <Integer: size>",
            "--sync",
            "--timeout <Long: timeout_ms>",
        ),
        "--topic <String: topic>",
    ),
    "kafka-console-consumer": (
        *(
            "--enable-systest-events",
            "--formatter <String: class>",
            "--formatter-config",
            "--formatter-property <String: prop>",
        ),
        *("--from-beginning", "--group <String: consumer group id>", "--include <String: Java regex (String)>"),
        *("--isolation-level <String>", "--key-deserializer <String:", "--max-messages <Integer: num_messages>"),
        *("--offset <String: consume offset>", "--partition <Integer: partition>", "--skip-message-on-error"),
        *(
            "--timeout-ms <Long: timeout_ms>",
            "--value-deserializer <String:",
            "--consumer.config",
            "--consumer-property",
        ),
    ),
    "kafka-producer-perf-test": (
        *(
            "--bootstrap-server BOOTSTRAP-SERVER",
            "--payload-delimiter PAYLOAD-DELIMITER",
            "--producer-props",
            "--print-metrics",
        ),
        *("--transactional-id TRANSACTIONAL-ID", "--transaction-duration-ms TRANSACTION-DURATION", "--warmup-records"),
        *(
            "--reporting-interval INTERVAL-MS",
            "--record-size RECORD-SIZE",
            "--payload-file PAYLOAD-FILE",
            "--payload-monotonic",
        ),
    ),
    "kafka-consumer-perf-test": (
        *(
            "--date-format <String: date format>",
            "--fetch-size <Integer: size>",
            "--from-latest",
            "--group <String: gid>",
        ),
        *("--hide-header", "--messages <Long: count>", "--num-records <Long: count>", "--reporting-interval <Long:"),
        *(
            "--show-detailed-stats",
            "--socket-buffer-size <Integer: size>",
            "--timeout [Long: milliseconds]",
            "--print-metrics",
        ),
    ),
    "kafka-dump-log": (
        *(
            "--cluster-metadata-decoder",
            "--deep-iteration",
            "--files <String: file1, file2, ...>",
            "--index-sanity-check",
        ),
        *("--key-decoder-class [String]", "--max-bytes <Integer: size>", "--max-message-size <Integer: size>"),
        *(
            "--offsets-decoder",
            "--remote-log-metadata-decoder",
            "--share-group-state-decoder",
            "--skip-record-metadata",
        ),
        *("--transaction-log-decoder", "--value-decoder-class [String]", "--verify-index-only"),
    ),
}
