"""Database servers for the tests of connectors: PostgreSQL and MariaDB, from Debian's packages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deploy import debian


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """A package with a server. `folders` are where its programs may lie, beside those of the path."""

    title: str
    package: str
    programs: tuple[str, ...]
    folders: str
    user: str
    """Whom the package has made for the server, which refuses to run as root."""

    def find(self) -> Path | None:
        """Return the folder with the programs, or None; of several versions the newest."""
        on_path = shutil.which(self.programs[0])
        installed = sorted(Path("/").glob(self.folders.lstrip("/")), key=_version, reverse=True)
        candidates = [*installed, *([Path(on_path).parent] if on_path else [])]
        return next((folder for folder in candidates if (folder / self.programs[0]).exists()), None)

    def as_user(self, command: Sequence[str]) -> list[str]:
        """The command, run as the user of the package if we are root."""
        if os.geteuid() != 0:
            return list(command)
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", *command]

    def hand_over(self, folder: Path) -> None:
        """The folder becomes that user's."""
        if os.geteuid() == 0:
            shutil.chown(folder, self.user)

    @property
    def advice(self) -> str:
        return f"{self.title} is not installed; on Debian and Ubuntu: sudo apt-get install {self.package}"


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parts if part.isdigit())


POSTGRESQL = DatabaseServer("PostgreSQL", "postgresql", ("postgres", "initdb"), "/usr/lib/postgresql/*/bin", "postgres")
MARIADB = DatabaseServer("MariaDB", "mariadb-server", ("mariadbd",), "/usr/sbin", "mysql")
SERVERS = (POSTGRESQL, MARIADB)


def main() -> None:
    for server in SERVERS:
        if server.find() is None and not debian.install(server.package):
            print(f"{server.advice}; its tests will be skipped")


if __name__ == "__main__":
    main()
