"""Records that stream in, and receipts that stream out while the upload goes on."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from barnabas.kernel.http.errors import HttpError
from rest_proxy.kafka.producer import Batch, SharedProducer
from rest_proxy.v3.json_objects import JsonObjects, Oversize
from rest_proxy.v3.receipts import Receipts, Turn, refusal
from rest_proxy.v3.record_reader import ReadRecord, RecordReader

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

BAD_REQUEST: Final = 400
BATCH_MAX_RECORDS: Final = 500
"""Records whose receipts are sent together. The first of them waits for the last, so it is no use to make it larger."""
DISCARDED_MAX_BYTES: Final = 64 * 1024 * 1024
"""Of an upload that broke off so much is read and dropped: a client that writes it whole before it reads sees its receipts."""


class ProduceStream(Response):
    """The answer to an upload of any length. It begins at once; receipts follow in the order of the records.

    Two sides run at once. One reads, and hands records to the producer; the other waits for them in turn, and sends their receipts. At
    most `in_flight_max` records are between the two: when the broker is slow, or the client does not read its receipts, nothing more is
    read, and the client cannot send more.
    """

    media_type = "application/json"

    def __init__(
        self,
        reader: RecordReader,
        receipts: Receipts,
        producer: SharedProducer,
        *,
        in_flight_max: int,
        record_max_bytes: int,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers()
        self._reader = reader
        self._receipts = receipts
        self._producer = producer
        self._in_flight = InFlight(in_flight_max)
        self._objects = JsonObjects(record_max_bytes)
        self._batch_max = min(BATCH_MAX_RECORDS, in_flight_max)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        # The head goes out with the first part of the body, were it empty; clients may wait for it before they send a record.
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        async with asyncio.TaskGroup() as sides:
            sending = sides.create_task(self._send_receipts(send))
            try:
                await self._read_records(receive)
                self._in_flight.finish()
            except ClientDisconnect:
                # What was handed to the producer is written nevertheless; there is nobody to tell.
                sending.cancel()
        if not sending.cancelled():
            problem = self._objects.problem
            await send({"type": "http.response.body", "body": b"" if problem is None else _last_words(problem)})

    async def _read_records(self, receive: Receive) -> None:
        more = True
        while more and self._objects.problem is None:
            piece, more = await _next(receive)
            objects = self._objects.feed(piece)
            for start in range(0, len(objects), self._batch_max):
                await self._produce(objects[start : start + self._batch_max])
        discarded = 0
        while more and discarded < DISCARDED_MAX_BYTES:
            piece, more = await _next(receive)
            discarded += len(piece)
        self._objects.finish()

    async def _produce(self, objects: Sequence[dict[str, Any] | Oversize]) -> None:
        self._reader.refresh()
        read = self._reader.read
        turns = [_too_large(each) if isinstance(each, Oversize) else await read(each) for each in objects]
        await self._in_flight.enter(len(turns))
        batch = await self._producer.begin([turn.outgoing for turn in turns if isinstance(turn, ReadRecord)])
        self._in_flight.add(turns, batch)

    async def _send_receipts(self, send: Send) -> None:
        while (waiting := await self._in_flight.next()) is not None:
            turns, batch = waiting
            await batch.done
            receipts = self._receipts.in_turn(turns, batch.results)
            await send({"type": "http.response.body", "body": receipts, "more_body": True})
            self._in_flight.leave(len(turns))


class InFlight:
    """The records between the two sides of a stream: a bounded queue of batches, counted in records."""

    def __init__(self, max_records: int) -> None:
        self._max_records = max_records
        self._records = 0
        self._batches: deque[tuple[Sequence[Turn], Batch]] = deque()
        self._finished = False
        self._changed = asyncio.Event()
        self._space = asyncio.Event()

    async def enter(self, records: int) -> None:
        """Waits until there is room for so many more."""
        while self._records and self._records + records > self._max_records:
            self._space.clear()
            await self._space.wait()
        self._records += records

    def add(self, turns: Sequence[Turn], batch: Batch) -> None:
        self._batches.append((turns, batch))
        self._changed.set()

    def finish(self) -> None:
        self._finished = True
        self._changed.set()

    async def next(self) -> tuple[Sequence[Turn], Batch] | None:
        """The batch whose turn it is; None when all have had theirs."""
        while not self._batches:
            if self._finished:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._batches.popleft()

    def leave(self, records: int) -> None:
        self._records -= records
        self._space.set()


async def _next(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), message.get("more_body", False)


def _too_large(record: Oversize) -> HttpError:
    return HttpError(
        BAD_REQUEST,
        "Bad Request: Error processing message: the record is larger than the "
        f"{record.max_bytes} bytes that producer.request.max.bytes allows",
    )


def _last_words(problem: str) -> bytes:
    return refusal(HttpError(BAD_REQUEST, f"Bad Request: Error processing message: {problem}")).encode()
