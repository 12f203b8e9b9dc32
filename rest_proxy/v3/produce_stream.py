"""Records that stream in, and receipts that stream out while the upload goes on."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.inflation import StreamInflation
from rest_proxy.kafka.producer import Batch, SharedProducer
from rest_proxy.record_log import RecordLog, RecordPlaces
from rest_proxy.stopping import Stopping
from rest_proxy.v3.json_objects import JsonObjects, Oversize
from rest_proxy.v3.receipts import Receipts, Turn, refusal
from rest_proxy.v3.record_reader import ReadRecord, RecordReader, UnknownSchema
from rest_proxy.v3.upload import Upload

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

BAD_REQUEST: Final = 400
BATCH_MAX_RECORDS: Final = 500
"""Records whose receipts are sent together. The first of them waits for the last, so it is no use to make it larger."""
IN_FLIGHT_MAX_BYTES: Final = 16 * 1024 * 1024
"""Of the text of records that wait for receipts; one record may be larger, alone."""
DISCARDED_MAX_BYTES: Final = 64 * 1024 * 1024
"""Of an upload that broke off so much is read and dropped: a client that writes it whole before it reads sees its receipts."""


class ProduceStream(Response):
    """The answer to an upload of any length. It begins at once; receipts follow in the order of the records.

    Two sides run at once. One reads, and hands records to the producer; the other waits for them in turn, and sends their receipts. At
    most `in_flight_max` records are between the two: when the broker is slow, or the client does not read its receipts, nothing more is
    read, and the client cannot send more. When the service stops, what has been read gets its receipts, and the answer ends.
    """

    media_type = "application/json"

    def __init__(
        self,
        reader: RecordReader,
        receipts: Receipts,
        producer: SharedProducer,
        record_log: RecordLog,
        *,
        in_flight_max: int,
        record_max_bytes: int,
        inflation: StreamInflation | None,
        stopping: Stopping,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers()
        self._reader = reader
        self._receipts = receipts
        self._producer = producer
        self._log = record_log
        self._places = RecordPlaces()
        self._in_flight = InFlight(in_flight_max)
        self._objects = JsonObjects(record_max_bytes)
        self._inflation = inflation
        self._stopping = stopping
        self._batch_max = min(BATCH_MAX_RECORDS, in_flight_max)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = Upload(receive, self._stopping, self._inflation)
        if any(name == b"expect" for name, _ in scope["headers"]):
            # Such a client sends nothing before it is told 100 Continue, which the server does when the body is first asked for.
            await upload.begin()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        # The head goes out with the first part of the body, were it empty; clients may wait for it before they send a record.
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        async with asyncio.TaskGroup() as sides:
            sending = sides.create_task(self._send_receipts(send))
            try:
                await self._read_records(upload)
                self._in_flight.finish()
            except ClientDisconnect:
                # What was handed to the producer is written nevertheless; there is nobody to tell.
                sending.cancel()
        self._log.tell_of(self._reader.topic, self._places)
        if not sending.cancelled():
            problem = upload.problem or self._objects.problem
            await send({"type": "http.response.body", "body": b"" if problem is None else _last_words(problem)})

    async def _read_records(self, upload: Upload) -> None:
        size_bytes = 0
        while upload.goes_on and not (upload.problem or self._objects.problem):
            piece = await upload.next()
            size_bytes += len(piece)
            objects = self._objects.feed(piece)
            for start in range(0, len(objects), self._batch_max):
                await self._produce(objects[start : start + self._batch_max], size_bytes)
                size_bytes = 0
        discarded = 0
        while upload.goes_on and discarded < DISCARDED_MAX_BYTES:
            discarded += len(await upload.next())
        if not upload.is_cut:
            self._objects.finish()

    async def _produce(self, objects: Sequence[dict[str, Any] | Oversize], size_bytes: int) -> None:
        self._reader.refresh()
        turns = await self._turns(objects)
        await self._in_flight.enter(len(turns), size_bytes)
        batch = await self._producer.begin([turn.outgoing for turn in turns if isinstance(turn, ReadRecord)])
        self._in_flight.add(Waiting(turns, batch, size_bytes))

    async def _turns(self, objects: Sequence[dict[str, Any] | Oversize]) -> list[Turn]:
        read, turns = self._reader.read_known, []
        for each in objects:
            if isinstance(each, Oversize):
                turn: Turn = _too_large(each)
            else:
                try:
                    turn = read(each)
                except UnknownSchema:
                    turn = await self._reader.read(each)
            turns.append(turn)
        return turns

    async def _send_receipts(self, send: Send) -> None:
        while (first := await self._in_flight.next()) is not None:
            await first.batch.done
            # Whatever is complete by now goes out with it: to send costs as much as to write dozens of receipts.
            complete = [first, *self._in_flight.complete()]
            for each in complete:
                self._places.add(each.batch.results, wanted=self._log.tells_places)
            receipts = b"".join([self._receipts.in_turn(each.turns, each.batch.results) for each in complete])
            await send({"type": "http.response.body", "body": receipts, "more_body": True})
            for each in complete:
                self._in_flight.leave(each)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Records that were read together, and how large they were on their way here."""

    turns: Sequence[Turn]
    batch: Batch
    size_bytes: int


class InFlight:
    """The records between the two sides of a stream: a bounded queue of batches."""

    def __init__(self, max_records: int) -> None:
        self._max_records = max_records
        self._records = 0
        self._bytes = 0
        self._batches: deque[Waiting] = deque()
        self._finished = False
        self._changed = asyncio.Event()
        self._space = asyncio.Event()

    async def enter(self, records: int, size_bytes: int) -> None:
        """Waits until there is room for so many more."""
        while self._records and (
            self._records + records > self._max_records or self._bytes + size_bytes > IN_FLIGHT_MAX_BYTES
        ):
            self._space.clear()
            await self._space.wait()
        self._records += records
        self._bytes += size_bytes

    def add(self, waiting: Waiting) -> None:
        self._batches.append(waiting)
        self._changed.set()

    def finish(self) -> None:
        self._finished = True
        self._changed.set()

    async def next(self) -> Waiting | None:
        """The batch whose turn it is; None when all have had theirs."""
        while not self._batches:
            if self._finished:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._batches.popleft()

    def complete(self) -> Iterator[Waiting]:
        """The batches whose turn comes next, as far as they have all of their results."""
        while self._batches and self._batches[0].batch.done.done():
            yield self._batches.popleft()

    def leave(self, waiting: Waiting) -> None:
        self._records -= len(waiting.turns)
        self._bytes -= waiting.size_bytes
        self._space.set()


def _too_large(record: Oversize) -> HttpError:
    return HttpError(
        BAD_REQUEST,
        "Bad Request: Error processing message: the record is larger than the "
        f"{record.max_bytes} bytes that producer.request.max.bytes allows",
    )


def _last_words(problem: str) -> bytes:
    message = f"Bad Request: Error processing message: {problem}. The upload ends here: what follows was not read."
    return refusal(HttpError(BAD_REQUEST, message)).encode()
