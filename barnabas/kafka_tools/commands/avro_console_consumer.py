"""kafka-avro-console-consumer: kafka-console-consumer for data with schemas of Avro."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.kafka_tools.commands import console_consumer

FORMATTER: Final = "io.confluent.kafka.formatter.AvroMessageFormatter"


def main(arguments: Sequence[str]) -> int:
    return console_consumer.main(arguments, FORMATTER)
