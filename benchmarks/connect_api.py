"""The REST API of a Connect worker, as far as the benchmark asks it."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from benchmarks.connection import HOST
from benchmarks.job import LoadFailed

ASK_LIMIT_SECONDS = 60
# A worker that shares out its work refuses changes for a moment.
BUSY_LIMIT_SECONDS = 60
BUSY_PROBE_SECONDS = 0.05
TRACE_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class ConnectApi:
    port: int

    def answers(self) -> bool:
        try:
            self._ask("GET", "/connectors")
        except (OSError, ValueError):
            return False
        return True

    def counted(self, connector: str, counter: str) -> int:
        """The sum over the connector's tasks of a counter that our worker publishes."""
        label = f'connector="{connector}"'
        lines = self._ask_text("GET", "/metrics").splitlines()
        return sum(int(float(line.split()[-1])) for line in lines if line.startswith(f"{counter}{{") and label in line)

    @contextmanager
    def connector(self, name: str, config: Mapping[str, str]) -> Iterator[None]:
        """A connector that is there until the block ends."""
        self._change("PUT", f"/connectors/{name}/config", dict(config))
        try:
            yield
        finally:
            self._change("DELETE", f"/connectors/{name}")
            self._await_end(name)

    def check(self, name: str) -> None:
        """LoadFailed if the connector or a task of it has failed."""
        status = self._status(name)
        if status is None:
            return
        for part in (status["connector"], *status["tasks"]):
            if part["state"] == "FAILED":
                raise LoadFailed(f"{name} has failed: {part.get('trace', '')[:TRACE_CHARACTERS]}")

    def _await_end(self, name: str) -> None:
        deadline = time.monotonic() + BUSY_LIMIT_SECONDS
        while self._status(name) is not None:
            if time.monotonic() > deadline:
                raise LoadFailed(f"{name} is still there {BUSY_LIMIT_SECONDS} s after its deletion")
            time.sleep(BUSY_PROBE_SECONDS)

    def _status(self, name: str) -> Any:
        """None while there is none."""
        try:
            return self._ask("GET", f"/connectors/{name}/status")
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return None
            raise

    def _change(self, method: str, path: str, body: object = None) -> None:
        deadline = time.monotonic() + BUSY_LIMIT_SECONDS
        while True:
            try:
                self._ask_text(method, path, body)
                return
            except urllib.error.HTTPError as error:
                if error.code != HTTPStatus.CONFLICT or time.monotonic() > deadline:
                    told = error.read().decode(errors="replace")
                    raise LoadFailed(f"{method} {path} was answered {error.code}: {told}") from error
            time.sleep(BUSY_PROBE_SECONDS)

    def _ask(self, method: str, path: str) -> Any:
        return json.loads(self._ask_text(method, path))

    def _ask_text(self, method: str, path: str, body: object = None) -> str:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://{HOST}:{self.port}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=ASK_LIMIT_SECONDS) as answer:
            found: bytes = answer.read()
        return found.decode()
