"""A broker on a real socket that answers as a test tells it to: for what a well-behaved broker cannot be made to do."""

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from barnabas.wire.apis import request_class, response_header_version
from barnabas.wire.codec import decode, encode
from barnabas.wire.frames import decode_request_header, frame_response
from barnabas.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.struct import Message

DEADLINE_S = 90
Answer = Callable[[Any], Message | None]


class ScriptedBroker:
    """Answers each request by the function for its class; None as an answer leaves the request unanswered."""

    def __init__(self, answers: Mapping[type[Any], Answer]) -> None:
        self.requests: list[Message] = []
        self.address = ""
        self._arrived = asyncio.Condition()
        self._answers: dict[type[Message], Answer] = {
            ApiVersionsRequest: self._api_versions,
            FindCoordinatorRequest: self._find_coordinator,
            **answers,
        }
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.drop_connections()
        await self._server.wait_closed()

    def drop_connections(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def seen(self, cls: type[Message]) -> list[Any]:
        """The requests of one class, in the order in which they came."""
        return [request for request in self.requests if type(request) is cls]

    async def wait_for(self, cls: type[Message], count: int) -> None:
        """Returns when `count` requests of a class have come."""
        async with asyncio.timeout(DEADLINE_S), self._arrived:
            await self._arrived.wait_for(lambda: len(self.seen(cls)) >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
                header, position = decode_request_header(frame)
                request, end = decode(request_class(header.api_key), header.api_version, frame, position)
                assert end == len(frame)
                async with self._arrived:
                    self.requests.append(request)
                    self._arrived.notify_all()
                answer = self._answers[type(request)](request)
                if answer is None:
                    continue
                body = encode(answer, header.api_version)
                version = response_header_version(header.api_key, header.api_version)
                writer.write(frame_response(header.correlation_id, version, body))
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self._writers.discard(writer)
            writer.close()

    def _api_versions(self, request: ApiVersionsRequest) -> ApiVersionsResponse:
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=cls.API_KEY, min_version=cls.VERSIONS.low, max_version=cls.VERSIONS.high)
                for cls in self._answers
            ]
        )

    def _find_coordinator(self, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
        host, _, port = self.address.rpartition(":")
        found = Coordinator(key=request.coordinator_keys[0], node_id=1, host=host, port=int(port))
        return FindCoordinatorResponse(coordinators=[found])
