"""`barnabas up`: the whole platform, one process for each service."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from barnabas.kernel import standard_output
from barnabas.kernel.data_directory import DataDirectory
from barnabas.kernel.logging import configure
from barnabas.kernel.standard_output import OutputError
from barnabas.platform import Platform, PlatformError, ServiceCommand
from barnabas.services import BROKER, REGISTRY, SERVICES, Resolved, Service

log = logging.getLogger(__name__)


def run(flags: dict[str, str], file: Path | None) -> int:
    # Every setting is read here first: a mistake shows before anything starts.
    services = _installed()
    resolved = [service.resolve(flags, os.environ, file, platform=True) for service in services]
    settings = resolved[0].settings
    configure(settings.text("log.level"), settings.text("log.format"))
    folders = sorted({str(one.data_directory) for one in resolved if one.data_directory is not None})
    for folder in folders:
        DataDirectory.open(Path(folder))
    commands = [_command(service, one, flags, file) for service, one in zip(services, resolved, strict=True)]
    platform = Platform(commands, show=_show)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: platform.stop())

    def on_ready() -> None:
        where = f", data in {', '.join(folders)}" if folders else ""
        _show(f"barnabas is up{where}; Ctrl-C stops it")

    try:
        platform.run(on_ready)
    except PlatformError as error:
        print(f"barnabas: {error}", file=sys.stderr)
        return 1
    _show("barnabas has stopped")
    return 0


def _installed() -> list[Service]:
    """The services whose packages are there; a word about the others."""
    installed = []
    for service in SERVICES.values():
        missing = service.missing_packages()
        if not missing:
            installed.append(service)
            continue
        hint = f"pip install 'barnabas[{service.name}]'"
        print(f"barnabas: {service.summary} is left out: {', '.join(missing)} missing; {hint}", file=sys.stderr)
    return installed


def _command(service: Service, resolved: Resolved, flags: dict[str, str], file: Path | None) -> ServiceCommand:
    words = [sys.executable, "-m", "barnabas", "serve", service.name, "--supervised"]
    if file is not None:
        words += ["--config", str(file)]
    for setting, text in flags.items():
        words += ["--set", f"{setting}={text}"]
    followed = {
        setting: form
        for setting, form in ((service.broker_setting, "{}"), (service.registry_setting, "http://{}"))
        if setting is not None and not resolved.settings.is_given(setting)
    }

    def with_addresses(announced: Mapping[str, str]) -> list[str]:
        """Tell a service where the others listen that started before it, unless it was told of others."""
        found = list(words)
        for setting, form in followed.items():
            other = BROKER if setting == service.broker_setting else REGISTRY
            if other.name in announced:
                _, _, address = announced[other.name].rpartition(" ")
                found += ["--set", f"{service.name}.{setting}={form.format(address)}"]
        return found

    return ServiceCommand(service.name, with_addresses)


def _show(line: str) -> None:
    """Services go on when nobody can read about them any more."""
    try:
        print(line, flush=True)
    except OutputError as error:
        standard_output.discard()
        log.warning("%s; the platform goes on", error)
