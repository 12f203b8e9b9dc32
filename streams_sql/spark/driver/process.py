"""The server's side of the driver process: starts it, speaks with it, and starts it again when it dies."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from streams_sql.spark.driver.lines import log_line
from streams_sql.spark.driver.messages import (
    LENGTH,
    Command,
    Event,
    ExplainQuery,
    ForgetQuery,
    Lease,
    Open,
    QueryFailed,
    Ready,
    Settled,
    SettleQuery,
    SlotsChanged,
    StartQuery,
    Stop,
    Stopped,
    StopQuery,
    Unavailable,
    frame,
    unframed,
)
from streams_sql.spark.driver.slots import NoSlots, SlotCount

BACK_OFF_FIRST_S: Final = 0.5
BACK_OFF_LAST_S: Final = 30.0
# A driver that has lived this long was sound: the next one is started at once.
SOUND_AFTER_S: Final = 60.0
STOP_DEADLINE_S: Final = 10.0

logger = logging.getLogger(__name__)


class Driver:
    """One child process with Spark. Queries that were started run again, from their checkpoints, in the process that follows one that
    died. `on_event` is called on the event loop for everything that is told."""

    def __init__(self, opening: Open, on_event: Callable[[Event], None]) -> None:
        self._opening = opening
        self._on_event = on_event
        self._queries: dict[str, StartQuery] = {}
        self._slots = SlotCount(opening.master)
        self._forgotten: dict[str, str] = {}
        self._ending: set[str] = set()
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._lease = Lease(None)
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self.ready: Ready | None = None
        self.unavailable: str | None = None
        self._is_lost = False

    @property
    def problem(self) -> str | None:
        """Why queries do not run. A first start is none: they begin as soon as Spark is up."""
        if self.unavailable is None and self._is_lost:
            return "the Spark process has ended; another one is starting"
        return self.unavailable

    def start(self) -> None:
        """Start the process and keep it alive. Returns at once: `Ready` is told when Spark is up."""
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Let the queries end their batches, then end the process; before Spark is up, nothing runs in it."""
        self._stopping.set()
        if self.ready is None:
            self._kill()
        self._send(Stop())
        if self._keeper is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._keeper), STOP_DEADLINE_S)
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    def start_query(self, command: StartQuery) -> None:
        """Run a query from now on, also in the processes that follow; it begins when Spark is up. NoSlots if Spark has no room for it."""
        self._slots.take(command.query_id, command.slots)
        self._queries[command.query_id] = command
        if self.ready is not None:
            self._send(command)

    def stop_query(self, query_id: str) -> None:
        self._slots.give_back(query_id)
        if self._queries.pop(query_id, None) is not None and self.ready is not None:
            self._ending.add(query_id)
            self._is_quiet.clear()
            self._send(StopQuery(query_id))
        else:
            self._on_event(Stopped(query_id))

    def settle_query(self, query_id: str) -> None:
        """Stop a query that follows another one, which has been stopped, when it is as far as that. `Settled` is told, unless the
        process ends before it can be, or the query does not run."""
        self._slots.give_back(query_id)
        if self._queries.pop(query_id, None) is not None and self.ready is not None:
            self._ending.add(query_id)
            self._is_quiet.clear()
            self._send(SettleQuery(query_id))

    async def end_stopped(self, deadline_s: float) -> None:
        """Return when every query that was told to stop has done so. If one does not in time, the whole process ends."""
        try:
            async with asyncio.timeout(deadline_s):
                await self._is_quiet.wait()
        except TimeoutError:
            logger.warning("queries do not stop: %s; the Spark process is ended", ", ".join(sorted(self._ending)))
            self._kill()
            await self._is_quiet.wait()

    def lease(self, until_s: float | None) -> None:
        """Let queries run until then, of the monotonic clock, even if this process sleeps; None: without an end."""
        self._lease = Lease(until_s)
        self._send(self._lease)

    def forget_query(self, query_id: str, folder: str) -> None:
        """Stop a query for good: what Spark and the broker know for it goes too, now or when Spark is up."""
        self._slots.give_back(query_id)
        self._queries.pop(query_id, None)
        if self.ready is not None:
            self._ending.add(query_id)
            self._is_quiet.clear()
            self._send(ForgetQuery(query_id, folder))
        else:
            self._forgotten[query_id] = folder

    def check_slots(self, query_id: str, wanted: int) -> None:
        """NoSlots if Spark has no room for a query that holds so many slots."""
        self._slots.check(query_id, wanted)

    def explain_query(self, query_id: str) -> None:
        self._send(ExplainQuery(query_id))

    def _send(self, command: Command) -> None:
        if self._writer is not None:
            self._writer.write(frame(command))

    def _kill(self) -> None:
        """The process with all that it has started. Java must not write any more when another process begins."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _note_end(self, query_ids: set[str]) -> None:
        self._ending -= query_ids
        if not self._ending:
            self._is_quiet.set()

    async def _keep(self) -> None:
        back_off_s = BACK_OFF_FIRST_S
        while not self._stopping.is_set():
            began = asyncio.get_running_loop().time()
            await self._run()
            if self._stopping.is_set():
                return
            self._is_lost = True
            if asyncio.get_running_loop().time() - began > SOUND_AFTER_S:
                back_off_s = BACK_OFF_FIRST_S
            logger.warning("the Spark process has ended; another is started in %.1f s", back_off_s)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), back_off_s)
            back_off_s = min(2 * back_off_s, BACK_OFF_LAST_S)

    async def _run(self) -> None:
        """One process from its start to its end."""
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "streams_sql.spark.driver.main", str(theirs.fileno())]
        self._process = process = await asyncio.create_subprocess_exec(
            *command,
            pass_fds=[theirs.fileno()],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        theirs.close()
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._send(self._opening)
        self._send(self._lease)
        log = asyncio.create_task(_log_lines(process.stderr))
        if self._stopping.is_set():
            # It was told to when there was nothing to kill yet.
            self._kill()
        try:
            await self._listen(reader)
            if self.ready is None and self.unavailable is None and not self._stopping.is_set():
                self.handle(Unavailable("Spark does not start: its process has ended, and the log says why."))
        finally:
            self.ready = None
            self._writer.close()
            self._writer = None
            self._kill()
            await process.wait()
            self._process = None
            await log
            self._note_end(self._ending)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                self.handle(unframed(await reader.readexactly(length)))

    def handle(self, event: Event) -> None:
        """Take note of what the process tells, and hand it on."""
        match event:
            case Ready():
                self.ready, self.unavailable, self._is_lost = event, None, False
                self._slots.available = event.slots
                for query_id, folder in self._forgotten.items():
                    self._send(ForgetQuery(query_id, folder))
                self._forgotten.clear()
                for command in self._queries.values():
                    self._send(command)
            case Unavailable(reason):
                if reason != self.unavailable:
                    logger.error("queries cannot run, all else can: %s", reason)
                self.unavailable = reason
            case QueryFailed(query_id):
                # Whether and when it runs again is for the one who started it to say.
                self._queries.pop(query_id, None)
                self._slots.give_back(query_id)
                self._note_end({query_id})
            case Stopped(query_id) | Settled(query_id):
                self._note_end({query_id})
            case SlotsChanged(query_id, slots):
                self._recount(query_id, slots)
        self._on_event(event)

    def _recount(self, query_id: str, slots: int) -> None:
        """A query that does not fit any more would keep others from getting on."""
        command = self._queries.get(query_id)
        if command is None:
            return
        try:
            self._slots.take(query_id, slots)
        except NoSlots as problem:
            self.stop_query(query_id)
            cause = f"A topic that it reads has more partitions than before. {problem}"
            self._on_event(QueryFailed(query_id, cause, cause))
        else:
            self._queries[query_id] = replace(command, slots=slots)


async def _log_lines(stream: asyncio.StreamReader | None) -> None:
    assert stream is not None
    while line := await _line(stream):
        if text := line.decode(errors="replace").strip():
            log_line(text)


async def _line(stream: asyncio.StreamReader) -> bytes:
    """The next line. One that is very long is passed over: nobody must stop reading, or Spark stops writing."""
    while True:
        try:
            return await stream.readline()
        except ValueError:
            continue
