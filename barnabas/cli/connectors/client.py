"""A Connect worker that the commands speak to: any, ours or Kafka's."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.cli.service_address import restart_hint

TIMEOUT_S: Final = 95.0
"""A little more than the 90 s after which a worker gives up itself."""
METRICS_TIMEOUT_S: Final = 2.0
"""Figures are an extra: a worker that has gone must not keep the others' waiting."""
PLUGINS: Final = "/connector-plugins"
CONNECTORS: Final = "/connectors"
CONFLICT: Final = 409
NOT_FOUND: Final = 404
CONFLICT_PAUSE_S: Final = 0.25
CONFLICT_DEADLINE_S: Final = 20.0
_START_HINT: Final = "Start one with `barnabas up`, or name another with --connect URL (or CONNECT_URL)."


class Refusal(CommandError):
    """The worker's own words, with its code."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code


class ConnectClient:
    """Calls of a worker's REST API. A conflict (a rebalance) is tried again for a while, as all clients of Connect do."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise CommandError(f"{url!r} is no address of a worker", "Write it as http://host:port.", 2)
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s

    def call(self, method: str, path: str, body: object = None) -> Any:
        deadline_s = time.monotonic() + CONFLICT_DEADLINE_S
        while True:
            try:
                return self._parsed(self._answer(method, self.url + path, self._timeout_s, body))
            except Refusal as refusal:
                exists = method == "POST" and "already exists" in str(refusal)
                if refusal.code != CONFLICT or exists or time.monotonic() > deadline_s:
                    raise
            time.sleep(CONFLICT_PAUSE_S)

    def metrics(self, worker_id: str) -> str:
        """The page of one worker of the group; nothing when it does not answer."""
        scheme = urlsplit(self.url).scheme
        try:
            page = self._answer("GET", f"{scheme}://{worker_id}/metrics", METRICS_TIMEOUT_S)
            return page.decode("utf-8", "replace")
        except CommandError:
            return ""

    def _parsed(self, content: bytes) -> Any:
        try:
            return json.loads(content or b"null")
        except ValueError:
            raise CommandError(f"{self.url} answers, but not as a Connect worker does", "Is --connect right?") from None

    def _answer(self, method: str, url: str, timeout_s: float, body: object = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310 - http(s) alone, see above
        try:
            with urlopen(request, timeout=timeout_s) as answer:  # noqa: S310
                content: bytes = answer.read()
                return content
        except HTTPError as error:
            raise _refusal(error) from None
        except (URLError, OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise CommandError(
                f"cannot reach the Connect worker at {self.url}: {getattr(reason, 'strerror', None) or reason}",
                restart_hint(self.url) or _START_HINT,
                EXIT_UNREACHABLE,
            ) from None


def path_of(name: str, rest: str = "") -> str:
    return f"{CONNECTORS}/{quote(name, safe='')}{rest}"


def plugin_path_of(plugin: str, rest: str) -> str:
    return f"{PLUGINS}/{quote(plugin, safe='')}{rest}"


def _refusal(error: HTTPError) -> Refusal:
    text = error.read().decode("utf-8", "replace")
    try:
        message = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        message = f"the worker answered {error.code}: {text[:200]}"
    return Refusal(error.code, message, _hint(urlsplit(error.url).path) if error.code == NOT_FOUND else "")


def _hint(path: str) -> str:
    if path.startswith(PLUGINS):
        return "`barnabas connectors plugins --all` shows what there is."
    if path == CONNECTORS:
        return "Is --connect right? This answers as something else would."
    return "`barnabas connectors list` shows the connectors there are."
