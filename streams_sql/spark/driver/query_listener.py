"""Hears from Spark what becomes of a query.

PySpark makes an object of each report of progress, with a call of Java for each of its fields: measured, that took a quarter of the
processor time of a small batch. All that is needed of one is its text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Protocol

from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import QueryTerminatedEvent


class QueryListener(Protocol):
    """Called by threads of Spark's, one at a time."""

    def progressed(self, text: str) -> None:
        """`text` is JSON."""

    def idled(self) -> None: ...

    def failed(self, cause: str) -> None: ...


class Hearing:
    """From its making to `end`, what the queries of a session have to tell is told to the listener."""

    def __init__(self, session: SparkSession, listener: QueryListener) -> None:
        gateway: Any = SparkContext._gateway
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
        called = gateway.jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper(_Called(listener))
        streams: Any = session.streams._jsqm
        streams.addListener(called)
        self.end: Callable[[], None] = partial(streams.removeListener, called)


class _Called:
    """Called by Java."""

    def __init__(self, listener: QueryListener) -> None:
        self._listener = listener

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        self._listener.progressed(event.progress().json())

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        self._listener.idled()

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        exception = QueryTerminatedEvent.fromJObject(event).exception
        if exception is not None:
            self._listener.failed(exception)

    class Java:
        implements: ClassVar[list[str]] = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]
