"""An HTTP service that records are sent to: it keeps what it takes, and can go away and come back at the same address."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.ports import HOST, free_port


class Request(NamedTuple):
    method: str
    headers: Mapping[str, str]
    content: Any


class Answer(NamedTuple):
    status: int
    text: str = ""
    headers: Mapping[str, str] = {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A service that comes back may find connections of the former one closing.
    allow_reuse_address = True


class Service:
    """`judge` answers requests; what it answers with 200 is taken."""

    def __init__(self) -> None:
        self._port = free_port()
        self._server: _Server | None = None
        self.requests: list[Request] = []
        self.taken: list[Any] = []
        self.judge: Callable[[Request], Answer] = lambda _request: Answer(200)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/rows"

    def start(self) -> None:
        self._server = _Server((HOST, self._port), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def away(self) -> Iterator[None]:
        self.stop()
        yield
        self.start()

    def _answer(self, request: Request) -> Answer:
        self.requests.append(request)
        answer = self.judge(request)
        if answer.status == 200:
            self.taken += request.content if isinstance(request.content, list) else [request.content]
        return answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self._take()

            def do_PUT(self) -> None:
                self._take()

            def _take(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = service._answer(Request(self.command, dict(self.headers), content))
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.text.encode())

            def log_message(self, *_: object) -> None:
                pass

        return Handler
