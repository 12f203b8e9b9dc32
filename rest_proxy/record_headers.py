"""The headers of records that were read."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Final

from confluent_kafka import Message

from barnabas.kernel.http.schema import BASE64, STRING, list_of, nullable, open_object

HEADERS: Final = list_of(open_object({"name": STRING, "value": nullable(BASE64)}))
"""The schema of what `shown_headers` returns."""


def record_headers(message: Message) -> list[tuple[str, bytes | None]]:
    found = message.headers()
    if not found:
        return []
    pairs = found.items() if isinstance(found, dict) else found
    return [(name, value.encode() if isinstance(value, str) else value) for name, value in pairs]


def shown_headers(headers: Sequence[tuple[str, bytes | None]]) -> list[dict[str, str | None]]:
    """As clients of v3 write them."""
    return [{"name": name, "value": None if value is None else b64encode(value).decode()} for name, value in headers]
