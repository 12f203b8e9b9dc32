"""Command lines that change features, and those with values that are none of their kind."""

from __future__ import annotations

from tests.kafka_tools.scenario import Scenario

FEATURES = Scenario(
    "features",
    tuple(
        f"kafka-features --bootstrap-server {{broker}} {text}"
        for text in (
            "downgrade --feature group.version=0 --dry-run",
            "downgrade --feature group.version=0",
            "downgrade --feature group.version=0",
            "upgrade --feature group.version=1 --dry-run",
            "upgrade --feature group.version=1",
            "disable --feature group.version --dry-run",
            "disable --feature group.version",
            "upgrade --feature group.version=1",
            "downgrade --feature transaction.version=1 --dry-run",
            "downgrade --feature transaction.version=1 --unsafe --dry-run",
            "downgrade --feature transaction.version=1 --feature group.version=0",
            "downgrade",
            "disable",
            "disable --feature group.version --feature group.version",
        )
    ),
)

WRONG_VALUES = Scenario(
    "wrong-values",
    tuple(
        f"kafka-topics --bootstrap-server {{broker}} {text}"
        for text in (
            "--create --topic ra --replica-assignment x",
            "--create --topic ra --replica-assignment 1,",
            "--create --topic rb --replica-assignment 1:",
            "--create --topic rc --replica-assignment ,1",
            "--create --topic ra --replica-assignment 99999999999",
            "--create --topic ra --replica-assignment 1_0",
            "--describe --topic-id bogus",
            "--describe --topic-id b",
            "--describe --topic-id abc!",
            "--describe --topic-id abcd",
            "--describe --topic-id abc==",
            "--describe --topic-id ab=",
            "--describe --topic-id a=",
            "--describe --topic-id abcd=",
            "--describe --topic-id ab==",
            "--describe --topic-id AAAAAAAAAAAAAAAAAAAAZg==",
            "--describe --topic-id AAAAAAAAAAAAAAAAAAAAZgAAAAAA",
        )
    ),
)
