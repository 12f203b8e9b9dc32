"""From a frame to the handler of its API, and from the handler's answer to bytes."""

from __future__ import annotations

import importlib
import inspect
import logging
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from barnabas.wire import apis, codec
from barnabas.wire.codec import WireError
from barnabas.wire.decoding import skip_tags
from core_broker.apis.table import SERVED
from core_broker.context import RequestContext
from core_broker.metrics.requests import error_finder
from core_broker.observer import SAMPLE_EVERY, Observation

if TYPE_CHECKING:
    from core_broker.broker import Broker

logger = logging.getLogger(__name__)

API_VERSIONS_KEY = 18
HOT_KEYS = frozenset((0, 1))
"""Produce and Fetch, of which there are many in a second."""

Handler = Callable[["Broker", RequestContext, Any], Any]
Chunks = list[Any]

_header = struct.Struct(">hhih").unpack_from
HEADER_BYTES = 10
CLIENT_IDS_REMEMBERED_MAX = 10_000


class UnsupportedApi(Exception):
    """The client uses an API, or a version of one, that was not advertised. Kafka closes the connection, and so do we."""


class CloseConnection(Exception):
    """A handler's verdict that the client can only be told by hanging up: it asked for no answer (acks=0)."""


class Endpoint:
    """One version of one API: how its request is read, who handles it, how its answer is written."""

    __slots__ = (
        "decode",
        "encode",
        "find_errors",
        "flexible_request_header",
        "flexible_response_header",
        "handle",
        "is_coroutine",
        "name",
        "requests",
        "sample_every",
    )

    def __init__(self, key: int, version: int, handle: Handler) -> None:
        self.name = apis.API_NAMES[key]
        self.handle = handle
        self.is_coroutine = inspect.iscoroutinefunction(handle)
        self.decode = codec.decoder(apis.request_class(key), version)
        self.encode: Callable[[Any], Chunks] = codec.chunk_encoder(apis.response_class(key), version)
        self.flexible_request_header = apis.request_header_version(key, version) >= 2
        self.flexible_response_header = apis.response_header_version(key, version) >= 1
        # Of Produce and Fetch the handlers tell themselves: to look for what is nearly never there would cost more than the rest.
        self.find_errors = None if key in HOT_KEYS else error_finder(apis.response_class(key))
        self.requests = 0
        """Counted while somebody observes."""
        self.sample_every = SAMPLE_EVERY if key in HOT_KEYS else 1


class Call(NamedTuple):
    """A decoded request on its way to its handler."""

    endpoint: Endpoint
    key: int
    version: int
    correlation_id: int
    client_id: str | None
    request: Any
    observation: Observation | None = None

    def __str__(self) -> str:
        return (
            f"{self.endpoint.name} v{self.version} (client id {self.client_id!r}, correlation id {self.correlation_id})"
        )


class Dispatcher:
    """Knows the served APIs. Handlers and codecs are loaded when a client first uses them, so that the broker starts fast."""

    def __init__(self) -> None:
        self._endpoints: dict[tuple[int, int], Endpoint] = {}
        self._client_ids: dict[bytes, str] = {}

    def endpoints(self) -> Iterator[tuple[int, int, Endpoint]]:
        """What clients have used so far: the key, the version, and how it is served."""
        for (key, version), endpoint in self._endpoints.items():
            yield key, version, endpoint

    def call(self, frame: memoryview) -> Call:
        """Reads a frame: the header, then the body by the declaration of its version."""
        try:
            key, version, correlation_id, client_id_bytes = _header(frame)
        except struct.error:
            raise WireError(f"a frame of {len(frame)} bytes is too short for a request header") from None
        endpoint = self._endpoints.get((key, version))
        if endpoint is None:
            if key == API_VERSIONS_KEY and not SERVED[key].covers(version):
                return self._from_the_future(version, correlation_id)
            endpoint = self._load(key, version)
        position = HEADER_BYTES
        client_id: str | None = None
        if client_id_bytes >= 0:
            client_id = self._client_id(bytes(frame[position : position + client_id_bytes]))
            position += client_id_bytes
        if endpoint.flexible_request_header:
            # Nearly always the section is empty, which is one zero byte.
            if position < len(frame) and frame[position] == 0:
                position += 1
            else:
                position = _skip_header_tags(frame, position)
        try:
            request, _ = endpoint.decode(frame, position)
        except WireError as problem:
            raise WireError(
                f"{endpoint.name} v{version} (client id {client_id!r}, correlation id {correlation_id}): {problem}"
            ) from None
        return Call(endpoint, key, version, correlation_id, client_id, request)

    def _client_id(self, raw: bytes) -> str:
        known = self._client_ids.get(raw)
        if known is None:
            try:
                known = raw.decode()
            except UnicodeDecodeError:
                raise WireError(f"the client id {raw[:64]!r} is not UTF-8") from None
            if len(self._client_ids) < CLIENT_IDS_REMEMBERED_MAX:
                self._client_ids[raw] = known
        return known

    def _from_the_future(self, version: int, correlation_id: int) -> Call:
        """An ApiVersions request newer than this broker cannot be read and need not be: it is answered in the oldest form."""
        endpoint = self._endpoints.get((API_VERSIONS_KEY, 0)) or self._load(API_VERSIONS_KEY, 0)
        request = apis.request_class(API_VERSIONS_KEY)()
        return Call(endpoint, API_VERSIONS_KEY, version, correlation_id, None, request)

    def _load(self, key: int, version: int) -> Endpoint:
        served = SERVED.get(key)
        if served is None:
            raise UnsupportedApi(f"API key {key} (v{version}) is not served by this broker; ApiVersions lists what is")
        name = apis.API_NAMES[key]
        if not served.covers(version):
            raise UnsupportedApi(
                f"{name} v{version} is outside the versions {served.min_version} to {served.max_version}"
            )
        if version < apis.known_versions(key).low:
            raise UnsupportedApi(f"{name} v{version} carries a message format that Kafka dropped; upgrade the client")
        handle: Handler = importlib.import_module(served.module).handle
        endpoint = self._endpoints[key, version] = Endpoint(key, version, handle)
        return endpoint


def _skip_header_tags(frame: memoryview, position: int) -> int:
    try:
        return skip_tags(frame, position)
    except IndexError:
        raise WireError(f"a frame of {len(frame)} bytes ends inside its request header") from None
