"""Our worker of connectors as a process of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.service_process import HttpServiceProcess
from tests.waiting import wait_for

CALL_TIMEOUT_S = 180.0
QUICK_COMMITS = {"offset.flush.interval.ms": "500"}


class ConnectProcess(HttpServiceProcess):
    """Our worker, with a group and topics that the caller names by `group`."""

    name = "connect"

    def __init__(
        self, home: Path, bootstrap: str, group: str, port: int = 0, settings: Mapping[str, str] | None = None
    ) -> None:
        own = {
            "group.id": group,
            "config.storage.topic": f"{group}-configs",
            "offset.storage.topic": f"{group}-offsets",
            "status.storage.topic": f"{group}-status",
            **QUICK_COMMITS,
        }
        super().__init__(home, bootstrap, port, {**own, **(settings or {})})

    def call(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Send a body as JSON; bytes go as they are."""
        content: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
        url = f"{self.url}{path}"
        # Without TLS nothing is verified, and reading the certificates of the system takes 20 times as long as a call.
        return httpx.request(method, url, **content, timeout=CALL_TIMEOUT_S, trust_env=False, verify=False)

    def create(self, name: str, config: Mapping[str, str]) -> None:
        answer = self.call("PUT", f"/connectors/{name}/config", dict(config))
        assert answer.status_code in (200, 201), answer.text

    def status(self, name: str) -> dict[str, Any] | None:
        """None as long as there is none."""
        answer = self.call("GET", f"/connectors/{name}/status")
        return answer.json() if answer.status_code == 200 else None

    def wait_for_state(self, name: str, state: str) -> None:
        """Return as soon as the connector's own part is in this state."""
        wait_for(
            lambda: (status := self.status(name)) is not None and status["connector"]["state"] == state,
            f"{name} to be {state}; status {self.status(name)}",
        )

    def wait_for_tasks(self, name: str, states: list[str]) -> dict[str, Any]:
        """The status as soon as the connector runs and its tasks are in these states."""

        def found() -> dict[str, Any] | None:
            status = self.status(name)
            if status is None or status["connector"]["state"] != "RUNNING":
                return None
            return status if [task["state"] for task in status["tasks"]] == states else None

        return wait_for(found, f"{name} to have tasks {states}; status {self.status(name)}\n{self.tail()}")
