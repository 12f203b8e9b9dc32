"""How the services of a platform are started: command lines, and what they are told of each other."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from barnabas.running_platform import SUPERVISED
from barnabas.services import BROKER, CONNECT, REGISTRY, Resolved, Service
from barnabas.supervision import Addresses, ServiceCommand

_ANY_PORT: Final = re.compile(r":0$")
_EVERYWHERE: Final = re.compile(r"//(?:0\.0\.0\.0|\[::\])?(?=:)")


def own(service: Service, setting: str) -> str:
    """The name of a setting that means this service alone. The broker's are the plain ones."""
    return setting if service is BROKER else f"{service.name}.{setting}"


def service_commands(
    services: Sequence[Service], resolved: Sequence[Resolved], flags: Mapping[str, str], file: Path | None
) -> list[ServiceCommand]:
    """`resolved` are the settings of each, as `flags`, the environment and `file` say them."""
    by_name = {service.name: one for service, one in zip(services, resolved, strict=True)}
    return [_command(service, by_name, flags, file) for service in services]


def _command(
    service: Service, by_name: Mapping[str, Resolved], flags: Mapping[str, str], file: Path | None
) -> ServiceCommand:
    resolved = by_name[service.name]
    words = [sys.executable, "-m", "barnabas", "serve", service.name, SUPERVISED]
    if file is not None:
        words += ["--config", str(file)]
    for setting, text in flags.items():
        words += ["--set", f"{setting}={text}"]
    followed = {
        setting: (other.name, form)
        for setting, other, form in (
            (service.broker_setting, BROKER, "{}"),
            (service.registry_setting, REGISTRY, "http://{}"),
            (service.connect_setting, CONNECT, "http://{}"),
        )
        if setting is not None and other.name in by_name and not resolved.settings.is_given(setting)
    }
    # Nobody has to wait for a worker of connectors whose address is known.
    if service.connect_setting in followed and (address := _fixed_address(by_name[CONNECT.name])) is not None:
        del followed[service.connect_setting]
        words += ["--set", f"{own(service, service.connect_setting)}={address}"]
    listeners = resolved.settings.items_of("listeners")

    def late_settings(addresses: Addresses) -> dict[str, str]:
        """Where the others listen, unless it was told of others, and the ports that it had before it crashed: clients know these."""
        found = {own(service, setting): form.format(addresses[name][0]) for setting, (name, form) in followed.items()}
        former = [address.rpartition(":")[2] for address in addresses.get(service.name, ())]
        if former and any(_ANY_PORT.search(listener) for listener in listeners):
            named = [_ANY_PORT.sub(f":{port}", listener) for listener, port in zip(listeners, former, strict=True)]
            found[own(service, "listeners")] = ",".join(named)
        return found

    return ServiceCommand(service.name, words, tuple(name for name, _ in followed.values()), late_settings)


def _fixed_address(resolved: Resolved) -> str | None:
    """Where a service will listen, if that is known before it starts."""
    listener = resolved.settings.items_of("listeners")[0]
    if _ANY_PORT.search(listener):
        return None
    return _EVERYWHERE.sub("//127.0.0.1", listener)
