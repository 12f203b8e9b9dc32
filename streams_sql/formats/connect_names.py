"""Names by which schemas keep what only Kafka Connect knows of a type."""

from __future__ import annotations

from typing import Final

DATA: Final = "org.apache.kafka.connect.data"
DECIMAL: Final = f"{DATA}.Decimal"
DATE: Final = f"{DATA}.Date"
TIME: Final = f"{DATA}.Time"
TIMESTAMP: Final = f"{DATA}.Timestamp"
PRECISION: Final = "connect.decimal.precision"
SCALE: Final = "scale"

_PREFIX: Final = "connect."
NAME: Final = f"{_PREFIX}name"
VERSION: Final = f"{_PREFIX}version"
TYPE: Final = f"{_PREFIX}type"
INDEX: Final = f"{_PREFIX}index"
PARAMETERS: Final = f"{_PREFIX}parameters"
MAP: Final = "map"
# By these names Connect's arrays of entries, which stand for maps, are distinguished from others in Avro.
MAP_ENTRY: Final = "MapEntry"
MAP_ENTRY_FULL_NAME: Final = f"io.confluent.connect.avro.{MAP_ENTRY}"
INTERNAL_TYPE: Final = f"{_PREFIX}internal.type"
