"""The driver process: `python -m streams_sql.spark.driver.main FD`, a child of the server that runs Spark.

It takes commands from the socket that it inherits and tells there what happens. It ends with the server: when the socket closes, it kills
its process group, Java with it. So it does when its lease ends: a server that sleeps cannot say that another one runs the queries by now.
"""

from __future__ import annotations

import math
import os
import queue
import shutil
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Final

from pyspark import SparkContext

from streams_sql.spark.driver.executors import ExecutorsUnfit, check_executors
from streams_sql.spark.driver.masters import is_local
from streams_sql.spark.driver.messages import (
    Command,
    Event,
    ExplainQuery,
    ForgetQuery,
    Lease,
    Open,
    Ready,
    SettleQuery,
    StartQuery,
    Stop,
    StopQuery,
    Unavailable,
    frame,
    read_message,
)
from streams_sql.spark.driver.query_host import Look, QueryHost
from streams_sql.spark.driver.session import open_session, scratch_settings
from streams_sql.spark.installation.jar_sets import JarError
from streams_sql.spark.installation.java import JavaMissing

EXIT_WITHOUT_JAVA: Final = 3
LOOK_INTERVAL_S: Final = 5.0
"""Between two looks at the topics of running queries."""
LEASE_CHECK_S: Final = 0.1


class Events:
    """Events to the server, from any thread."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def tell(self, event: Event) -> None:
        with self._lock:
            self._connection.sendall(frame(event))


class LeaseWatch:
    """Ends everything when the lease does."""

    def __init__(self) -> None:
        self.lease = Lease(None)

    def ends_s(self) -> float:
        until_s = self.lease.until_s
        return math.inf if until_s is None else until_s

    def watch(self) -> None:
        while True:
            time.sleep(LEASE_CHECK_S)
            if time.monotonic() > self.ends_s():
                _end()


def main(descriptor: int) -> None:
    connection = socket.socket(fileno=descriptor)
    commands: queue.SimpleQueue[Command | Look] = queue.SimpleQueue()
    watch = LeaseWatch()
    threading.Thread(target=watch.watch, daemon=True).start()
    threading.Thread(target=_listen, args=(connection, commands, watch), daemon=True).start()
    events = Events(connection)
    first = commands.get()
    assert isinstance(first, Open)
    try:
        session = open_session(first.master, {**first.settings, **_scratch(first)})
        if not is_local(first.master):
            check_executors(session)
    except (JarError, JavaMissing, ExecutorsUnfit) as error:
        events.tell(Unavailable(str(error)))
        return
    except Exception as error:  # noqa: BLE001 - a setting that Spark does not take, a master that is not there: whatever it is, it is told
        events.tell(Unavailable(f"Spark does not start: {error}"))
        return
    threading.Thread(target=_end_with_java, daemon=True).start()
    host = QueryHost(session, first.kafka, first.registry, events.tell, first.prefix, watch.ends_s)
    events.tell(Ready(session.sparkContext.defaultParallelism, session.version))
    _serve(host, commands)


def _scratch(opening: Open) -> dict[str, str]:
    if opening.scratch is None:
        return {}
    folder = Path(opening.scratch)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return scratch_settings(folder, opening.settings)


def _serve(host: QueryHost, commands: queue.SimpleQueue[Command | Look]) -> None:
    threading.Thread(target=_look, args=(host, commands), daemon=True).start()
    while True:
        match commands.get():
            case StartQuery() as command:
                host.start(command)
            case StopQuery(query_id):
                host.stop(query_id)
            case SettleQuery(query_id):
                host.settle(query_id)
            case ForgetQuery(query_id, folder):
                host.forget(query_id, folder)
            case ExplainQuery(query_id):
                host.explain(query_id)
            case Look() as look:
                host.heed(look)
            case Stop():
                host.stop_all()
                return


def _look(host: QueryHost, commands: queue.SimpleQueue[Command | Look]) -> None:
    """On a thread of its own: while Kafka is away this waits, and queries must be stopped all the same."""
    while True:
        time.sleep(LOOK_INTERVAL_S)
        look = host.ask_for_topics()
        if look is not None:
            commands.put(look)


def _listen(connection: socket.socket, commands: queue.SimpleQueue[Command | Look], watch: LeaseWatch) -> None:
    with connection.makefile("rb") as stream:
        while (command := read_message(stream)) is not None:
            # Other commands may have to wait for a batch to end.
            if isinstance(command, Lease):
                watch.lease = command
            else:
                commands.put(command)
    _end()


def _end() -> None:
    """Java dies with us, and Python's workers, which have a group of their own, with Java."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _end_with_java() -> None:
    """Without its JVM this process has nothing to do: the server starts another."""
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.proc.wait()
    os._exit(EXIT_WITHOUT_JAVA)


if __name__ == "__main__":
    main(int(sys.argv[1]))
