"""A few records in one request, each with an id by which its result is found."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson
from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.schema import INT32, STRING, Shape, closed_object, list_of, open_object
from rest_proxy.kafka.producer import Delivered, SharedProducer
from rest_proxy.problems import raise_unreachable
from rest_proxy.record_log import RecordLog
from rest_proxy.v3.receipts import WRITTEN, WRITTEN_TOO, Receipts, error_fields, matched
from rest_proxy.v3.record_reader import RECORD_MEMBERS, ReadRecord, RecordReader

MULTI_STATUS: Final = 207
BAD_REQUEST: Final = 400
UNPROCESSABLE: Final = 422
BATCH_ERROR: Final = 42208
ENTRIES_MAX: Final = 10

_ID: Final = re.compile(r"[0-9a-zA-Z_-]{1,80}")
_ENTRY: Final = closed_object({"id": {"type": "string", "pattern": f"^{_ID.pattern}$"}}, RECORD_MEMBERS)
BATCH: Final = Shape("RecordBatch", closed_object({"entries": list_of(_ENTRY, minItems=1, maxItems=ENTRIES_MAX)}))
RECEIPTS: Final = Shape(
    "BatchReceipts",
    open_object(
        {
            "successes": list_of(open_object({"id": STRING, **WRITTEN}, WRITTEN_TOO)),
            "failures": list_of(open_object({"id": STRING, "error_code": INT32, "message": STRING})),
        }
    ),
)


class ProduceBatch:
    """One request: either it is refused as a whole, or each of its entries has a result."""

    def __init__(
        self, reader: RecordReader, receipts: Receipts, producer: SharedProducer, record_log: RecordLog
    ) -> None:
        self._reader = reader
        self._receipts = receipts
        self._producer = producer
        self._log = record_log

    async def answer(self, body: bytes) -> Response:
        entries = _entries(body)
        turns = [await self._reader.read(entry) for entry in entries.values()]
        results = await self._producer.send([turn.outgoing for turn in turns if isinstance(turn, ReadRecord)])
        self._log.tell(self._reader.topic, results)
        if len(results) == len(turns):
            raise_unreachable(results)
        successes: list[orjson.Fragment] = []
        failures: list[dict[str, Any]] = []
        for identifier, turn, result in zip(entries, turns, matched(turns, results), strict=True):
            if isinstance(result, HttpError):
                failures.append({"id": identifier, **error_fields(result)})
            elif isinstance(turn, ReadRecord):
                successes.append(self._success(identifier, turn, result))
        return json_answer({"successes": successes, "failures": failures}, MULTI_STATUS)

    def _success(self, identifier: str, record: ReadRecord, where: Delivered) -> orjson.Fragment:
        place = f'{{"id":"{identifier}",{self._receipts.place}"partition_id":'
        return orjson.Fragment(f"{place}{self._receipts.delivery(record, where)}}}")


def _entries(body: bytes) -> dict[str, dict[str, Any]]:
    """The records of a request by their ids."""
    if not body.strip():
        raise _refused("Request body is empty. Data is required.")
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as problem:
        raise HttpError(BAD_REQUEST, f"the body is not valid JSON: {problem}") from None
    if request is None:
        raise _refused("Request body is empty. Data is required.")
    if type(request) is not dict:
        raise HttpError(BAD_REQUEST, "the body is an object with the field 'entries'")
    if unknown := request.keys() - BATCH.members:
        raise HttpError(UNPROCESSABLE, f"Unrecognized field: {min(unknown)}")
    listed = request.get("entries") or []
    if type(listed) is not list or not all(type(entry) is dict for entry in listed):
        raise HttpError(BAD_REQUEST, "'entries' is a list of objects, one for each record")
    entries = {_identifier(entry): entry for entry in listed}
    if len(entries) != len(listed):
        raise _refused("Batch entry IDs are not distinct.")
    if not entries:
        raise _refused("Empty batch.")
    if len(entries) > ENTRIES_MAX:
        raise _refused("Too many entries in batch.")
    return entries


def _identifier(entry: dict[str, Any]) -> str:
    """Takes the id out of an entry: the rest of it is a record."""
    identifier = entry.pop("id", None)
    if type(identifier) is not str or not _ID.fullmatch(identifier):
        raise _refused("Batch entry identifier is not a valid string.")
    return identifier


def _refused(message: str) -> HttpError:
    return HttpError(UNPROCESSABLE, message, code=BATCH_ERROR)
