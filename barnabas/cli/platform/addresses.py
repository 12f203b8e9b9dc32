"""Where the services of a platform are: as the running one says, as flags and variables say, or at the usual ports."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.cli.service_address import SERVICES, announced_addresses, data_directory, host_and_port
from barnabas.running_platform import RunningPlatform, ServiceState, running_platforms


@dataclass(frozen=True, slots=True)
class PlatformAddresses:
    """Addresses by service, the broker's as HOST:PORT; `running` is the platform that was started on the data directory, or that holds
    one of the addresses."""

    addresses: Mapping[str, str]
    running: RunningPlatform | None
    data_directory: Path

    def state_of(self, service: str) -> ServiceState | None:
        """What the running platform says of a service, if it is its own that listens at the address."""
        states = () if self.running is None else self.running.services
        address = self.addresses.get(service, "")
        return next((state for state in states if state.name == service and _listens(state, address)), None)


class NoPlatform(CommandError):
    """Of a data directory that the user named. `missing` are the flags of what would have to be named otherwise."""

    def __init__(self, folder: str, missing: str = "--bootstrap-server, --registry, --rest, --connect, --sql") -> None:
        super().__init__(
            f"no platform runs on {folder}",
            f"Start one: barnabas up --data-dir {folder}. Services that run elsewhere are named by their addresses: {missing}.",
            EXIT_UNREACHABLE,
        )


def add_addresses(parser: ArgumentParser) -> None:
    parser.add_argument("--data-dir", metavar="FOLDER", help="folder of the data of a platform on this machine")
    parser.add_argument("--bootstrap-server", "-b", dest="broker", metavar="HOST:PORT", help="a broker")
    for name in ("registry", "rest", "connect", "sql"):
        parser.add_argument(f"--{name}", metavar="URL", help=f"({SERVICES[name][1]})")


def addresses_of(arguments: Namespace) -> PlatformAddresses:
    folder = Path(arguments.data_dir) if arguments.data_dir else data_directory()
    running = RunningPlatform.find(folder)
    # The usual ports may be those of another platform, which the user did not name.
    is_elsewhere = running is None and bool(arguments.data_dir)
    if is_elsewhere and not any(getattr(arguments, name) for name in SERVICES):
        raise NoPlatform(arguments.data_dir)
    if running is None and not is_elsewhere:
        folder, running = _holder(arguments) or (folder, None)
    announced = {} if running is None else announced_addresses(running)
    found: dict[str, str] = {}
    for name, (variable, usual) in SERVICES.items():
        given = _given(arguments, name, variable)
        # In a platform that runs, what it has not started is not looked for, unless the user names it.
        if given or name in announced or (running is None and not is_elsewhere):
            found[name] = given or announced.get(name, usual)
    return PlatformAddresses(found, running, folder)


def data_directory_of(arguments: Namespace) -> Path:
    """The data directory that the flags name, else that of this folder, else of the platform that `addresses_of` finds. It need not run."""
    if arguments.broker is not None:
        holder = _holder(arguments)
        if holder is None or not holder[1].holds(host_and_port(arguments.broker)):
            raise CommandError(
                f"no platform of this user listens at {arguments.broker}", "Name its data directory: --data-dir FOLDER."
            )
        return holder[0]
    folder = Path(arguments.data_dir) if arguments.data_dir else data_directory()
    if arguments.data_dir or folder.exists():
        return folder
    holder = _holder(arguments)
    return folder if holder is None else holder[0]


def _listens(state: ServiceState, url: str) -> bool:
    """At one of several brokers is enough."""
    return any(state.listens_at(host_and_port(each)) for each in url.split(","))


def _given(arguments: Namespace, name: str, variable: str) -> str | None:
    return getattr(arguments, name, None) or os.environ.get(variable)


def _holder(arguments: Namespace) -> tuple[Path, RunningPlatform] | None:
    """The platform of this user that listens at an address that is given, else at the usual ports, with its data directory."""
    platforms = list(running_platforms())
    given = [_given(arguments, name, variable) for name, (variable, _) in SERVICES.items()]
    for addresses in ([each for each in given if each], [usual for _, usual in SERVICES.values()]):
        for address in addresses:
            for folder, running in platforms:
                if running.holds(host_and_port(address)):
                    return folder, running
    return None
