"""The records of the REST proxies' load, and the requests that carry them."""

from __future__ import annotations

import json
from typing import Any, Final

JSON_TYPE: Final = "application/vnd.kafka.json.v2+json"
AVRO_TYPE: Final = "application/vnd.kafka.avro.v2+json"
VALUE_BYTES: Final = 170
# Stands once in each value, and in nothing that a proxy adds: it counts the records of an answer.
MARK: Final = b'"note":'
FIELDS: Final = (
    {"name": "id", "type": "long"},
    {"name": "name", "type": "string"},
    {"name": "price", "type": "double"},
    {"name": "tags", "type": {"type": "array", "items": "string"}},
    {"name": "note", "type": "string"},
)
SCHEMA: Final = json.dumps({"type": "record", "name": "Order", "namespace": "bench", "fields": FIELDS})


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def order() -> dict[str, Any]:
    """An order whose JSON text has VALUE_BYTES bytes."""
    found = {"id": 1_234_567, "name": "Barnabas", "price": 12.5, "tags": ["new", "fragile"], "note": ""}
    found["note"] = "x" * (VALUE_BYTES - len(compact(found)))
    return found


def v2_body(records: int, *, avro: bool = False) -> str:
    """A request of v2. Avro comes with the text of its schema: by id, Karapace asks more of a registry than Confluent's answers."""
    schema = {"value_schema": SCHEMA} if avro else {}
    return compact({**schema, "records": [{"value": order()}] * records})


def v3_records(records: int) -> bytes:
    """A piece of a stream of v3."""
    return (compact({"value": {"type": "JSON", "data": order()}}) + "\n").encode() * records
