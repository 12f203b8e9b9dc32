"""Services as child processes of this one, for tests, scripts and notebooks: at free ports, in a folder that goes with them."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from barnabas.embedded.arguments import Configs, texts
from barnabas.kernel.data_directory import DataDirectory
from barnabas.platform import Hearers, Platform, PlatformError
from barnabas.running_platform import ServiceState
from barnabas.service_commands import own, service_commands
from barnabas.services import BROKER, SERVICES, Service

STOP_TIMEOUT_S: Final = 60.0
LOG_LINES_MAX: Final = 2_000
SETTINGS: Final[Mapping[str, str]] = {
    "group.initial.rebalance.delay.ms": "0",
    # A test has little to compile and little to keep: Spark starts in half the time.
    "sql.spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class MissingPackages(Exception):
    """What a service needs is not installed; the message says how to get it."""


class EmbeddedPlatform:
    """Started when it is made, until `close` (or the end of a `with` block)."""

    def __init__(
        self,
        services: Sequence[str] = tuple(SERVICES),
        settings: Configs | None = None,
        folder: Path | None = None,
        bootstrap_servers: str | None = None,
    ) -> None:
        """`settings` are those of all services: a name such as `sql.spark.master` means one of them. With `bootstrap_servers` the
        services run on a broker that is there, and none is started. Without a `folder` the data go with the platform."""
        wanted = [service for service in _chosen(services) if not _is_replaced(service.name, bootstrap_servers)]
        require_packages(wanted)
        self._is_own_folder = folder is None
        self._folder = Path(tempfile.mkdtemp(prefix="barnabas-")) if folder is None else folder
        flags = {"data.dir": str(self._folder), **SETTINGS}
        for service in wanted:
            flags[own(service, "listeners")] = f"{'PLAINTEXT' if service is BROKER else 'http'}://127.0.0.1:0"
            if bootstrap_servers is not None and service.broker_setting is not None:
                flags[own(service, service.broker_setting)] = bootstrap_servers
        flags |= texts("settings", settings or {})
        self._bootstrap_servers = bootstrap_servers
        self._addresses: dict[str, str] = {}
        self._log: deque[bytes] = deque(maxlen=LOG_LINES_MAX)
        self._ready: Future[None] = Future()
        DataDirectory.open(self._folder)
        resolved = [service.resolve(flags, os.environ, None, platform=True) for service in wanted]
        commands = service_commands(wanted, resolved, flags, None)
        self._platform = Platform(
            commands, Hearers(lambda _line: None, self._note, lambda _states: None, self._log.append)
        )
        self._thread = threading.Thread(target=self._run, name="barnabas platform", daemon=True)
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:
            self.close()
            raise

    @property
    def bootstrap_servers(self) -> str:
        return self._bootstrap_servers or self._address("broker")

    @property
    def schema_registry_url(self) -> str:
        return f"http://{self._address('registry')}"

    @property
    def rest_url(self) -> str:
        return f"http://{self._address('rest')}"

    @property
    def connect_url(self) -> str:
        return f"http://{self._address('connect')}"

    @property
    def sql_url(self) -> str:
        return f"http://{self._address('sql')}"

    @property
    def log(self) -> str:
        """The last lines that the services have logged."""
        return b"".join(self._log.copy()).decode(errors="replace")

    def close(self) -> None:
        self._platform.stop()
        self._thread.join(STOP_TIMEOUT_S)
        if self._is_own_folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> EmbeddedPlatform:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            self._platform.run(lambda: self._ready.set_result(None))
        except PlatformError as error:
            self._ready.set_exception(error)

    def _note(self, state: ServiceState, _took_s: float | None) -> None:
        self._addresses[state.name] = state.addresses[0]

    def _address(self, service: str) -> str:
        try:
            return self._addresses[service]
        except KeyError:
            raise LookupError(f"this platform has no {service}; it has {', '.join(self._addresses)}") from None


def require_packages(services: Sequence[Service]) -> None:
    """MissingPackages, with one command for all that these services lack."""
    lacking = [(service, missing) for service in services if (missing := service.missing_packages())]
    if lacking:
        names = sorted({name for _, missing in lacking for name in missing})
        who = " and ".join(service.summary for service, _ in lacking)
        extras = ",".join(service.name for service, _ in lacking)
        raise MissingPackages(
            f"{who} need{'s' if len(lacking) == 1 else ''} {', '.join(names)}: pip install 'barnabas[{extras}]'"
        )


def _chosen(names: Sequence[str]) -> list[Service]:
    """In the order in which they start. A text would be taken for the names that occur in it."""
    unknown = [names] if isinstance(names, str) else [name for name in names if name not in SERVICES]
    if unknown:
        raise ValueError(f"services is {names!r}: give a list of some of {', '.join(SERVICES)}")
    return [service for name, service in SERVICES.items() if name in names]


def _is_replaced(service: str, bootstrap_servers: str | None) -> bool:
    return service == BROKER.name and bootstrap_servers is not None
