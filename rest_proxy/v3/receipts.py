"""What clients of v3 are told of each record that they sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias

import orjson

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import ERROR
from barnabas.kernel.http.schema import DATE_TIME, INT32, INTEGER, NAME, STRING, Shape, any_of, enum, open_object
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import Delivered
from rest_proxy.v3.record_reader import EPOCH, MS_PER_S, TYPES, ReadRecord, error_of

UNPROCESSABLE: Final = 422
RECEIPT_END: Final = "\r\n"

_WRITTEN_DATA: Final = Shape(
    "WrittenData",
    open_object(
        {"type": enum(*TYPES), "size": INTEGER}, {"subject": NAME, "schema_id": INT32, "schema_version": INT32}
    ),
)
WRITTEN: Final = {"cluster_id": STRING, "topic_name": STRING, "partition_id": INT32, "offset": INTEGER}
"""What a receipt says of a record, and what it says if there is something to say."""
WRITTEN_TOO: Final = {"timestamp": DATE_TIME, "key": _WRITTEN_DATA, "value": _WRITTEN_DATA}
RECEIPT: Final = Shape("Receipt", any_of(open_object({"error_code": INT32, **WRITTEN}, WRITTEN_TOO), ERROR))

Turn: TypeAlias = "ReadRecord | HttpError"
"""A record that was sent, or why it was not."""


class Receipts:
    """Receipts of one topic, as text: at a hundred thousand a second a dictionary for each would be most of the work."""

    def __init__(self, cluster_id: str, topic: str) -> None:
        names = orjson.dumps({"cluster_id": cluster_id, "topic_name": topic}).decode()[1:-1]
        self.place = f"{names},"
        """How a receipt names the topic."""
        self._begin = f'{{"error_code":200,{self.place}"partition_id":'
        self._timestamp_ms: int | None = None
        self._timestamp = ""

    def in_turn(self, turns: Sequence[Turn], results: Sequence[Delivered | KafkaFailure]) -> bytes:
        """The receipts of records that were sent together; `results` are of those that were sent."""
        parts = []
        for turn, result in zip(turns, matched(turns, results), strict=True):
            if isinstance(result, HttpError):
                parts.append(refusal(result))
            else:
                assert isinstance(turn, ReadRecord), "only what was sent was delivered"
                parts.append(f"{self._begin}{self.delivery(turn, result)}}}{RECEIPT_END}")
        return "".join(parts).encode()

    def delivery(self, record: ReadRecord, where: Delivered) -> str:
        """Where a record lies, from its partition on, without a closing brace."""
        partition, offset, timestamp_ms = where
        if timestamp_ms != self._timestamp_ms:
            # Most records come within the millisecond of the one before.
            self._timestamp_ms = timestamp_ms
            self._timestamp = "" if timestamp_ms is None else f',"timestamp":"{iso_date(timestamp_ms)}"'
        return f'{partition},"offset":{offset}{self._timestamp}{record.receipt_end}'


def matched(turns: Sequence[Turn], results: Sequence[Delivered | KafkaFailure]) -> Iterator[Delivered | HttpError]:
    """What became of each record."""
    sent = iter(results)
    for turn in turns:
        if isinstance(turn, HttpError):
            yield turn
            continue
        result = next(sent)
        yield error_of(result) if isinstance(result, KafkaFailure) else result


def refusal(error: HttpError) -> str:
    """The receipt of a record that was not written."""
    return orjson.dumps(error_fields(error)).decode() + RECEIPT_END


def error_fields(error: HttpError) -> dict[str, Any]:
    """An error as it stands in a receipt: codes of 422 are part of the message, which is one line with all that there is to say."""
    message = ": ".join(line.strip() for line in error.message.splitlines() if line.strip())
    if error.status == UNPROCESSABLE and error.code != UNPROCESSABLE:
        return {"error_code": UNPROCESSABLE, "message": f"Error: {error.code} : {message}"}
    return {"error_code": error.code, "message": message}


def iso_date(timestamp_ms: int) -> str:
    """As Java prints an instant: with milliseconds where there are some."""
    date = EPOCH + timedelta(milliseconds=timestamp_ms)
    timespec = "milliseconds" if timestamp_ms % MS_PER_S else "seconds"
    return date.replace(tzinfo=None).isoformat(timespec=timespec) + "Z"
