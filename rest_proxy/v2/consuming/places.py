"""Places in partitions, as requests name them."""

from __future__ import annotations

from typing import Any, Final

from barnabas.kernel.http.schema import (
    DATE_TIME,
    INT32,
    INT64,
    STRING,
    TOPIC_NAME,
    Schema,
    Shape,
    any_of,
    closed_object,
    list_of,
    nullable,
)
from rest_proxy.v2.consuming.body import INT64_MAX, items, partition, text, timestamp_ms, whole_number
from rest_proxy.v2.consuming.partition import Commit, Partition

PLACE: Final[dict[str, Schema]] = {"topic": TOPIC_NAME, "partition": INT32}
_NOTE: Final = {"metadata": nullable(STRING)}
_OFFSET: Final = closed_object({**PLACE, "offset": INT64}, _NOTE)
_TIME: Final = closed_object({**PLACE, "timestamp": any_of(DATE_TIME, {"type": "number", "minimum": 0})}, _NOTE)
PARTITIONS: Final = Shape("PartitionChoice", closed_object({"partitions": list_of(closed_object(PLACE))}))
COMMITS: Final = Shape("Commits", closed_object({}, {"offsets": list_of(_OFFSET)}))
SEEK: Final = Shape("Seek", closed_object({}, {"offsets": list_of(_OFFSET), "timestamps": list_of(_TIME)}))


def partitions(found: dict[str, Any]) -> list[Partition]:
    """Each of them once, as often as it may be named."""
    return list(dict.fromkeys(items(found, "partitions", partition)))


def commits(found: dict[str, Any]) -> list[Commit]:
    """Clients name the last record that they are done with; Kafka keeps the next one to read."""

    def read(value: Any, what: str) -> Commit:
        place, offset = _offset(value, what)
        metadata = value.get("metadata")
        return Commit(place, offset + 1, None if metadata is None else text(metadata, f"{what}.metadata", empty=True))

    return items(found, "offsets", read)


def offsets(found: dict[str, Any]) -> dict[Partition, int]:
    """Where to go on reading."""
    return dict(items(found, "offsets", _offset)) if found.get("offsets") is not None else {}


def moments_ms(found: dict[str, Any]) -> dict[Partition, int]:
    """From when on to read."""

    def read(value: Any, what: str) -> tuple[Partition, int]:
        place = partition(value, what, "timestamp", "metadata")
        return place, timestamp_ms(value.get("timestamp"), f"{what}.timestamp")

    return dict(items(found, "timestamps", read)) if found.get("timestamps") is not None else {}


def _offset(value: Any, what: str) -> tuple[Partition, int]:
    place = partition(value, what, "offset", "metadata")
    return place, whole_number(value.get("offset"), f"{what}.offset", INT64_MAX - 1)
