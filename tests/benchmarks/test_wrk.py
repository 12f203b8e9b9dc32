from __future__ import annotations

import http.server
import json
import shutil
import threading
from collections.abc import Iterator

import pytest

from benchmarks import wrk
from benchmarks.connection import HOST
from benchmarks.job import LoadFailed
from benchmarks.wrk import NUMBER, Request

CONTENT_TYPE = "application/json"
SUMMARY = """\
Running 2s test @ http://127.0.0.1:8081/
  1 threads and 32 connections
  Latency Distribution
     50%  853.00us
     75%    2.13ms
     90%  180.14ms
     99%    1.02s{blank}
  5980 requests in 2.01s, 100.71KB read
{more}Requests/sec:   2975.12
Transfer/sec:     50.18KB
"""


def test_the_summary_gives_the_rate_and_the_latencies_in_milliseconds() -> None:
    found = wrk.parse(SUMMARY.format(blank=" ", more=""))
    assert found == {"requests": 5980, "requests_s": 2975.12, "p50_ms": pytest.approx(0.853), "p99_ms": 1020}


@pytest.mark.parametrize(
    ("summary", "reason"),
    [
        (SUMMARY.format(blank=" ", more="  Non-2xx or 3xx responses: 7\n"), "7 of 5980 answers were errors"),
        (SUMMARY.format(blank=" ", more="  Socket errors: connect 0, read 0, write 0, timeout 3\n"), "timeout 3"),
        (SUMMARY.format(blank=" ", more="").replace("5980", "0"), "no answer"),
        ("unable to connect to 127.0.0.1:8081 Connection refused\n", "Connection refused"),
    ],
)
def test_a_load_with_a_flaw_has_failed(summary: str, reason: str) -> None:
    with pytest.raises(LoadFailed, match=reason):
        wrk.parse(summary)


class Listener(http.server.BaseHTTPRequestHandler):
    """Remembers what was asked, and answers that all is well."""

    protocol_version = "HTTP/1.1"
    asked: list[tuple[str, str, str]]

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing on standard error."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.asked.append((self.command, self.path, body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def listener() -> Iterator[tuple[int, list[tuple[str, str, str]]]]:
    """A server's port, and the list of what it was asked."""
    asked: list[tuple[str, str, str]] = []
    kind = type("Remembering", (Listener,), {"asked": asked})
    with http.server.ThreadingHTTPServer((HOST, 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, asked
        server.shutdown()
        thread.join()


@pytest.mark.skipif(shutil.which(wrk.PROGRAM) is None, reason="wrk is not installed")
def test_a_counted_load_sends_every_number_and_ends(listener: tuple[int, list[tuple[str, str, str]]]) -> None:
    port, asked = listener
    text = json.dumps({"schema": f'"a \\ and {NUMBER}"'})
    script = wrk.numbered(Request(f"/subjects/{NUMBER}/versions", text), CONTENT_TYPE, 40)
    assert wrk.run_counted(port, script, 2)["requests"] >= 40
    first = {(path, body) for _, path, body in asked}
    assert first == {(f"/subjects/{n}/versions", text.replace(NUMBER, str(n))) for n in range(1, 41)}


@pytest.mark.skipif(shutil.which(wrk.PROGRAM) is None, reason="wrk is not installed")
def test_requests_are_sent_in_turn(listener: tuple[int, list[tuple[str, str, str]]]) -> None:
    port, asked = listener
    requests = [Request("/a"), Request("/b", '{"schema": "\\"string\\""}'), Request("/c")]
    wrk.run(port, wrk.in_turn(requests, CONTENT_TYPE), 1, 1)
    post = ("POST", "/b", requests[1].body)
    assert asked[:4] == [post, ("GET", "/c", ""), ("GET", "/a", ""), post]
