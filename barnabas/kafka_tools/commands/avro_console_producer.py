"""kafka-avro-console-producer: kafka-console-producer for data with schemas of Avro."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.kafka_tools.commands import console_producer

LINE_READER: Final = "io.confluent.kafka.formatter.AvroMessageReader"


def main(arguments: Sequence[str]) -> int:
    return console_producer.main(arguments, LINE_READER)
