"""The conversation in which rows go to the server and acks come back at the same time, without the connection that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import h11
import orjson

from streams_sql.clients.failures import RowsRefused, ServerUnreachable
from streams_sql.clients.protocol import DELIMITED, OK, LineCutter, parsed_answer
from streams_sql.clients.rows import insertable

PATH: Final = "/inserts-stream"
UNACKED_MAX: Final = 1_000
"""Rows under way. Acks that nobody reads must have room on the way: the server stops reading otherwise, and both would wait for ever."""


class InsertExchange:
    """Gives the bytes to send, and takes those that come back."""

    def __init__(self, url: str, target: str) -> None:
        self._url = url
        self._target = target
        self._http = h11.Connection(h11.CLIENT)
        self._cutter = LineCutter()
        self._status: int | None = None
        self._error = b""
        self._sent = 0
        self._acked = 0
        self._problems: dict[int, str] = {}
        self.written = 0
        self.is_over = False

    @property
    def under_way(self) -> int:
        return self._sent - self._acked

    def opening(self) -> bytes:
        """The head of the request, and where the rows go."""
        parts = urlsplit(self._url)
        headers = [
            ("host", parts.netloc.rpartition("@")[2]),
            ("accept", DELIMITED),
            ("content-type", DELIMITED),
            ("transfer-encoding", "chunked"),
        ]
        head = self._http.send(h11.Request(method="POST", target=f"{parts.path}{PATH}", headers=headers))
        return (head or b"") + self._line(orjson.dumps({"target": self._target}))

    def row(self, row: Mapping[str, Any]) -> bytes:
        self.check()
        found = self._line(insertable(row))
        self._sent += 1
        return found

    def ending(self) -> bytes:
        return self._http.send(h11.EndOfMessage()) or b""

    def receive(self, data: bytes) -> None:
        """Nothing means that the server has closed the connection. ServerUnreachable."""
        try:
            self._http.receive_data(data)
            while not self.is_over:
                event = self._http.next_event()
                if event in (h11.NEED_DATA, h11.PAUSED):
                    break
                self._take(event)
        except h11.RemoteProtocolError as problem:
            self.is_over = True
            raise ServerUnreachable(f"{self._url} broke off its answer: {problem}") from None

    def check(self) -> None:
        """Refused when the server takes no rows for the target; ServerUnreachable when it takes none any more."""
        if self._status not in (None, OK):
            if self.is_over:
                parsed_answer(self._url, self._status or 0, self._error)
        elif self.is_over:
            raise ServerUnreachable(
                f"{self._url} takes no more rows: {next(reversed(self._problems.values()), 'it stops')}"
            )

    def result(self) -> int:
        """How many rows were written, when all acks have come. RowsRefused unless all were; Refused, ServerUnreachable."""
        if self._status != OK:
            self.check()
        for place in range(self._acked, self._sent):
            self._problems[place] = "the server had stopped taking rows"
        self._acked = self._sent
        if self._problems:
            problems, self._problems = self._problems, {}
            raise RowsRefused(problems, self.written)
        return self.written

    def _line(self, text: bytes) -> bytes:
        return self._http.send(h11.Data(data=text + b"\n")) or b""

    def _take(self, event: Any) -> None:
        match event:
            case h11.Response(status_code=status):
                self._status = status
            case h11.Data(data=data) if self._status == OK:
                for line in self._cutter.cut(bytes(data)):
                    self._ack(orjson.loads(line))
            case h11.Data(data=data):
                self._error += data
            case h11.EndOfMessage() | h11.ConnectionClosed():
                self.is_over = True

    def _ack(self, ack: Mapping[str, Any]) -> None:
        self._acked += 1
        if ack["status"] == "ok":
            self.written += 1
        else:
            self._problems[ack["seq"]] = ack["message"]
