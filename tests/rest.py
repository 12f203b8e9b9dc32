"""Our REST proxy as a process of its own."""

from collections.abc import Mapping
from pathlib import Path

from tests.service_process import HttpServiceProcess


class RestProcess(HttpServiceProcess):
    """Our REST proxy, with some registry."""

    name = "rest"

    def __init__(
        self, home: Path, bootstrap: str, registry_url: str, settings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(home, bootstrap, settings={"schema.registry.url": registry_url, **(settings or {})})
