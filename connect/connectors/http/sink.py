"""A sink that sends records to an HTTP service, one at a time or in lists."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

import httpx

from connect.api.record import Record
from connect.api.sink import RejectedRecord, Sink
from connect.connectors.http.settings import HttpSinkSettings
from connect.data.json_text import json_text
from connect.errors import ConnectError, DataError, Retry

ANSWER_READ_BYTES: Final = 64 * 1024
"""What an answer may have before its connection is given up; nobody needs the rest."""
ANSWER_SHOWN_CHARACTERS: Final = 300
RETRY_AFTER_MAX_S: Final = 300.0

# What concerns the service and not the record: credentials that have expired, an address that is not served yet, too many
# requests. Of the other 4xx, the record is to blame.
_LATER: Final = frozenset({401, 403, 404, 405, 407, 408, 425, 429})
_REDIRECTION: Final = 300
_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500

# It would log each request, with the whole address.
logging.getLogger("httpx").setLevel(logging.WARNING)


class _Row(NamedTuple):
    """A record's place in its batch, and its text."""

    place: int
    text: bytes


class HttpSink(Sink[HttpSinkSettings]):
    """Sends each record as JSON. The service is away: wait and try again. It refuses a record: that record is rejected."""

    settings_type = HttpSinkSettings

    def __init__(self, settings: HttpSinkSettings) -> None:
        super().__init__(settings)
        # Answers are read as they come: one that is small when it is compressed could fill the memory.
        headers = [("Accept-Encoding", "identity"), *settings.headers]
        self._client = httpx.Client(headers=headers, timeout=settings.timeout_s, trust_env=False)

    def write(self, records: Sequence[Record]) -> Sequence[RejectedRecord]:
        rows: list[_Row] = []
        rejected: list[RejectedRecord] = []
        for place, record in enumerate(records):
            try:
                rows.append(_Row(place, json_text(record.value)))
            except (TypeError, ValueError) as error:
                rejected.append(RejectedRecord(place, DataError(f"the value has no form in JSON: {error}")))
        rejected += self._send_lists(rows) if self.settings.batching else self._send_each(rows)
        return sorted(rejected, key=lambda each: each.place)

    def stop(self) -> None:
        self._client.close()

    def _send_each(self, rows: Sequence[_Row]) -> Iterator[RejectedRecord]:
        for row in rows:
            problem = self._send(row.text)
            if problem is not None:
                yield RejectedRecord(row.place, problem)

    def _send_lists(self, rows: Sequence[_Row]) -> Iterator[RejectedRecord]:
        size = self.settings.batch_max_size
        for start in range(0, len(rows), size):
            yield from self._send_list(rows[start : start + size])

    def _send_list(self, rows: Sequence[_Row]) -> Iterator[RejectedRecord]:
        """A list that is refused is halved, until those are found that the service does not want."""
        problem = self._send(b"[" + b",".join(row.text for row in rows) + b"]")
        if problem is None:
            return
        if len(rows) == 1:
            yield RejectedRecord(rows[0].place, problem)
            return
        middle = len(rows) // 2
        yield from self._send_list(rows[:middle])
        yield from self._send_list(rows[middle:])

    def _send(self, body: bytes) -> DataError | None:
        settings = self.settings
        try:
            with self._client.stream(settings.method.upper(), settings.url, content=body) as answer:
                return self._judged(answer, _beginning(answer))
        except httpx.HTTPError as error:
            raise Retry(f"{settings.shown_url} cannot be reached: {str(error) or type(error).__name__}") from error

    def _judged(self, answer: httpx.Response, text: str) -> DataError | None:
        status, url = answer.status_code, self.settings.shown_url
        if status >= _SERVER_ERROR or status in _LATER:
            raise Retry(f"{url} answered {status}: {text}", _retry_after_s(answer))
        if status >= _CLIENT_ERROR:
            return DataError(f"{url} refused the record with {status}: {text}")
        if status >= _REDIRECTION:
            raise ConnectError(
                f"{url} answered {status}: records are not sent elsewhere unasked; set http.url to where it leads"
            )
        return None


def _beginning(answer: httpx.Response) -> str:
    read = bytearray()
    for chunk in answer.iter_raw():
        read += chunk
        if len(read) > ANSWER_READ_BYTES:
            break
    return read.decode("utf-8", "replace")[:ANSWER_SHOWN_CHARACTERS]


def _retry_after_s(answer: httpx.Response) -> float | None:
    """How long the service asks to wait: seconds, or a date."""
    text = answer.headers.get("Retry-After")
    if text is None:
        return None
    try:
        wait_s = float(text)
    except ValueError:
        try:
            at = parsedate_to_datetime(text)
        except ValueError:
            return None
        wait_s = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return None if math.isnan(wait_s) else min(max(wait_s, 0.0), RETRY_AFTER_MAX_S)
