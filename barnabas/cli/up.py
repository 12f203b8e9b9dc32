"""`barnabas up`: the whole platform, one process for each service."""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path

from barnabas.kernel import standard_output
from barnabas.kernel.data_directory import DataDirectory
from barnabas.kernel.logging import configure
from barnabas.kernel.standard_output import OutputError
from barnabas.platform import Platform, PlatformError, ServiceCommand
from barnabas.services import SERVICES

log = logging.getLogger(__name__)


def run(flags: dict[str, str], file: Path | None) -> int:
    # Every setting is read here first: a mistake shows before anything starts.
    resolved = [service.resolve(flags, os.environ, file) for service in SERVICES.values()]
    settings = resolved[0].settings
    configure(settings.text("log.level"), settings.text("log.format"))
    folders = sorted({str(one.data_directory) for one in resolved if one.data_directory is not None})
    for folder in folders:
        DataDirectory.open(Path(folder))
    platform = Platform([_command(name, flags, file) for name in SERVICES], show=_show)
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


def _command(name: str, flags: dict[str, str], file: Path | None) -> ServiceCommand:
    words = [sys.executable, "-m", "barnabas", "serve", name, "--supervised"]
    if file is not None:
        words += ["--config", str(file)]
    for setting, text in flags.items():
        words += ["--set", f"{setting}={text}"]
    return ServiceCommand(name, words)


def _show(line: str) -> None:
    """Services go on when nobody can read about them any more."""
    try:
        print(line, flush=True)
    except OutputError as error:
        standard_output.discard()
        log.warning("%s; the platform goes on", error)
