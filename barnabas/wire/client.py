"""A small asynchronous Kafka client: connect, agree on versions, send a request, get its response.

It carries what librdkafka has no call for (group membership of any protocol type) and tools that must start fast. One
`Connection` is one socket to one broker; `Client` knows some brokers to begin with and finds coordinators.
"""

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from barnabas.wire.apis import API_NAMES, response_header_version
from barnabas.wire.codec import decode
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.fields import Versions
from barnabas.wire.frames import LENGTH_PREFIX_BYTES, decode_response_header, encode_request, frame_length
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.struct import Message
from barnabas.wire.wire_error import WireError

DEFAULT_CLIENT_ID: Final = "barnabas"
CONNECT_TIMEOUT_MS: Final = 10_000
REQUEST_TIMEOUT_MS: Final = 30_000
RESPONSE_MAX_BYTES: Final = 128 * 1024 * 1024
GROUP_COORDINATOR: Final = 0
TRANSACTION_COORDINATOR: Final = 1

_SOFTWARE_NAME: Final = "barnabas-wire"
_SOFTWARE_VERSION: Final = "1"
_BATCHED_COORDINATORS_VERSION: Final = 4
_ERROR_NUMBER: Final = re.compile(r"\[Errno (\d+)\]")
_MAX_CORRELATION_ID: Final = 0x7FFFFFFF

R = TypeVar("R", bound=Message)


def parse_address(text: str) -> tuple[str, int]:
    """`host:port`, `[v6 address]:port` or a bare host, which gets Kafka's own port."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text.strip(), "9092"
    if not host or "/" in host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"{text!r} is not a broker address; write host:port, as in 127.0.0.1:9092")
    return host.strip("[]"), int(port)


class Connection:
    """One socket. Requests may be sent while others wait: responses are matched by correlation id."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str, client_id: str | None
    ) -> None:
        self.address = address
        self.versions: Mapping[int, Versions] = {}
        self._reader = reader
        self._writer = writer
        self._client_id = client_id
        self._correlation_id = 0
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._failure: KafkaError | None = None
        self._receiving = asyncio.create_task(self._receive(), name=f"receive from {address}")

    @classmethod
    async def open(
        cls,
        address: str,
        *,
        client_id: str | None = DEFAULT_CLIENT_ID,
        tls: ssl.SSLContext | None = None,
        timeout_ms: int = CONNECT_TIMEOUT_MS,
    ) -> "Connection":
        """Connects to `host:port` and asks the broker which versions it serves."""
        host, port = parse_address(address)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                reader, writer = await asyncio.open_connection(host, port, ssl=tls)
        except TimeoutError:
            raise KafkaError(
                ErrorCode.NETWORK_EXCEPTION, f"no connection to {address} within {timeout_ms} ms; is the port open?"
            ) from None
        except OSError as error:
            raise KafkaError(
                ErrorCode.NETWORK_EXCEPTION, f"cannot connect to {address}: {_reason(error)}; is the broker running?"
            ) from error
        connection = cls(reader, writer, address, client_id)
        try:
            await connection._negotiate(timeout_ms)
        except BaseException:
            await connection.close()
            raise
        return connection

    @property
    def is_open(self) -> bool:
        return self._failure is None

    def version_of(self, request: type[Message]) -> int:
        """The highest version that both sides know; KafkaError when there is none."""
        served = self.versions.get(request.API_KEY)
        name = API_NAMES.get(request.API_KEY, request.__name__)
        if served is None:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"{self.address} does not serve {name}")
        version = min(served.high, request.VERSIONS.high)
        if version < max(served.low, request.VERSIONS.low):
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"{self.address} serves {name} {served}, this client knows {request.VERSIONS}: no version in common",
            )
        return version

    async def send(
        self,
        request: Message,
        response: type[R],
        *,
        version: int | None = None,
        timeout_ms: int = REQUEST_TIMEOUT_MS,
    ) -> R:
        """Sends `request` in `version` (the highest common one unless given) and returns its response."""
        if version is None:
            version = self.version_of(type(request))
        body = await self._exchange(request, version, timeout_ms)
        message, _ = decode(response, version, body)
        return message

    async def send_without_response(self, request: Message, *, version: int | None = None) -> None:
        """Sends a request that the broker does not answer: a Produce with acks=0."""
        self._write(request, self.version_of(type(request)) if version is None else version)
        await self._writer.drain()

    async def close(self) -> None:
        self._fail(KafkaError(ErrorCode.NETWORK_EXCEPTION, f"the connection to {self.address} was closed by us"))
        self._receiving.cancel()
        await asyncio.gather(self._receiving, return_exceptions=True)
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return  # the peer was faster

    async def _negotiate(self, timeout_ms: int) -> None:
        request = ApiVersionsRequest(client_software_name=_SOFTWARE_NAME, client_software_version=_SOFTWARE_VERSION)
        version = ApiVersionsRequest.VERSIONS.high
        body = await self._exchange(request, version, timeout_ms)
        if int.from_bytes(body[:2], "big", signed=True) == ErrorCode.UNSUPPORTED_VERSION:
            # An older broker: it answers in version 0 and says which versions it has.
            refusal, _ = decode(ApiVersionsResponse, 0, body)
            ranges = _ranges(refusal)
            version = min(version, ranges[request.API_KEY].high) if request.API_KEY in ranges else 0
            body = await self._exchange(request, version, timeout_ms)
        answer, _ = decode(ApiVersionsResponse, version, body)
        if answer.error_code:
            raise KafkaError(ErrorCode(answer.error_code), f"{self.address} refused ApiVersions {version}")
        self.versions = _ranges(answer)

    async def _exchange(self, request: Message, version: int, timeout_ms: int) -> memoryview:
        """Sends, waits, and returns the response without its header."""
        correlation_id = self._write(request, version)
        future = self._waiting[correlation_id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._writer.drain()
                frame = await future
        except TimeoutError:
            name = type(request).__name__
            raise KafkaError(
                ErrorCode.REQUEST_TIMED_OUT, f"no answer to {name} v{version} from {self.address} in {timeout_ms} ms"
            ) from None
        except OSError as error:
            raise self._fail(_lost(self.address, error)) from error
        finally:
            self._waiting.pop(correlation_id, None)
        _, position = decode_response_header(frame, 0, response_header_version(request.API_KEY, version))
        return memoryview(frame)[position:]

    def _write(self, request: Message, version: int) -> int:
        if self._failure is not None:
            raise self._failure
        self._correlation_id = correlation_id = (self._correlation_id + 1) & _MAX_CORRELATION_ID
        self._writer.write(encode_request(request, version, correlation_id, self._client_id))
        return correlation_id

    async def _receive(self) -> None:
        try:
            while True:
                prefix = await self._reader.readexactly(LENGTH_PREFIX_BYTES)
                frame = await self._reader.readexactly(frame_length(prefix, 0, RESPONSE_MAX_BYTES))
                correlation_id, _ = decode_response_header(frame, 0, 0)
                future = self._waiting.get(correlation_id)
                if future is not None and not future.done():
                    future.set_result(frame)
        except (OSError, EOFError, WireError) as error:
            self._fail(_lost(self.address, error))
            self._writer.close()

    def _fail(self, failure: KafkaError) -> KafkaError:
        """Ends every wait with `failure`; the first failure stays."""
        if self._failure is None:
            self._failure = failure
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(self._failure)
        return self._failure


class Client:
    """Some brokers to begin with, and the way from them to coordinators."""

    def __init__(
        self,
        bootstrap: str | Sequence[str],
        *,
        client_id: str | None = DEFAULT_CLIENT_ID,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        addresses = bootstrap.split(",") if isinstance(bootstrap, str) else bootstrap
        self._bootstrap = [address.strip() for address in addresses if address.strip()]
        if not self._bootstrap:
            raise ValueError("no bootstrap servers; give at least one host:port")
        self._client_id = client_id
        self._tls = tls
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def connection(self) -> Connection:
        """A connection to any of the bootstrap servers, the same one as long as it lives."""
        async with self._connecting:
            if self._connection is None or not self._connection.is_open:
                self._connection = await self._open_any()
            return self._connection

    async def connect(self, address: str) -> Connection:
        """A new connection to one broker; the caller closes it."""
        return await Connection.open(address, client_id=self._client_id, tls=self._tls)

    async def send(self, request: Message, response: type[R], **options: Any) -> R:
        """As `Connection.send`, to any of the bootstrap servers."""
        connection = await self.connection()
        return await connection.send(request, response, **options)

    async def find_coordinator(self, key: str, key_type: int = GROUP_COORDINATOR) -> str:
        """The address of the broker that coordinates a group (or a transactional id)."""
        connection = await self.connection()
        version = connection.version_of(FindCoordinatorRequest)
        if version >= _BATCHED_COORDINATORS_VERSION:
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
            answer = await connection.send(request, FindCoordinatorResponse, version=version)
            found = answer.coordinators[0]
            code, message, host, port = found.error_code, found.error_message, found.host, found.port
        else:
            request = FindCoordinatorRequest(key=key, key_type=key_type)
            answer = await connection.send(request, FindCoordinatorResponse, version=version)
            code, message, host, port = answer.error_code, answer.error_message, answer.host, answer.port
        if code:
            raise KafkaError(ErrorCode(code), message or f"no coordinator for {key!r}: {ErrorCode(code).message}")
        return f"{host}:{port}"

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _open_any(self) -> Connection:
        failures = []
        for address in self._bootstrap:
            try:
                return await self.connect(address)
            except KafkaError as error:
                failures.append(error.message)
        raise KafkaError(ErrorCode.NETWORK_EXCEPTION, "; ".join(failures))


def _ranges(response: ApiVersionsResponse) -> dict[int, Versions]:
    return {api.api_key: Versions(api.min_version, api.max_version) for api in response.api_keys}


def _reason(error: OSError) -> str:
    """Why a connection could not be opened, in the system's words alone."""
    if isinstance(error, (socket.gaierror, ssl.SSLError)):
        return error.strerror or str(error)
    # For several addresses of a name asyncio joins the texts of their errors, and the joined one has no number.
    numbers = [error.errno] if error.errno else [int(number) for number in _ERROR_NUMBER.findall(str(error))]
    return ", ".join(dict.fromkeys(os.strerror(number) for number in numbers)) or str(error) or type(error).__name__


def _lost(address: str, error: Exception) -> KafkaError:
    if isinstance(error, asyncio.IncompleteReadError):
        reason = "closed by the broker; its log says why (a wrong security protocol looks like this, too)"
    else:
        reason = str(error) or type(error).__name__
    return KafkaError(ErrorCode.NETWORK_EXCEPTION, f"connection to {address} lost: {reason}")
