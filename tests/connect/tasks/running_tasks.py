"""Tasks in processes, for tests that are no coroutines: the event loop of their host runs on a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from connect.api.source import SourceOffset
from connect.tasks.host import ProcessEnd, TaskHost, TaskProcess
from connect.tasks.messages import MetricsReport, TaskFailure
from connect.tasks.spec import ConnectorSpec, TaskId, TaskSpec, WorkerConfig
from tests.waiting import wait_for

CONNECTORS = Path(__file__).with_name("connectors.py")
STRING = "org.apache.kafka.connect.storage.StringConverter"
GRACE_S = 90.0
CALL_DEADLINE_S = 180.0

T = TypeVar("T")


def worker_config(bootstrap: str, offsets_topic: str | None = None, **further: Any) -> WorkerConfig:
    properties = {
        "bootstrap.servers": bootstrap,
        "plugin.path": str(CONNECTORS),
        "key.converter": STRING,
        "value.converter": STRING,
    }
    return WorkerConfig("worker", "connect-tests", properties, offsets_topic, **further)


class RunningTask:
    """What a task has said so far. Messages come on the loop's thread."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.end: ProcessEnd | None = None
        self.process: TaskProcess | None = None

    def hear(self, message: object) -> None:
        self.messages.append(message)

    def note_end(self, end: ProcessEnd) -> None:
        self.end = end

    def said(self, kind: type[T]) -> list[T]:
        return [message for message in self.messages if isinstance(message, kind)]

    def wait_for(self, kind: type[T], count: int = 1) -> T:
        """The last message of a kind, once there are so many."""

        def last() -> T | None:
            if self.said(TaskFailure) and kind is not TaskFailure:
                raise AssertionError(self.said(TaskFailure)[0].trace)
            found = self.said(kind)
            return found[-1] if len(found) >= count else None

        return wait_for(last, f"{count} of {kind.__name__}")

    def told_figures(self) -> Mapping[str, float]:
        """The last that were told."""
        found = self.said(MetricsReport)
        return found[-1].values if found else {}

    def figure(self, name: str) -> float:
        found = self.told_figures()
        return found[name] if found else 0.0

    def wait_for_end(self) -> ProcessEnd:
        return wait_for(lambda: self.end, "the end of the process")

    @property
    def pid(self) -> int:
        assert self.process is not None
        assert self.process.pid is not None
        return self.process.pid


class RunningTasks:
    """A host, and the thread that it lives on."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.host = self.call(self._make_host())

    def start(
        self,
        name: str,
        config: Mapping[str, str],
        worker: WorkerConfig,
        *,
        number: int = 0,
        offsets: Sequence[SourceOffset] = (),
        starts_paused: bool = False,
    ) -> RunningTask:
        task = RunningTask()
        spec = TaskSpec(TaskId(name, number), {"name": name, **config}, worker, offsets, starts_paused)
        task.process = self.call(self.host.start(spec, task.hear, task.note_end))
        return task

    def send(self, task: RunningTask, message: object) -> None:
        assert task.process is not None
        self._loop.call_soon_threadsafe(task.process.send, message)

    def stop(self, task: RunningTask, grace_s: float = GRACE_S) -> ProcessEnd:
        assert task.process is not None
        return self.call(task.process.stop(grace_s))

    def kill(self, task: RunningTask) -> ProcessEnd:
        """SIGKILL, as the system would: unexpected."""
        assert task.process is not None
        return self.call(task.process.kill())

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(CALL_DEADLINE_S)

    def close(self) -> None:
        self.call(self.host.close(GRACE_S))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @staticmethod
    async def _make_host() -> TaskHost:
        return TaskHost()


def connector(config: Mapping[str, str], worker: WorkerConfig) -> ConnectorSpec:
    return ConnectorSpec("asked", config, worker)
