"""`barnabas up`: the whole platform, one process for each service."""

from __future__ import annotations

import logging
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import whole_number
from barnabas.cli.platform import joined_broker, stop_signals
from barnabas.cli.platform.listeners import obstacles
from barnabas.cli.platform.setting_arguments import add_metrics_argument, add_setting_arguments, settings_of
from barnabas.cli.service_address import data_directory
from barnabas.kernel import standard_output
from barnabas.kernel.data_directory import DataDirectory
from barnabas.kernel.logging import LogForm, configure, configured, printed
from barnabas.kernel.standard_output import OutputError
from barnabas.platform import Hearers, Platform, PlatformError, write_log
from barnabas.running_platform import RunFile, RunningPlatform, ServiceState, running_platforms
from barnabas.service_commands import own, service_commands
from barnabas.services import BROKER, REGISTRY, SERVICES, SQL, Resolved, Service, resolve_all

PORT_MAX: Final = 65_535
PLATFORM: Final = "platform"
"""What the supervisor calls itself among its services, in the log."""
END_WAIT_S: Final = 10.0
"""How long services of a platform that was killed are waited for; the broker is the one that may need more than two seconds."""
END_LOOK_S: Final = 0.05
_USAGE: Final = 2

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says about the platform as a whole."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    ports_from: int | None = None
    bootstrap_servers: str | None = None
    schema_registry_url: str | None = None
    spark_master: str | None = None

    @classmethod
    def of(cls, arguments: Namespace) -> Options:
        return cls(
            tuple(_names(arguments.only)),
            tuple(_names(arguments.without)),
            arguments.ports_from,
            arguments.bootstrap_servers,
            arguments.schema_registry_url,
            arguments.spark_master,
        )

    def services(self) -> list[Service]:
        """Those that are wanted. Where a cluster or a registry is named, ours is not started beside it."""
        replaced = [
            service.name
            for service, by in ((BROKER, self.bootstrap_servers), (REGISTRY, self.schema_registry_url))
            if by is not None and service.name not in self.only
        ]
        wanted = [
            service
            for name, service in SERVICES.items()
            if name not in self.without and name not in replaced and (not self.only or name in self.only)
        ]
        if not wanted:
            raise CommandError("no service is left to start", f"There are {', '.join(SERVICES)}.", _USAGE)
        return wanted

    def flags(self, services: Sequence[Service]) -> dict[str, str]:
        """The same as settings."""
        found: dict[str, str] = {}
        for place, service in enumerate(SERVICES.values()):
            if service not in services:
                continue
            if self.ports_from is not None:
                scheme = "PLAINTEXT" if service is BROKER else "http"
                found[own(service, "listeners")] = f"{scheme}://127.0.0.1:{_port(self.ports_from, place)}"
            for setting, value in (
                (service.broker_setting, self.bootstrap_servers),
                (service.registry_setting, self.schema_registry_url),
                ("spark.master" if service is SQL else None, self.spark_master),
            ):
                if setting is not None and value is not None:
                    found[own(service, setting)] = value
        return found


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Start every service; Ctrl-C stops them."
    add_setting_arguments(parser, serves=True)
    parser.add_argument("--listeners", metavar="LIST", help="the broker's listeners; port 0 is any free port")
    add_metrics_argument(parser)
    parser.add_argument("--only", metavar="LIST", help="start these services alone, such as broker,registry")
    parser.add_argument("--without", metavar="LIST", help="leave these services out")
    parser.add_argument(
        "--ports-from", type=whole_number(1), metavar="PORT", help="listen at this port and the next four, in order"
    )
    parser.add_argument(
        "--bootstrap-servers", metavar="LIST", help="brokers of an Apache Kafka cluster, instead of a broker of ours"
    )
    parser.add_argument("--schema-registry-url", metavar="URL", help="a schema registry, instead of one of ours")
    parser.add_argument("--spark-master", metavar="URL", help="Spark's master (local, four tasks for each core)")


def run(arguments: Namespace) -> int:
    # Every setting is read here first: a mistake shows before anything starts.
    began = time.time()
    options = Options.of(arguments)
    file: Path | None = arguments.config
    services = _installed(options.services(), options.only)
    flags = options.flags(services) | settings_of(arguments)
    resolved = resolve_all(services, flags, os.environ, file)
    if named := joined_broker.named_by_variable(resolved, os.environ):
        flags = {**flags, **named}
        resolved = resolve_all(services, flags, os.environ, file)
    folders = sorted({str(one.data_directory) for one in resolved.values() if one.data_directory is not None})
    for folder in folders:
        _check_alone(Path(folder))
        _await_end(Path(folder))
    about_broker = joined_broker.word_about_it(resolved, dict(running_platforms()))
    _check_ports(resolved)
    settings = resolved[services[0].name].settings
    configure(LogForm(settings.text("log.level"), settings.text("log.format"), PLATFORM, among_others=True))
    for folder in folders:
        DataDirectory.open(Path(folder))
    if about_broker is not None:
        _show(about_broker)
    commands = service_commands(services, list(resolved.values()), flags, file)
    run_files = [RunFile(Path(folder), began, version("barnabas")) for folder in folders]

    def changed(states: Sequence[ServiceState]) -> None:
        for run_file in run_files:
            _kept(run_file, states)

    platform = Platform(commands, Hearers(_show, _show_ready, changed, write_log))

    def on_ready() -> None:
        where = f", data in {', '.join(folders)}" if folders else ""
        # Commands look in a folder of that name alone, unless another one is named.
        if folders and data_directory().absolute() not in (Path(folder).absolute() for folder in folders):
            where += f" (for commands: export BARNABAS_DATA_DIR={Path(folders[0]).absolute()})"
        _show(f"barnabas is up after {time.time() - began:.1f} s{where}; Ctrl-C stops it")

    try:
        with stop_signals.handled(platform.stop):
            platform.run(on_ready)
    except PlatformError as error:
        if configured().form == "json":
            log.critical("%s", error)
        else:
            print(f"barnabas: {error}", file=sys.stderr)
        return 1
    _show("barnabas has stopped")
    return 0


def _check_alone(folder: Path) -> None:
    running = RunningPlatform.find(folder)
    if running is not None:
        raise CommandError(
            f"a platform runs on {folder} already, as process {running.pid}",
            "`barnabas status` shows it. For another one beside it: --data-dir FOLDER --ports-from 19000",
        )


def _await_end(folder: Path) -> None:
    """The services of a platform that was killed end within seconds; until then they have its ports and its folders."""
    last = RunningPlatform.last(folder)
    if last is None or not (left := last.left_behind):
        return
    print(f"barnabas: services of a platform that was killed are ending: {_processes(left)}", file=sys.stderr)
    deadline_s = time.monotonic() + END_WAIT_S
    while left := last.left_behind:
        if time.monotonic() > deadline_s:
            raise CommandError(
                f"services of the platform that was killed on {folder} have not ended within {END_WAIT_S:g} s: {_processes(left)}",
                f"End them: kill {' '.join([str(state.pid) for state in left])}",
            )
        time.sleep(END_LOOK_S)


def _processes(states: Sequence[ServiceState]) -> str:
    return ", ".join([f"{state.name} (process {state.pid})" for state in states])


def _check_ports(resolved: Mapping[str, Resolved]) -> None:
    """A service that finds its port taken would say so among the words of all others."""
    if found := obstacles(resolved, dict(running_platforms())):
        raise CommandError(
            "\n  ".join(["nothing was started, since ports cannot be had", *found]),
            "Choose other ports for all services with --ports-from 19000, or for one with --set SETTING=URL.",
        )


def _installed(wanted: Sequence[Service], named: Sequence[str]) -> list[Service]:
    """The services whose packages are there; a word about the others. One that was `named` cannot be left out."""
    installed = []
    for service in wanted:
        missing = service.missing_packages()
        if not missing:
            installed.append(service)
            continue
        hint = f"pip install 'barnabas[{service.name}]'"
        if service.name in named:
            raise CommandError(
                f"{service.name}, which --only names, cannot be started: {', '.join(missing)} missing",
                f"Install what {service.summary} needs: {hint}",
            )
        print(f"barnabas: {service.summary} is left out: {', '.join(missing)} missing; {hint}", file=sys.stderr)
    if not installed:
        raise CommandError("no service can be started", "Install what is missing, as listed above.")
    return installed


def _show_ready(state: ServiceState, took_s: float | None) -> None:
    scheme = "" if state.name == BROKER.name else "http://"
    where = ", ".join([f"{scheme}{address}" for address in state.addresses])
    _show(f"{state.name} listening on {where}, " + ("again" if took_s is None else f"ready after {took_s:.1f} s"))


def _kept(run_file: RunFile, states: Sequence[ServiceState]) -> None:
    try:
        run_file.update(states)
    except OSError as error:
        log.warning("`barnabas status` will not find the platform by its folder: %s", error)


def _show(line: str) -> None:
    """Services continue when their output cannot be written any more."""
    try:
        print(printed(line, __name__), flush=True)
    except OutputError as error:
        standard_output.discard()
        log.warning("%s; the platform goes on", error)


def _names(text: str | None) -> list[str]:
    found = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in found:
        if name not in SERVICES:
            raise CommandError(f"there is no service {name!r}", f"There are {', '.join(SERVICES)}.", _USAGE)
    return found


def _port(first: int, place: int) -> int:
    if first + len(SERVICES) - 1 > PORT_MAX:
        raise CommandError(
            f"--ports-from {first} leaves no {len(SERVICES)} ports", f"The last one is {PORT_MAX}.", _USAGE
        )
    return first + place
