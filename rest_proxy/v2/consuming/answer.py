"""Records as clients are given them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final

import orjson

from barnabas.kernel.http.schema import ANYTHING, INT32, INT64, INTEGER, STRING, Shape, list_of, nullable, open_object
from rest_proxy.formats.failure import Undecodable
from rest_proxy.formats.formats import Formats
from rest_proxy.record_headers import HEADERS as HEADERS_SHOWN
from rest_proxy.record_headers import shown_headers
from rest_proxy.v2.consuming.partition import FetchedRecord

CHUNK_RECORDS: Final = 500
"""Records that are turned into JSON before other requests have their turn."""

HEADERS: Final = "headers"
TIMESTAMP: Final = "timestamp"
EXTRAS: Final = (HEADERS, TIMESTAMP)
"""What clients may ask for beyond what Confluent's proxy tells."""
RECORD: Final = {"topic": STRING, "key": ANYTHING, "value": ANYTHING, "partition": INT32, "offset": INT64}
# Producers may leave a timestamp away, and then there is none.
RECORDS: Final = Shape(
    "ConsumedRecords", list_of(open_object(RECORD, {TIMESTAMP: nullable(INTEGER), HEADERS: HEADERS_SHOWN}))
)


class Answer:
    """The JSON of records, up to the first that cannot be read in the format of the instance.

    That record is an error when it is its turn: what stands before it is not lost, and what stands behind can be sought.
    """

    def __init__(self, formats: Formats, form: str, extras: Collection[str]) -> None:
        self._formats = formats
        self._form = form
        self._extras = extras

    async def write(self, records: Sequence[FetchedRecord]) -> tuple[bytes, int]:
        """The JSON, and how many records it holds."""
        parts: list[bytes] = []
        count = 0
        problem = None
        while count < len(records) and problem is None:
            shapes, problem = await self._readable(records[count : count + CHUNK_RECORDS])
            if shapes:
                parts.append(orjson.dumps(shapes)[1:-1])
                count += len(shapes)
            await asyncio.sleep(0)
        if problem is not None and not parts:
            raise problem
        return b"[" + b",".join(parts) + b"]", count

    async def _readable(self, records: Sequence[FetchedRecord]) -> tuple[list[dict[str, Any]], Undecodable | None]:
        """Those before the first that cannot be read, and what is wrong with that one."""
        try:
            return await self._shapes(records), None
        except Undecodable:
            found: list[dict[str, Any]] = []
        for record in records:
            try:
                found += await self._shapes([record])
            except Undecodable as problem:
                return found, _located(problem, record)
        return found, None

    async def _shapes(self, records: Sequence[FetchedRecord]) -> list[dict[str, Any]]:
        keys = await self._formats.decode_all(
            self._form, ((record.key, record.headers) for record in records), is_key=True
        )
        values = await self._formats.decode_all(
            self._form, ((record.value, record.headers) for record in records), is_key=False
        )
        return [self._shape(*each) for each in zip(records, keys, values, strict=True)]

    def _shape(self, record: FetchedRecord, key: Any, value: Any) -> dict[str, Any]:
        topic, number = record.partition
        shape = {"topic": topic, "key": key, "value": value, "partition": number, "offset": record.offset}
        if TIMESTAMP in self._extras:
            shape["timestamp"] = record.timestamp_ms
        if HEADERS in self._extras:
            shape["headers"] = shown_headers(record.headers)
        return shape


def _located(problem: Undecodable, record: FetchedRecord) -> Undecodable:
    topic, number = record.partition
    return Undecodable(
        f"{problem.message} (record {record.offset} of partition {number} of topic {topic}; "
        f"to go on behind it, move to offset {record.offset + 1})"
    )
