"""kafka-json-schema-console-producer: kafka-console-producer for data with schemas of JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.kafka_tools.commands import console_producer

LINE_READER: Final = "io.confluent.kafka.formatter.json.JsonSchemaMessageReader"


def main(arguments: Sequence[str]) -> int:
    return console_producer.main(arguments, LINE_READER)
