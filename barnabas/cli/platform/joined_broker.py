"""The broker that services use when `barnabas up` starts none beside them: one that the user named, or the one at the usual address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from barnabas.cli.command_error import CommandError
from barnabas.running_platform import RunningPlatform
from barnabas.service_commands import own
from barnabas.services import BROKER, SERVICES, Resolved

VARIABLE: Final = "KAFKA_BOOTSTRAP_SERVERS"
"""What it says is for clients. Services without a broker beside them are clients, too."""


def named_by_variable(resolved: Mapping[str, Resolved], environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of those services that know of no broker otherwise."""
    if not environ.get(VARIABLE):
        return {}
    return {own(SERVICES[name], setting): environ[VARIABLE] for name, setting in _unnamed(resolved).items()}


def word_about_it(resolved: Mapping[str, Resolved], running: Mapping[Path, RunningPlatform]) -> str | None:
    """Which broker they use although it was not named, if so; CommandError where it is that of a platform among `running`.

    A service that joins one by chance may take over what is there: registries of one topic choose a leader among them.
    """
    unnamed = _unnamed(resolved)
    if not unnamed:
        return None
    users = ", ".join(unnamed)
    verb = "uses" if len(unnamed) == 1 else "use"
    # None was named: each has the same default.
    name, setting = next(iter(unnamed.items()))
    addresses = resolved[name].settings.items_of(setting)
    for folder, platform in running.items():
        if any(platform.holds(address) for address in addresses):
            raise CommandError(
                f"no broker is started and none is named, and that at {','.join(addresses)}, which {users} would use, "
                f"is that of the platform that runs on {folder}, as process {platform.pid}",
                f"To join it on purpose: --bootstrap-servers {','.join(addresses)}. "
                f"For a broker of its own, start one, too: --only {','.join([BROKER.name, *resolved])}",
            )
    return f"{users} {verb} the broker at {','.join(addresses)}; --bootstrap-servers names another"


def _unnamed(resolved: Mapping[str, Resolved]) -> dict[str, str]:
    """The setting that would name the broker, of each service for which it is not set."""
    if BROKER.name in resolved:
        return {}
    return {
        name: setting
        for name, one in resolved.items()
        if (setting := SERVICES[name].broker_setting) is not None and not SERVICES[name].knows_broker(one.settings)
    }
