"""One client's connection: frames in, answers out, in order."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections import deque
from collections.abc import Coroutine
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from barnabas.wire.codec import WireError
from core_broker.context import ConnectionMembers, Listener, RequestContext
from core_broker.deferred import CLOSE, Deferred
from core_broker.dispatch import Call, CloseConnection, UnsupportedApi
from core_broker.observer import Observation, Observer, timed
from core_broker.receive_buffer import FrameError, ReceiveBuffer
from core_broker.request_log import TROUBLE, request_fields
from core_broker.security.principal import ANONYMOUS
from core_broker.send_queue import Piece, SendQueue

if TYPE_CHECKING:
    from core_broker.server import Server

logger = logging.getLogger(__name__)

OVERLAPPED_REQUESTS_MAX = 16
"""How many requests of one connection may wait for their answer at a time. Kafka's clients keep at most five in flight."""

ANSWERS_TOGETHER_MAX_BYTES = 64 * 1024
"""With more than this the answers of one turn are sent before the next request is looked at."""

_prefix = struct.Struct(">ii").pack
_flexible_prefix = struct.Struct(">iib").pack
CORRELATION_ID_BYTES = 4


class Connection(asyncio.BufferedProtocol):
    """Parses requests in place, hands one at a time to its handler and writes the answers in the order of the requests.

    A handler that waits keeps the next request waiting too, unless it says (`Deferred.release`) that the rest of its work
    cannot be overtaken: then requests overlap, for instance in a commit round, and only the answers queue.
    """

    def __init__(self, server: Server, listener: Listener) -> None:
        self._server = server
        self._log = server.request_log
        self.listener = listener
        self.principal = ANONYMOUS
        self._buffer = ReceiveBuffer(server.frame_max_bytes)
        self._transport: asyncio.Transport | None = None
        self._sending: SendQueue | None = None
        self._busy = False
        self._closing = False
        self._processing = False
        self._reading = True
        self._muted: asyncio.TimerHandle | None = None
        self._exchanges: deque[Exchange] = deque()
        self._unsent: list[Piece] = []
        self._unsent_bytes = 0
        self.host = ""
        self.port = 0
        self.last_active = server.loop.time()
        self._members = ConnectionMembers()

    def __str__(self) -> str:
        return f"{self.host}:{self.port} on listener {self.listener.name}"

    # The transport's calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transports do not inherit from asyncio's
        peer = transport.get_extra_info("peername")
        self.host, self.port = (peer[0], peer[1]) if peer else ("", 0)
        sock = transport.get_extra_info("socket")
        self._server.tune(sock)
        self._sending = SendQueue(self._server.loop, sock.fileno(), self._sent, self._transport.abort)
        delay_ms = self._server.rate_limited(self, self.listener)
        if delay_ms is None:
            return
        refusal = self._server.admit(self)
        if refusal is not None:
            logger.warning("connection from %s refused: %s", self, refusal)
            self.close()
        elif delay_ms > 0:
            self.mute(delay_ms)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer.room()

    def buffer_updated(self, nbytes: int) -> None:
        self.last_active = self._server.loop.time()
        self._buffer.received(nbytes)
        if self._busy:
            self._adjust_reading()
        else:
            self.process()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        self._transport = None
        if self._muted is not None:
            self._muted.cancel()
        self._server.forget(self)
        for exchange in self._exchanges:
            if exchange.deferred is not None and exchange.deferred.abandon is not None:
                exchange.deferred.abandon()
        self._exchanges.clear()
        if self._sending is not None:
            self._sending.close()

    # The broker's calls.

    def close(self) -> None:
        """Ends the connection after what was already answered has been sent."""
        self._closing = True
        if self._unsent:
            self._send()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Ends the connection at once: its client has not taken what it was sent."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    def turn_away(self, delay_ms: int) -> None:
        """Ends the connection after a while, and looks at nothing that arrives meanwhile: its client need not hurry to come back."""
        self._closing = True
        if self._transport is not None:
            self._transport.pause_reading()
            self._server.loop.call_later(delay_ms / 1000, self.abort)

    def mute(self, pause_ms: int) -> None:
        """Looks at no request for a while; answers still go out. Of two pauses the one that ends later counts."""
        loop = self._server.loop
        until = loop.time() + pause_ms / 1000
        if self._muted is not None:
            if self._muted.when() >= until:
                return
            self._muted.cancel()
        self._muted = loop.call_at(until, self._unmute)

    def _unmute(self) -> None:
        self._muted = None
        if not self._busy and not self._closing:
            self.process()

    def idle_since(self) -> float | None:
        """When the client last said something, or None while one of its requests is being served."""
        return None if self._busy or self._exchanges else self.last_active

    def trim(self) -> None:
        self._buffer.trim()

    # Requests.

    def process(self) -> None:
        """Serves the requests that have arrived, until one has to wait."""
        if self._processing:
            return
        self._processing = True
        next_frame = self._buffer.next_frame
        try:
            while not self._stuck():
                frame = next_frame()
                if frame is None:
                    self._buffer.rewind()
                    break
                self._serve(frame)
        except (FrameError, WireError, UnsupportedApi) as problem:
            logger.warning("connection from %s closed: %s", self, problem)
            self.close()
        finally:
            self._processing = False
        if self._unsent:
            self._send()
        if not self._reading or self._stuck():
            self._adjust_reading()

    def _stuck(self) -> bool:
        return (
            self._busy
            or self._closing
            or self._muted is not None
            or len(self._exchanges) >= OVERLAPPED_REQUESTS_MAX
            or (self._sending is not None and self._sending.blocked)
        )

    def _serve(self, frame: memoryview) -> None:
        observer = self._server.observer
        started_s = perf_counter()
        call = self._server.dispatcher.call(frame)
        context = RequestContext(
            call.key,
            call.version,
            call.correlation_id,
            call.client_id,
            self.principal,
            self.listener,
            self.host,
            self.port,
            members=self._members,
        )
        if observer is not None:
            number = call.endpoint.requests
            call.endpoint.requests = number + 1
            if observer.quotas.active or not number % call.endpoint.sample_every:
                call = self._observe(observer, call, context, len(frame), started_s)
        try:
            result = call.endpoint.handle(self._server.broker, context, call.request)
        except CloseConnection as reason:
            extra = request_fields(call, self)
            logger.warning("connection from %s closed: %s: %s", self, call, reason, extra=extra)
            self.close()
        except Exception:
            logger.exception(
                "%s from %s failed; the connection is closed", call, self, extra=request_fields(call, self)
            )
            self.close()
        else:
            if call.observation is not None:
                call.observation.handled()
            if call.endpoint.is_coroutine:
                self._run(call, started_s, result)
            elif type(result) is Deferred:
                self._wait(call, started_s, result)
            elif result is None:
                self._unanswered(call, started_s)
            elif not self._exchanges:
                self._write(call, started_s, result)
            else:
                self._exchanges.append(Exchange(self, call, started_s, None, result))

    def _observe(
        self, observer: Observer, call: Call, context: RequestContext, size_bytes: int, started_s: float
    ) -> Call:
        observation = observer.begin(context, call.request, size_bytes, started_s)
        # How long the request lay in the buffer, as exactly as the loop's clock tells.
        waited_s = self._server.loop.time() - self.last_active - (perf_counter() - started_s)
        observation.arrived_s -= max(0.0, waited_s)
        context.observation = observation
        if observation.throttle_ms > 0:
            self.mute(observation.throttle_ms)
        return Call(*call[:-1], observation)

    def _run(self, call: Call, started_s: float, handler: Coroutine[Any, Any, Any]) -> None:
        """A handler written as a coroutine: the way of APIs that are not hot."""
        deferred: Deferred[Any] = Deferred()
        self._wait(call, started_s, deferred)
        if call.observation is not None:
            handler = _awaiting(handler, call.observation)
        task = self._server.loop.create_task(handler)
        self._server.tasks.add(task)

        def finished(task: asyncio.Task[Any]) -> None:
            self._server.tasks.discard(task)
            problem = None if task.cancelled() else task.exception()
            if problem is not None:
                extra = request_fields(call, self)
                logger.error("%s from %s failed; the connection is closed", call, self, exc_info=problem, extra=extra)
            if task.cancelled() or problem is not None:
                self.close()
            else:
                deferred.resolve(task.result())

        task.add_done_callback(finished)

    def _wait(self, call: Call, started_s: float, deferred: Deferred[Any]) -> None:
        exchange = Exchange(self, call, started_s, deferred)
        self._exchanges.append(exchange)
        self._busy = True
        self._buffer.hold()
        deferred.subscribe(exchange)

    def go_on(self) -> None:
        """The request under way no longer keeps the next one waiting."""
        self._busy = False
        self._buffer.release()
        self.process()

    # Answers.

    def flush(self) -> None:
        """Writes the answers whose turn it is."""
        exchanges = self._exchanges
        while exchanges and exchanges[0].answered:
            exchange = exchanges.popleft()
            if exchange.response is CLOSE:
                self.close()
            elif exchange.response is not None:
                self._write(exchange.call, exchange.started_s, exchange.response)
            else:
                self._unanswered(exchange.call, exchange.started_s)
        if not self._busy:
            self.process()

    def _unanswered(self, call: Call, started_s: float) -> None:
        """A request that wants no answer is done."""
        if call.observation is not None:
            call.observation.end(None)
        seconds = perf_counter() - started_s
        if seconds >= self._log.tell_after_s:
            self._log.tell(self, call, None, seconds)

    def _write(self, call: Call, started_s: float, response: Any) -> None:
        if self._transport is None:
            return
        endpoint = call.endpoint
        if call.observation is not None:
            self._tell_pause(call.observation, response)
        try:
            chunks = endpoint.encode(response)
        except WireError:
            extra = request_fields(call, self)
            logger.exception("the answer to %s from %s cannot be encoded; it is closed", call, self, extra=extra)
            self.close()
            return
        size = CORRELATION_ID_BYTES + (len(chunks[0]) if len(chunks) == 1 else sum(map(len, chunks)))
        if endpoint.flexible_response_header:
            size += 1
            prefix = _flexible_prefix(size, call.correlation_id, 0)
        else:
            prefix = _prefix(size, call.correlation_id)
        self._unsent.append(prefix)
        self._unsent.extend(chunks)
        self._unsent_bytes += size
        if not self._processing or self._unsent_bytes > ANSWERS_TOGETHER_MAX_BYTES:
            self._send()
        if call.observation is not None:
            call.observation.end(response)
        seconds = perf_counter() - started_s
        if seconds >= self._log.tell_after_s:
            self._log.tell(self, call, response, seconds)
        if endpoint.find_errors is not None and not TROUBLE.isdisjoint(endpoint.find_errors(response)):
            self._log.tell_trouble(self, call, response, seconds)

    def _tell_pause(self, observation: Observation, response: Any) -> None:
        pause_ms = observation.answer(response)
        if pause_ms > 0:
            self.mute(pause_ms)

    def _send(self) -> None:
        """Hands over the answers of one turn together: a client that sends many requests at once gets one packet back."""
        unsent, self._unsent = self._unsent, []
        size_bytes, self._unsent_bytes = self._unsent_bytes, 0
        if self._sending is not None:
            self._sending.send(unsent, size_bytes)

    def _sent(self) -> None:
        """A client that was too slow has caught up."""
        if not self._busy:
            self.process()

    def _adjust_reading(self) -> None:
        """Stops reading while a whole request waits that cannot be served yet: so what is buffered stays bounded."""
        transport = self._transport
        if transport is None or self._closing:
            return
        reading = not (self._stuck() and self._buffer.has_frame())
        if reading != self._reading:
            self._reading = reading
            if reading:
                transport.resume_reading()
            else:
                transport.pause_reading()


class Exchange:
    """A request that could not be answered at once, in its place in the queue of answers."""

    __slots__ = ("_connection", "_holds", "answered", "call", "deferred", "response", "started_s")

    def __init__(
        self,
        connection: Connection,
        call: Call,
        started_s: float,
        deferred: Deferred[Any] | None,
        response: Any = None,
    ) -> None:
        self._connection = connection
        self._holds = deferred is not None
        self.call = call
        self.started_s = started_s
        self.deferred = deferred
        self.response = response
        self.answered = response is not None

    def released(self) -> None:
        if self._holds:
            self._holds = False
            self._connection.go_on()

    def resolved(self, response: object) -> None:
        if self.call.observation is not None:
            self.call.observation.answered_s = perf_counter()
        self.response = response
        self.answered = True
        self.deferred = None
        self._connection.flush()
        self.released()


async def _awaiting(handler: Coroutine[Any, Any, Any], observation: Observation) -> Any:
    return await timed(handler, observation)
