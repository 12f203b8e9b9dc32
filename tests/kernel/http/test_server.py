"""The server on real sockets: clients that are odd, slow, gone or many, and its end."""

from __future__ import annotations

import asyncio
import resource
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.listeners import Listener
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.server import CONNECTIONS_MAX, DESCRIPTORS_KEPT, HEADERS_MAX_BYTES, Server, connections_max
from barnabas.kernel.http.tls import TlsFiles
from barnabas.kernel.setting_errors import SettingError
from tests.kernel.http.service import HOST, Service, read_answers, read_to_end, route
from tests.waiting import wait_for

LARGE_BYTES = 16 * 1024 * 1024
CHUNK_BYTES = 64 * 1024


class Duplex(Response):
    """Sends each piece of the request back as soon as it is there."""

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        more = True
        while more:
            message = await receive()
            more = message["more_body"]
            await send({"type": "http.response.body", "body": message["body"], "more_body": more})


class Handlers:
    """What they saw, for tests to look at; and a gate at which requests wait."""

    def __init__(self) -> None:
        self.gone: list[str] = []
        self.waiting = 0
        self.sent_chunks = 0
        self.gate = asyncio.Event()

    async def name(self, request: Request) -> Response:
        return json_answer(request.path_value("name"))

    async def length(self, request: Request) -> Response:
        try:
            return json_answer(len(await request.body()))
        except ClientDisconnect:
            self.gone.append(request.id)
            raise

    async def wait(self, request: Request) -> Response:
        self.waiting += 1
        await self.gate.wait()
        return json_answer(request.path_value("number"))

    async def open_gate(self) -> None:
        self.gate.set()

    async def large(self, _request: Request) -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(LARGE_BYTES // CHUNK_BYTES):
                self.sent_chunks += 1
                yield b"x" * CHUNK_BYTES

        return StreamingResponse(chunks())

    async def duplex(self, _request: Request) -> Response:
        return Duplex()

    def routes(self) -> list[Route]:
        return [
            route("GET", "/name/{name}", self.name),
            route("POST", "/length", self.length),
            route("GET", "/wait/{number}", self.wait),
            route("GET", "/large", self.large),
            route("POST", "/duplex", self.duplex),
        ]


@pytest.fixture
def handlers() -> Handlers:
    return Handlers()


@pytest.fixture
def service(handlers: Handlers) -> Iterator[Service]:
    with Service(handlers.routes()) as running:
        yield running


def get(path: bytes, *headers: bytes) -> bytes:
    return b"".join([b"GET ", path, b" HTTP/1.1\r\nHost: a\r\n", *(header + b"\r\n" for header in headers), b"\r\n"])


CLOSE = b"Connection: close"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (b"/name/a%2Fb", b'"a/b"'),
        (b"/name/..", b'".."'),
        (b"/name/%2e%2e%2f", b'"../"'),
        (b"/name/caf\xc3\xa9", '"café"'.encode()),
        (b"/name/a:b;c=1,d", b'"a:b;c=1,d"'),
        (b"http://elsewhere/name/a%25b", b'"a%b"'),
        (b"/name/a\\b", b'"a\\\\b"'),
    ],
)
def test_odd_paths_arrive_as_they_were_sent(service: Service, path: bytes, name: bytes) -> None:
    answer = service.raw(get(path, CLOSE))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n" + name)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (get(b"/name/%zz", CLOSE), b"400"),
        (get(b"/name/\xff", CLOSE), b"400"),
        (get(b"*", CLOSE), b"404"),
        (get(b"/name/a b", CLOSE), b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS on a plain port\r\n\r\n", b"400"),
        (get(b"/name/a", b"X: " + b"x" * HEADERS_MAX_BYTES), b"431"),
        (get(b"/" + b"x" * (HEADERS_MAX_BYTES - 1)), b"431"),
        (get(b"/name/a", *[b"X: x"] * 200), b"431"),
        (b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
    ],
)
def test_what_is_no_request_is_refused(service: Service, data: bytes, status: bytes) -> None:
    assert service.raw(data).startswith(b"HTTP/1.1 " + status)
    assert service.ask("GET", "/name/next").status == 200


def test_requests_on_one_connection_are_answered_in_order(service: Service) -> None:
    with service.connect() as connection:
        connection.sendall(b"".join(get(b"/name/%d" % number) for number in range(50)))
        assert read_answers(connection, 50) == [b'"%d"' % number for number in range(50)]


def test_a_request_may_arrive_byte_by_byte(service: Service) -> None:
    with service.connect() as connection:
        for byte in b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc":
            connection.sendall(bytes([byte]))
        assert read_answers(connection, 1) == [b"3"]


def test_a_chunked_body_is_read(service: Service) -> None:
    with service.connect() as connection:
        connection.sendall(b"POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
        assert read_answers(connection, 1) == [b"7"]


def test_a_client_that_leaves_in_the_middle_of_its_body_is_noticed(service: Service, handlers: Handlers) -> None:
    with service.connect() as connection:
        connection.sendall(b"POST /length HTTP/1.1\r\nHost: a\r\nX-Request-ID: left\r\nContent-Length: 9\r\n\r\nabc")
    wait_for(lambda: handlers.gone == ["left"], "the handler to notice")
    wait_for(lambda: service.metrics.in_flight == 0, "the request to end")


def test_a_client_that_leaves_before_its_answer_does_no_harm(service: Service, handlers: Handlers) -> None:
    with service.connect() as connection:
        connection.sendall(get(b"/wait/1"))
        wait_for(lambda: handlers.waiting == 1, "the request to arrive")
    service.call(handlers.open_gate())
    wait_for(lambda: service.metrics.in_flight == 0, "the request to end")
    assert service.ask("GET", "/name/next").status == 200


def test_a_slow_reader_holds_up_its_own_answer_and_no_other(service: Service, handlers: Handlers) -> None:
    with service.connect() as connection:
        connection.sendall(get(b"/large", CLOSE))
        assert connection.recv(1) == b"H"
        assert service.ask("GET", "/name/other").status == 200
        assert handlers.sent_chunks < LARGE_BYTES // CHUNK_BYTES
        assert len(read_to_end(connection)) > LARGE_BYTES


def test_an_answer_may_begin_before_the_request_has_ended(service: Service) -> None:
    with service.connect() as connection:
        connection.sendall(
            b"POST /duplex HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(b"5\r\nfirst\r\n")
        seen = b""
        while not seen.endswith(b"5\r\nfirst\r\n"):
            seen += connection.recv(1)
        connection.sendall(b"6\r\nsecond\r\n0\r\n\r\n")
        assert read_to_end(connection) == b"6\r\nsecond\r\n0\r\n\r\n"


def test_stopping_lets_requests_under_way_finish(service: Service, handlers: Handlers) -> None:
    count = 20
    with ThreadPoolExecutor(count + 1) as clients, service.connect() as idle:
        idle.sendall(get(b"/name/first"))
        assert read_answers(idle, 1) == [b'"first"']
        asked = [clients.submit(service.ask, "GET", f"/wait/{number}") for number in range(count)]
        wait_for(lambda: handlers.waiting == count, "all requests to arrive")
        stopping = clients.submit(service.stop)
        assert read_to_end(idle) == b""
        wait_for(lambda: refuses_connections(service.port), "the listener to close")
        assert not stopping.done()
        service.call(handlers.open_gate())
        assert [each.result().json for each in asked] == [str(number) for number in range(count)]
        stopping.result()
    assert not service.failed.is_set()


def test_stopping_under_load_breaks_no_answer(service: Service) -> None:
    """Whoever was heard is answered in full; who was not sees the connection closed or refused, never half an answer."""
    answered = threading.Semaphore(0)

    def ask_until_the_end() -> int:
        count = 0
        while True:
            try:
                with service.connect() as connection:
                    connection.sendall(get(b"/name/x", CLOSE))
                    answer = read_to_end(connection)
            except ConnectionError:
                return count
            assert answer == b"" or answer.endswith(b'\r\n\r\n"x"')
            if not answer:
                return count
            count += 1
            answered.release()

    with ThreadPoolExecutor(4) as clients:
        loops = [clients.submit(ask_until_the_end) for _ in range(4)]
        for _ in range(40):
            assert answered.acquire(timeout=90)
        service.stop()
        assert sum(each.result() for each in loops) >= 40


def test_stopping_waits_no_longer_than_its_deadline(service: Service, handlers: Handlers) -> None:
    with service.connect() as connection:
        connection.sendall(get(b"/wait/1"))
        wait_for(lambda: handlers.waiting == 1, "the request to arrive")
        service.stop(deadline_s=0.05)
        assert refuses_connections(service.port)
        assert connection.recv(4096).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize(
    ("allowed", "connections"),
    [(CONNECTIONS_MAX + DESCRIPTORS_KEPT + 1, CONNECTIONS_MAX), (1024, 1024 - DESCRIPTORS_KEPT), (DESCRIPTORS_KEPT, 1)],
)
def test_connections_leave_descriptors_for_everything_else(allowed: int, connections: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and allowed > hard:
        pytest.skip(f"this machine allows {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    try:
        assert connections_max() == connections
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_port_that_is_taken_leaves_nothing_bound() -> None:
    with Listener("http", HOST, 0).bind() as taken:
        server = Server(no_app, [Listener("http", HOST, 0), Listener("http", HOST, taken.getsockname()[1])])
        with pytest.raises(OSError, match="another program"):
            server.bind()
        assert server.addresses == []


def test_http_2_is_understood_from_the_first_byte(service: Service) -> None:
    curl = shutil.which("curl")
    if curl is None or b"HTTP2" not in subprocess.run([curl, "--version"], capture_output=True, check=True).stdout:
        pytest.skip("curl is not installed, or speaks no HTTP/2")
    command = [curl, "-s", "-i", "--http2-prior-knowledge", f"http://{HOST}:{service.port}/name/a%2Fb"]
    answer = subprocess.run(command, capture_output=True, timeout=90, check=True).stdout
    assert answer.startswith(b"HTTP/2 200")
    assert answer.endswith(b'\r\n\r\n"a/b"')


@pytest.fixture(scope="module")
def tls_files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    files = TlsFiles(folder / "certificate.pem", folder / "key.pem")
    subject = ["-subj", "/CN=localhost", "-addext", f"subjectAltName=DNS:localhost,IP:{HOST}"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command = [openssl, "req", *kind, *subject, "-keyout", str(files.key), "-out", str(files.certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return files


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_https_is_served_with_the_files(handlers: Handlers, tls_files: TlsFiles, version: ssl.TLSVersion) -> None:
    context = ssl.create_default_context(cafile=tls_files.certificate)
    context.minimum_version = context.maximum_version = version
    with (
        Service(handlers.routes(), listener=Listener("https", HOST, 0), tls=tls_files) as service,
        context.wrap_socket(service.connect(), server_hostname="localhost") as connection,
    ):
        connection.sendall(get(b"/name/a"))
        assert read_answers(connection, 1) == [b'"a"']


def test_files_that_cannot_be_used_are_named(tls_files: TlsFiles, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"ssl\.key=.*there is no such file"):
        Server(no_app, [], TlsFiles(tls_files.certificate, tmp_path / "none"))
    with pytest.raises(SettingError, match=r"ssl\.certificate=.*cannot be used with the key"):
        Server(no_app, [], TlsFiles(tls_files.key, tls_files.certificate))


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_ipv6_is_served(handlers: Handlers) -> None:
    with (
        Service(handlers.routes(), listener=Listener("http", "::1", 0)) as service,
        socket.create_connection(("::1", service.port)) as connection,
    ):
        connection.sendall(get(b"/name/six"))
        assert read_answers(connection, 1) == [b'"six"']


async def no_app(*_: object) -> None:
    raise AssertionError


def refuses_connections(port: int) -> bool:
    try:
        socket.create_connection((HOST, port)).close()
    except ConnectionRefusedError:
        return True
    return False
