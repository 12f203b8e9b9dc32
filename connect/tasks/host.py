"""The worker's side of its tasks: it starts their processes, talks with them, and ends them.

Each task runs in a process that is forked from one that has loaded the engine already (multiprocessing's forkserver), so that starting
one takes milliseconds and the memory of the engine is shared. That first process starts with the first task: a worker without tasks
stays small. Nothing here blocks the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
import socket
from collections.abc import Callable, Sequence
from multiprocessing import resource_tracker
from multiprocessing.context import ForkServerProcess
from typing import Any, Final, NamedTuple, TypeVar

from connect.api.source import SourceOffset
from connect.errors import ConnectError, InvalidOffsets, Problem
from connect.tasks import frames
from connect.tasks.messages import (
    Check,
    CheckOffsets,
    CheckResult,
    ConnectorRequest,
    FenceResult,
    FenceTasks,
    FindShards,
    OffsetsCheckResult,
    ShardList,
    Stop,
    TaskFailure,
    TaskMessage,
)
from connect.tasks.spec import ConnectorSpec, TaskSpec

logger = logging.getLogger(__name__)

CALL_TIMEOUT_S: Final = 60.0
TERMINATION_TIMEOUT_S: Final = 1.0
"""How long a process may live on after SIGTERM before it is killed."""
LAST_WORDS_TIMEOUT_S: Final = 1.0
"""How long to wait, once a process has ended, for the rest of what it said: somebody else may still hold its end of the socket."""

_PRELOADED: Final = ("connect.tasks.process", "connect.tasks.preloaded", "connect.tasks.fork_server")

Answer = TypeVar("Answer")


class ProcessEnd(NamedTuple):
    """The end of a process. `trace` says what killed it, and is None if it ended by itself: then it has sent TaskEnd or TaskFailure."""

    exit_code: int
    trace: str | None


class CallFailure(ConnectError):
    """A connector could not answer: its own trace, or that it took too long, or how its process died."""


class TaskProcess:
    """The process of one task (or of one question to a connector). Made by TaskHost."""

    def __init__(
        self,
        process: ForkServerProcess,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_message: Callable[[Any], None],
        on_end: Callable[[ProcessEnd], None],
    ) -> None:
        self._process = process
        self._writer = writer
        self._on_message = on_message
        self._on_end = on_end
        self._is_killed = False
        self._exited = asyncio.Event()
        self._hurried: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pid = process.pid
        asyncio.get_running_loop().add_reader(process.sentinel, self._notice_exit)
        self._following = asyncio.create_task(self._follow(asyncio.create_task(self._listen(reader))))

    @property
    def pid(self) -> int | None:
        return self._pid

    @property
    def is_running(self) -> bool:
        return not self._exited.is_set()

    def send(self, message: object) -> None:
        """Pause, Resume, Stop, SetLogLevel. One that has ended does not hear it."""
        if self.is_running:
            self._writer.write(frames.frame(message))

    async def stop(self, grace_s: float) -> ProcessEnd:
        """Let it finish what is under way and commit; after the grace time SIGTERM, which breaks off what hangs, then SIGKILL. Returns
        when the process is gone, and after `on_end` was called. To stop many at once, await them together."""
        self.send(Stop())
        waits: set[asyncio.Future[Any]] = {self._following, self._hurried}
        await asyncio.wait(waits, timeout=grace_s, return_when=asyncio.FIRST_COMPLETED)
        for end_it in (self._process.terminate, self._process.kill):
            if not self.is_running:
                break
            self._is_killed = True
            end_it()
            await asyncio.wait({self._following}, timeout=TERMINATION_TIMEOUT_S)
        return await self.ended()

    def hurry(self) -> None:
        """Let it have no grace time when it is to stop, or what is left of that."""
        if not self._hurried.done():
            self._hurried.set_result(None)

    async def kill(self) -> ProcessEnd:
        """SIGKILL at once."""
        self._is_killed = True
        if self.is_running:
            self._process.kill()
        return await self.ended()

    async def ended(self) -> ProcessEnd:
        """Wait for the end."""
        return await asyncio.shield(self._following)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                message = await frames.receive(reader)
                self._on_message(message)
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    async def _follow(self, listening: asyncio.Task[None]) -> ProcessEnd:
        await self._exited.wait()
        await asyncio.wait({listening}, timeout=LAST_WORDS_TIMEOUT_S)
        listening.cancel()
        self._writer.close()
        exit_code = self._process.exitcode
        assert exit_code is not None, "an end that was noticed has a status"
        self._process.close()
        end = ProcessEnd(exit_code, None if exit_code == 0 or self._is_killed else death_note(exit_code))
        self._on_end(end)
        return end

    def _notice_exit(self) -> None:
        """Called again and again from the end of the process on. Its status may be missing at first: the thread that starts another process
        collects those of all that have ended, and may be just about to."""
        if self._process.exitcode is None:
            return
        asyncio.get_running_loop().remove_reader(self._process.sentinel)
        self._exited.set()


def death_note(exit_code: int) -> str:
    """Why a process is gone that has not said so itself."""
    if exit_code > 0:
        return f"The process of the task ended with the status {exit_code} and said nothing; its last words may be in the worker's log."
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = "unknown"
    hint = {
        signal.SIGKILL: " The system kills a process like this when memory runs out.",
        signal.SIGSEGV: " This is a defect in native code that the connector uses.",
        signal.SIGABRT: " This is a defect in native code that the connector uses.",
    }.get(-exit_code, "")  # type: ignore[call-overload]
    return f"The process of the task was killed by signal {-exit_code} ({name}).{hint}"


class TaskHost:
    """Every process of a worker. Used from one event loop.

    ```
    host = TaskHost()
    task = await host.start(spec, on_message=…, on_end=…)   # both are called on the event loop
    task.send(Pause())
    await task.stop(grace_s=5)
    await host.close(grace_s=5)
    ```
    """

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        # The main module too: each child would otherwise run it again.
        self._context.set_forkserver_preload(["__main__", *_PRELOADED])
        self._starting = asyncio.Lock()
        self._processes: set[TaskProcess] = set()

    async def start(
        self, spec: TaskSpec, on_message: Callable[[TaskMessage], None], on_end: Callable[[ProcessEnd], None]
    ) -> TaskProcess:
        """Start a task. It sends RunningState (or PausedState) once it works, or TaskFailure and ends; `on_end` is called once, last."""
        return await self._start("run_task", spec, str(spec.id), on_message, on_end)

    async def find_shards(self, connector: ConnectorSpec, timeout_s: float = CALL_TIMEOUT_S) -> ShardList:
        """The parts that tasks of the source can share out; CallFailure."""
        return await self._ask(connector, FindShards(), ShardList, timeout_s)

    async def check(self, connector: ConnectorSpec, timeout_s: float = CALL_TIMEOUT_S) -> Sequence[Problem]:
        """Return what is wrong with the settings of a source or sink that only the external system shows. CallFailure."""
        return (await self._ask(connector, Check(), CheckResult, timeout_s)).problems

    async def check_offsets(
        self, connector: ConnectorSpec, offsets: Sequence[SourceOffset], timeout_s: float = CALL_TIMEOUT_S
    ) -> None:
        """InvalidOffsets if the source could not go on from them; CallFailure."""
        answer = await self._ask(connector, CheckOffsets(offsets), OffsetsCheckResult, timeout_s)
        if answer.refusal is not None:
            raise InvalidOffsets(answer.refusal)

    async def fence(self, connector: ConnectorSpec, task_count: int, timeout_s: float = CALL_TIMEOUT_S) -> None:
        """Before new tasks of an exactly-once source start: shut out those of the former configuration, wherever they may run; CallFailure."""
        await self._ask(connector, FenceTasks(task_count), FenceResult, timeout_s)

    def hurry(self) -> None:
        """What stops has no time to commit any more."""
        for process in self._processes:
            process.hurry()

    async def close(self, grace_s: float) -> None:
        """Stop everything at once; returns when no process is left."""
        await asyncio.gather(*(process.stop(grace_s) for process in tuple(self._processes)))

    async def _ask(
        self, connector: ConnectorSpec, question: ConnectorRequest, answer_type: type[Answer], timeout_s: float
    ) -> Answer:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def hear(message: object) -> None:
            if not answer.done():
                answer.set_result(message)

        def end(how: ProcessEnd) -> None:
            hear(TaskFailure(how.trace or "The process of the connector ended without an answer."))

        process = await self._start("run_call", (connector, question), connector.name, hear, end)
        try:
            async with asyncio.timeout(timeout_s):
                message = await answer
        except TimeoutError:
            raise CallFailure(
                f"the connector {connector.name} did not answer within {timeout_s:g} s: what it talks to may not respond"
            ) from None
        finally:
            await process.kill()
        if isinstance(message, TaskFailure):
            raise CallFailure(message.trace)
        assert isinstance(message, answer_type)
        return message

    async def _start(
        self,
        function: str,
        argument: object,
        name: str,
        on_message: Callable[[Any], None],
        on_end: Callable[[ProcessEnd], None],
    ) -> TaskProcess:
        ours, theirs = socket.socketpair()
        with theirs:
            process = self._context.Process(target=_enter, args=(function, theirs, argument), name=name, daemon=True)
            try:
                # One at a time: the first waits for the process that all are forked from.
                async with self._starting:
                    await asyncio.to_thread(_start_undisturbed, process)
            except BaseException:
                ours.close()
                raise
        reader, writer = await asyncio.open_unix_connection(sock=ours)

        def end(how: ProcessEnd) -> None:
            self._processes.discard(started)
            on_end(how)

        started = TaskProcess(process, reader, writer, on_message, end)
        self._processes.add(started)
        return started


def _start_undisturbed(process: ForkServerProcess) -> None:
    """The process that all are forked from, if this starts it, inherits what is blocked in this thread: it must not be ended by a signal
    to all processes before it knows that it has to ignore that (`fork_server`)."""
    # It would unblock the signals again after its own start.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _enter(function: str, own: socket.socket, argument: object) -> None:
    """The first thing that a new process runs. It loads the engine here, so that the worker need not."""
    from connect.tasks import process

    getattr(process, function)(own, argument)
