"""Database servers that run as processes of their own, each with a fresh folder, and databases in them."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from tests.ports import HOST, free_port
from tests.process_tree import children
from tests.provision.databases import MARIADB, POSTGRESQL, DatabaseServer
from tests.service_process import ServiceProcess
from tests.waiting import wait_for

SET_UP_DEADLINE_S = 180
MEMORY = Path("/dev/shm")
# Containers often have too little of it for a database.
MEMORY_BYTES_MIN = 2 * 1024**3


class DatabaseProcess(ServiceProcess):
    """A server whose data survive its death, but not that of the machine: nothing is synced. It keeps its port over restarts."""

    server: ClassVar[DatabaseServer]
    quick_end: ClassVar[signal.Signals] = signal.SIGKILL
    drop_option: ClassVar[str] = ""

    def __init__(self, programs: Path) -> None:
        # Not pytest's folder: the user that the server runs as must be able to reach it.
        home = Path(tempfile.mkdtemp(prefix=f"barnabas-{self.server.package}-", dir=_folder_in_memory()))
        super().__init__(home)
        self._programs = programs
        self.port = free_port()
        self.data_dir = home / "data"
        self.server.hand_over(home)
        self._run(self.set_up_command())

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @abstractmethod
    def set_up_command(self) -> list[str]:
        """The command line that makes the data folder."""

    @property
    @abstractmethod
    def administration_url(self) -> str:
        """SQLAlchemy's URL for the administrator."""

    @abstractmethod
    def url(self, database: str) -> str:
        """The `jdbc:` URL of a database."""

    def execute(self, statement: str) -> None:
        """Run a statement of the administrator."""
        engine = create_engine(self.administration_url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)

    def is_ready(self) -> bool:
        try:
            socket.create_connection((HOST, self.port)).close()
            self.execute("SELECT 1")
        except (OSError, DBAPIError):
            return False
        return True

    def create_database(self) -> str:
        """Make an empty database and return its URL."""
        name = f"test_{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        self.execute(f"DROP DATABASE {url.partition('?')[0].rpartition('/')[2]} {self.drop_option}")

    def remove(self) -> None:
        """End it at once, and take its data away."""
        if self.is_running():
            os.kill(self.pid, self.quick_end)
            self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SET_UP_DEADLINE_S, check=False, cwd=self.home
        )
        assert done.returncode == 0, done.stdout + done.stderr


class Postgres(DatabaseProcess):
    server = POSTGRESQL
    # Killed, it would leave its shared memory behind.
    quick_end = signal.SIGQUIT
    # Connections that a test has left open are closed.
    drop_option = "WITH (FORCE)"

    def set_up_command(self) -> list[str]:
        program = str(self._programs / "initdb")
        choice = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        return self.server.as_user([program, "-D", str(self.data_dir), *choice])

    def command(self) -> list[str]:
        settings = {
            "fsync": "off",
            "full_page_writes": "off",
            "shared_buffers": "32MB",
            "autovacuum": "off",
            "unix_socket_directories": str(self.home),
            "listen_addresses": HOST,
            "port": str(self.port),
        }
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return self.server.as_user([str(self._programs / "postgres"), "-D", str(self.data_dir), *words])

    def stop(self) -> int:
        # SIGTERM would wait until the last client has gone.
        os.kill(self.pid, signal.SIGINT)
        return super().stop()

    def kill(self) -> None:
        # The others notice that the first process is gone, and a new server does not start before they have.
        others = children(self.pid)
        super().kill()
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in others), "PostgreSQL's processes to end")

    @property
    def administration_url(self) -> str:
        return f"postgresql+psycopg://postgres@{self.address}/postgres"

    def url(self, database: str) -> str:
        return f"jdbc:postgresql://{self.address}/{database}?user=postgres"


class MariaDb(DatabaseProcess):
    server = MARIADB

    def set_up_command(self) -> list[str]:
        choice = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
        return self.server.as_user(["mariadb-install-db", *choice, *self._folders(), *_QUICK])

    def command(self) -> list[str]:
        where = [*self._folders(), f"--port={self.port}", f"--bind-address={HOST}"]
        files = [f"--socket={self.home / 'socket'}", f"--pid-file={self.home / 'pid'}"]
        program = [str(self._programs / "mariadbd"), "--no-defaults", "--local-infile=1", "--skip-name-resolve"]
        return self.server.as_user([*program, *where, *files, *_QUICK])

    def _folders(self) -> list[str]:
        # A server that starts removes the temporary tables of others from the folder that it is given for its own.
        return [f"--datadir={self.data_dir}", f"--tmpdir={self.home}"]

    @property
    def administration_url(self) -> str:
        return f"mariadb+pymysql://root@localhost/?ssl_disabled=true&unix_socket={self.home / 'socket'}"

    def start(self) -> None:
        super().start()
        # A server that is not asked for a name knows its clients by their addresses.
        self.execute(f"GRANT ALL ON *.* TO 'connect'@'{HOST}' IDENTIFIED BY '{PASSWORD}'")

    def url(self, database: str) -> str:
        return f"jdbc:mariadb://{self.address}/{database}?user=connect&password={PASSWORD}&useSSL=false"


PASSWORD = "s3cret-of-the-tests"
_QUICK = (
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-flush-method=nosync",
    "--innodb-log-file-size=16M",
    "--innodb-buffer-pool-size=32M",
    "--skip-log-bin",
)


def _folder_in_memory() -> Path | None:
    """A folder that no disk slows down, if this system has a large one."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < MEMORY_BYTES_MIN:
        return None
    return MEMORY
