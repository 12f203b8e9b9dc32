"""What each service says of itself, and what its processes take."""

from __future__ import annotations

import http.client
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from barnabas.cli.platform.addresses import PlatformAddresses

ASK_TIMEOUT_S: Final = 3.0
ANSWER_MAX_BYTES: Final = 8 << 20
HEALTHY: Final = "healthy"
UNHEALTHY: Final = "unhealthy"
DOWN: Final = "down"

_HEALTH_PATHS: Final = {"registry": "/health", "rest": "/_health", "connect": "/health", "sql": "/healthcheck"}
_STANDS_FOR: Final = {"registry": "Schema Registry", "connect": "Connect"}
"""The products whose versions these services report to their clients."""
_BUILD: Final = re.compile(r'^barnabas_build_info\{version="([^"]+)"\}', re.MULTILINE)
_PROCESSES: Final = Path("/proc")
_PARENT_FIELD: Final = 1
"""Of /proc/PID/stat, counted behind the name in parentheses."""


@dataclass(frozen=True, slots=True)
class _Version:
    own: str | None = None
    stands_for: str | None = None


class NoAnswer(Exception):
    """Why a service has not answered."""


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """`version` is our own, or that of another program; `stands_for` is what ours says that it is to clients of such a program.
    `memory_bytes` is that of all its processes on this machine, None where they are not known."""

    name: str
    url: str
    health: str
    reason: str | None
    version: str | None
    stands_for: str | None
    pid: int | None
    restarts: int | None
    memory_bytes: int | None


def ask(url: str, body: object = None) -> Any:
    """The JSON that a service answers; an answer that is an error counts if it is JSON."""
    content = _content(url, body)
    try:
        return json.loads(content)
    except ValueError:
        raise NoAnswer(f"{url} answers something else than JSON; is it the right service?") from None


def _content(url: str, body: object = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json", "Accept": "application/json"})  # noqa: S310 - as given
    try:
        with urlopen(request, timeout=ASK_TIMEOUT_S) as answer:  # noqa: S310
            content: bytes = answer.read(ANSWER_MAX_BYTES)
    except HTTPError as error:
        content = error.read(ANSWER_MAX_BYTES)
    except (URLError, OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise NoAnswer(str(getattr(reason, "strerror", None) or reason)) from None
    return content


def service_status(name: str, platform: PlatformAddresses) -> ServiceStatus:
    """The status of one of the HTTP services."""
    url = platform.addresses[name]
    try:
        reason = complaint(name, ask(url + _HEALTH_PATHS[name]))
        health, version = (UNHEALTHY if reason else HEALTHY), _version(name, url)
    except NoAnswer as unanswered:
        reason, health, version = str(unanswered), DOWN, _Version()
    return with_process(platform, name, health, reason, version)


def broker_status(platform: PlatformAddresses, health: str, reason: str | None) -> ServiceStatus:
    """Nothing in Kafka's protocol has a version: that of our own platform is known from its file."""
    running = platform.running if health != DOWN and platform.state_of("broker") is not None else None
    version = _Version(None if running is None else running.version)
    return with_process(platform, "broker", health, reason, version)


def with_process(
    platform: PlatformAddresses, name: str, health: str, reason: str | None, version: _Version
) -> ServiceStatus:
    """Processes and restarts are those of the running platform, where it is its service that was asked."""
    state = platform.state_of(name)
    pid = None if state is None else state.pid
    return ServiceStatus(
        name,
        platform.addresses[name],
        health,
        reason,
        version.own,
        version.stands_for,
        pid,
        None if state is None else state.restarts,
        None if pid is None else memory_of(pid),
    )


def memory_of(pid: int) -> int | None:
    """What a process and all that it has started take: each page that they share counts once."""
    children: dict[int, list[int]] = {}
    try:
        for entry in _PROCESSES.iterdir():
            if entry.name.isdigit() and (parent := _parent_of(entry)) is not None:
                children.setdefault(parent, []).append(int(entry.name))
    except OSError:
        return None
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        total += _proportional(_PROCESSES / str(one))
        waiting += children.get(one, ())
    return total or None


def _parent_of(process: Path) -> int | None:
    try:
        fields = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[_PARENT_FIELD])
    except (OSError, IndexError, ValueError):
        return None


def _proportional(process: Path) -> int:
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def complaint(name: str, health: Any) -> str | None:
    """Why a service is not well, in its own words; None when it is."""
    if not isinstance(health, Mapping):
        return f"its health is {health!r}"
    if name == "sql":
        if health.get("isHealthy"):
            return None
        details: Mapping[str, Any] = health.get("details") or {}
        bad = {part: one for part, one in details.items() if not one.get("isHealthy")}
        return "; ".join([f"{part}: {one.get('reason') or 'not well'}" for part, one in bad.items()]) or "not well"
    if name in ("connect", "registry"):
        return None if health.get("status") == HEALTHY else str(health.get("message") or health.get("status"))
    if health.get("healthy"):
        return None
    status = health.get("status") or {}
    errors = [str(text) for part, text in status.items() if part.endswith("_error") and text]
    return "; ".join(errors) or f"{_HEALTH_PATHS[name]} says that it is not well"


def _version(name: str, url: str) -> _Version:
    """What runs there, by its metrics, and what it says to clients that it is. Of another program, the latter is all."""
    reported = _reported_version(name, url)
    try:
        found = _BUILD.search(_content(f"{url}/metrics").decode("utf-8", "replace"))
    except NoAnswer:
        found = None
    if found is None:
        return _Version(reported)
    return _Version(
        found[1], None if reported is None or name not in _STANDS_FOR else f"{_STANDS_FOR[name]} {reported}"
    )


def _reported_version(name: str, url: str) -> str | None:
    version: object = None
    try:
        if name == "registry":
            version = ask(f"{url}/v1/metadata/version").get("version")
        elif name == "connect":
            version = ask(f"{url}/").get("version")
        elif name == "sql":
            version = ask(f"{url}/info")["KsqlServerInfo"].get("version")
    except (NoAnswer, AttributeError, KeyError, TypeError):
        return None
    # An error that is JSON, such as that of a worker that is starting, has none.
    return None if version is None else str(version)


def uptime_s(started_s: float, now_s: float) -> int:
    return max(0, int(now_s - started_s))


def folder_sizes(folder: Path) -> dict[str, int]:
    """Bytes on disk of each folder in the data directory."""
    found: dict[str, int] = {}
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return found
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            found[entry.name] = _size(entry)
    return found


def _size(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_blocks * 512
            except OSError:
                # Files come and go while the services run.
                continue
    return total
