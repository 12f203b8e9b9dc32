"""Paths that write records: one stream of any length, or a small batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.inflation import StreamInflation
from barnabas.kernel.http.operation import content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import Shape, closed_object
from rest_proxy.problems import not_acceptable, unsupported
from rest_proxy.proxy import Proxy
from rest_proxy.v3.operation import write
from rest_proxy.v3.produce_batch import BATCH, RECEIPTS, ProduceBatch
from rest_proxy.v3.produce_stream import ProduceStream
from rest_proxy.v3.receipts import RECEIPT, Receipts
from rest_proxy.v3.record_reader import RECORD_EXAMPLE, RECORD_MEMBERS, RecordReader

JSON_TYPE: Final = "application/json"

_OFFERS: Final = [Offer(json_type) for json_type in [parse_media_type(JSON_TYPE)] if json_type is not None]
_PATH: Final = "/v3/clusters/{cluster_id}/topics/{topic_name}"

_STREAM: Final = write(
    "produceRecord",
    "Records",
    "Write records, one JSON object after the other, and get a receipt for each while the rest is sent",
    {200: content(RECEIPT)},
    content(Shape("Record", closed_object({}, RECORD_MEMBERS)), example=RECORD_EXAMPLE),
)
_BATCH: Final = write(
    "produceRecordsBatch",
    "Records",
    "Write a few records",
    {207: content(RECEIPTS)},
    content(BATCH, example={"entries": [{"id": "1", **RECORD_EXAMPLE}]}),
)


def routes(proxy: Proxy) -> Iterator[Route]:
    produce = Produce(proxy)
    yield Route("POST", f"{_PATH}/records", produce.stream, _STREAM)
    yield Route("POST", f"{_PATH}/records:batch", produce.batch, _BATCH)


class Produce:
    """The cluster's id is not compared with the real one: clients of Confluent's proxy may write any, and some do."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._in_flight_max = proxy.settings.integer("stream.records.in.flight.max")
        self._record_max_bytes = proxy.settings.integer("producer.request.max.bytes")

    async def stream(self, request: Request) -> Response:
        _check_types(request)
        await self._proxy.clients.reachability.check()
        inflation = StreamInflation.of(request.headers.get("content-encoding", ""))
        reader, receipts = self._topic(request)
        return ProduceStream(
            reader,
            receipts,
            self._proxy.clients.producer,
            self._proxy.record_log,
            in_flight_max=self._in_flight_max,
            record_max_bytes=self._record_max_bytes,
            inflation=inflation,
            stopping=self._proxy.stopping,
        )

    async def batch(self, request: Request) -> Response:
        _check_types(request)
        await self._proxy.clients.reachability.check()
        reader, receipts = self._topic(request)
        batch = ProduceBatch(reader, receipts, self._proxy.clients.producer, self._proxy.record_log)
        return await batch.answer(await request.body())

    def _topic(self, request: Request) -> tuple[RecordReader, Receipts]:
        topic = request.path_value("topic_name")
        return RecordReader(topic, self._proxy.formats), Receipts(request.path_value("cluster_id"), topic)


def _check_types(request: Request) -> None:
    sent = parse_media_type(request.headers.get("content-type") or JSON_TYPE)
    if sent is None or sent.essence != JSON_TYPE:
        raise unsupported([JSON_TYPE])
    if choose(request.headers.get("accept", ""), _OFFERS) is None:
        raise not_acceptable([JSON_TYPE])
