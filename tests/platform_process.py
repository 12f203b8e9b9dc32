"""`barnabas up` as a process."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.ports import HOST
from tests.service_process import ServiceProcess

SERVICES = ("registry", "rest", "connect", "sql")
"""Those that speak HTTP."""


class PlatformProcess(ServiceProcess):
    """Every service at a free port."""

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(home)
        self.data = home / "barnabas-data"
        self._settings = dict(settings or {})

    @property
    def address(self) -> str:
        """That of the broker."""
        return self._announced("broker")

    def command(self) -> list[str]:
        program = Path(sys.executable).with_name("barnabas")
        given = {**{f"{name}.listeners": f"http://{HOST}:0" for name in SERVICES}, **self._settings}
        settings = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
        return [
            str(program), "up", "--listeners", f"PLAINTEXT://{HOST}:0", "--data-dir", str(self.data), *settings,
        ]  # fmt: skip

    def url_of(self, service: str) -> str:
        return self._announced(service)

    def is_ready(self) -> bool:
        return "barnabas is up" in self.output.read_text()

    def _announced(self, service: str) -> str:
        found = re.search(rf"^{service} listening on ([^,\s]+)", self.output.read_text(), re.MULTILINE)
        assert found is not None, f"{service} has not told where it listens"
        return found[1]
