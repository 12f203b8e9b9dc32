"""Our REST proxy as a process of its own."""

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.ports import HOST
from tests.service_process import ServiceProcess


class RestProcess(ServiceProcess):
    """`barnabas serve rest` on the cluster of some broker, with some registry."""

    def __init__(
        self, home: Path, bootstrap: str, registry_url: str, settings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(home)
        self._bootstrap = bootstrap
        self._registry_url = registry_url
        self._settings = dict(settings or {})

    @property
    def address(self) -> str:
        return self.announced

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def command(self) -> list[str]:
        program = Path(sys.executable).with_name("barnabas")
        where = ["--listeners", f"http://{HOST}:0", "--bootstrap-servers", self._bootstrap]
        settings = {"schema.registry.url": self._registry_url, **self._settings}
        words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        return [str(program), "serve", "rest", *where, *words]

    def is_ready(self) -> bool:
        return bool(self.address)
