"""A PostgreSQL server with its default settings, in a folder of its own, and what the benchmark asks it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from benchmarks.connection import HOST
from benchmarks.running import Launch, Running, free_port
from tests.provision.databases import POSTGRESQL

USER = "postgres"
SET_UP_LIMIT_SECONDS = 120


class PostgresServer:
    """It syncs before it answers, as it does by default."""

    def __init__(self) -> None:
        programs = POSTGRESQL.find()
        if programs is None:
            raise FileNotFoundError(POSTGRESQL.advice)
        self._programs = programs
        self._port = free_port()
        # Not below the folder of the run, which the user that the server runs as may not be able to reach.
        self._home = Path(tempfile.mkdtemp(prefix="barnabas-benchmark-"))
        self._running: Running | None = None

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://{HOST}:{self._port}/postgres"

    def __enter__(self) -> PostgresServer:
        try:
            POSTGRESQL.hand_over(self._home)
            self._initialise()
            where = ("-k", str(self._home), "-h", HOST, "-p", str(self._port))
            command = POSTGRESQL.as_user([str(self._programs / "postgres"), "-D", str(self._data), *where])
            self._running = Launch("PostgreSQL", command, self._port, self._home / "output.log").start(self._answers)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(host=HOST, port=self._port, user=USER, dbname="postgres", autocommit=True)

    def execute(self, statement: sql.Composed) -> None:
        with self.connect() as connection:
            connection.execute(statement)

    @property
    def _data(self) -> Path:
        return self._home / "data"

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _initialise(self) -> None:
        choice = [f"--username={USER}", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        command = POSTGRESQL.as_user([str(self._programs / "initdb"), "-D", str(self._data), *choice])
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SET_UP_LIMIT_SECONDS, check=False, cwd=self._home
        )
        if done.returncode:
            raise ChildProcessError(f"PostgreSQL's initdb said: {done.stderr or done.stdout}")

    def _end(self) -> None:
        if self._running is not None:
            # Killed, it would leave its shared memory behind.
            os.kill(self._running.pid, signal.SIGQUIT)
            self._running.process.wait()
        shutil.rmtree(self._home, ignore_errors=True)
