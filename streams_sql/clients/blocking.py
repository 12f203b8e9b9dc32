"""The client for programs that wait: each call returns when the server has answered."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx

from streams_sql.clients.failures import Refused, ServerUnreachable
from streams_sql.clients.frames import arrow_table, pandas_frame
from streams_sql.clients.insert_stream import InsertStream
from streams_sql.clients.protocol import (
    ANSWER_TIMEOUT_S,
    ARROW,
    CALL_PROBLEMS,
    CLOSE_TIMEOUT_S,
    DEFAULT_URL,
    JSON,
    OK,
    ROWS_HEADERS,
    LineCutter,
    Session,
    Settings,
    answer,
    broken_off,
    unreachable,
)
from streams_sql.clients.rows import RowReader, as_dict

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import pyarrow as pa  # type: ignore[import-untyped]


class Client:
    """A connection to a SQL server, ours or ksqlDB's. Threads may share it.

    `properties` and `variables` go along with each request, as SET and DEFINE do in a session; both may be changed later. A call
    that is not answered within `timeout_s` seconds fails; rows of a stream are waited for without end.

        with Client("http://127.0.0.1:8088", properties={"auto.offset.reset": "earliest"}) as client:
            client.execute("SHOW STREAMS;")

    Every method may raise Refused, when the server does not do what it was asked, and ServerUnreachable, when nobody answers.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        properties: Settings | None = None,
        variables: Settings | None = None,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        self._session = Session(url, properties, variables, timeout_s)
        self._http = httpx.Client(timeout=self._session.timeout(), verify=self._session.verifies)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    @property
    def url(self) -> str:
        return self._session.url

    @property
    def properties(self) -> dict[str, str]:
        return self._session.properties

    @property
    def variables(self) -> dict[str, str]:
        return self._session.variables

    def execute(self, sql: str) -> list[dict[str, Any]]:
        """Run statements that are no queries; returns what each of them that has something to tell tells.

        Nothing is done unless all of them can be.

            client.execute("CREATE STREAM s (k STRING KEY, v INTEGER) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON', PARTITIONS=1);")
            [stream["name"] for stream in client.execute("SHOW STREAMS;")[0]["streams"]]
        """
        body = self._session.statement_body(sql)
        found: list[dict[str, Any]] = answer(self._call("POST", "/ksql", json=body, headers={"accept": JSON}))
        self._session.heed(found)
        return found

    def query(self, sql: str) -> Rows:
        """The rows of a query that ends by itself: a pull query, or a push query with LIMIT.

        for row in client.query("SELECT k, total FROM totals WHERE k = 'a';"):
            row.total
        client.query("SELECT * FROM totals;").to_pandas()
        """
        return Rows(self, self._open(sql, is_endless=False))

    def stream(self, sql: str) -> Rows:
        """The rows of a push query as they come. Closing them, or leaving them as a context, ends the query.

        with client.stream("SELECT * FROM s EMIT CHANGES;") as rows:
            for row in rows:
                row.k, row.v
        """
        return Rows(self, self._open(sql, is_endless=True))

    def print_lines(self, sql: str) -> Lines:
        """The lines of PRINT, as bytes."""
        return Lines(self._open(sql, is_endless=True))

    def arrow_stream(self, sql: str) -> Iterator[bytes]:
        """The rows of a query as a stream of Arrow's, in pieces.

        pyarrow.ipc.open_stream(b"".join(client.arrow_stream("SELECT * FROM orders;"))).read_all()
        """
        response = self._open(sql, is_endless=True, headers={"accept": ARROW})
        try:
            yield from response.iter_bytes()
        except httpx.HTTPError as problem:
            raise broken_off(self.url, problem) from None
        finally:
            response.close()

    def insert(self, target: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Write rows to a stream or a table; returns how many. RowsRefused for those that do not fit, after all others were written.

        client.insert("s", [{"k": "a", "v": 1}, {"k": "b", "v": 2}])
        """
        with self.insert_stream(target) as stream:
            for row in rows:
                stream.send(row)
        return stream.written

    def insert_stream(self, target: str) -> InsertStream:
        """Write rows as they come to be, over one connection.

        with client.insert_stream("s") as stream:
            stream.send({"k": "a", "v": 1})
            stream.flush()
        """
        return InsertStream(self.url, target)

    def info(self) -> dict[str, Any]:
        """The version and the state of the server, and the ids of its cluster and its service."""
        found = answer(self._call("GET", "/info"))
        told: dict[str, Any] = found["KsqlServerInfo"]
        return told

    def end_query(self, query_id: str) -> None:
        """End a push query that runs on the server."""
        response = self._call("POST", "/close-query", json={"queryId": query_id}, timeout=CLOSE_TIMEOUT_S)
        if response.status_code != OK:
            answer(response)

    def _open(self, sql: str, *, is_endless: bool, headers: Mapping[str, str] = ROWS_HEADERS) -> httpx.Response:
        request = self._http.build_request(
            "POST",
            f"{self.url}/query-stream",
            json=self._session.query_body(sql),
            headers=headers,
            timeout=self._session.timeout(is_endless=is_endless),
        )
        try:
            response = self._http.send(request, stream=True)
            if response.status_code != OK:
                response.read()
                answer(response)
        except CALL_PROBLEMS as problem:
            raise unreachable(self.url, problem) from None
        return response

    def _call(self, method: str, path: str, **content: Any) -> httpx.Response:
        try:
            return self._http.request(method, f"{self.url}{path}", **content)
        except CALL_PROBLEMS as problem:
            raise unreachable(self.url, problem) from None


class Lines:
    """The lines of an answer, to be read once. Another thread may close them: what waits for the next line ends when the server ends the
    answer, and not before."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._lock = threading.Lock()
        self._is_read = False
        self._closed = threading.Event()
        self.is_over = False

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        cutter = LineCutter()
        pieces = self._response.iter_bytes()
        while (piece := self._next(pieces)) is not None:
            yield from cutter.cut(piece)

    def _next(self, pieces: Iterator[bytes]) -> bytes | None:
        with self._lock:
            if self._closed.is_set():
                return None
            self._is_read = True
        try:
            piece = next(pieces, None)
            self.is_over = piece is None
        except httpx.HTTPError as problem:
            self.is_over = True
            if self._closed.is_set():
                return None
            raise broken_off(str(self._response.request.url.copy_with(path="/")), problem) from None
        finally:
            with self._lock:
                self._is_read = False
                if self._closed.is_set():
                    self._response.close()
        return piece

    def close(self) -> None:
        with self._lock:
            self._closed.set()
            if not self._is_read:
                self._response.close()


class Rows:
    """Rows as named tuples, to be read once. `columns` are their names and `types` the texts of their SQL types.

    The names are in small letters as attributes, `row.total`, where they are names in Python. TIMESTAMP is a datetime in UTC, DATE a date,
    TIME a time, DECIMAL a Decimal, BYTES bytes, a struct a dict. `query_id` is the server's name for the query, `notes` is what it has to say
    about the result.
    """

    def __init__(self, client: Client, response: httpx.Response) -> None:
        self._client = client
        self._lines = Lines(response)
        self._remaining = iter(self._lines)
        self._reader = RowReader(next(self._remaining, b""))
        self.columns = self._reader.columns
        self.types = self._reader.types
        self.query_id = self._reader.query_id
        self.notes = self._reader.notes

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return map(self._reader.row, filter(self._reader.is_row, self._remaining))

    def raw(self) -> Iterator[list[Any]]:
        """Rows as lists of what JSON has: points in time and bytes are texts, and numbers with a point are Decimals."""
        return map(self._reader.raw, filter(self._reader.is_row, self._remaining))

    @property
    def figures(self) -> Mapping[str, int] | None:
        """What the query has read for its rows, once they have been read: records, bytes, problems (records that could not be decoded) and
        elapsed_ms. None where the server does not tell."""
        return self._reader.figures

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Rows as dicts, by the names of the columns as the server spells them: in capitals, unless they were quoted."""
        return (as_dict(self.columns, row) for row in self)

    def close(self) -> None:
        """End the query, if it has not ended. Another thread that waits for a row gets no more."""
        if not self._lines.is_over and self.query_id:
            # A query that has ended meanwhile is unknown to the server, and one that cannot be reached ends it by itself.
            with suppress(Refused, ServerUnreachable):
                self._client.end_query(self.query_id)
        self._lines.close()

    def to_arrow(self) -> pa.Table:
        """All rows of a query that ends, as a table of Arrow."""
        return arrow_table(self.columns, self.types, self)

    def to_pandas(self) -> pd.DataFrame:
        """All rows of a query that ends, as a data frame. Integers and booleans have pandas' types that know NULL."""
        return pandas_frame(self.to_arrow())
