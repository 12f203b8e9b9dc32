"""A view that is shown again every two seconds: on a terminal in place, otherwise one after the other."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from io import StringIO
from typing import Final, NoReturn, TextIO

from barnabas.cli.command_error import CommandError
from barnabas.cli.output import say

INTERVAL_S: Final = 2


def add_watch(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--watch", "-w", action="store_true", help=f"show it again every {INTERVAL_S} seconds, until Ctrl-C"
    )


def watch(write: Callable[[TextIO], None]) -> NoReturn:
    """Call `write` again and again, until Ctrl-C. A service that does not answer may come back, so its error is part of the view."""
    if sys.stdout.isatty():
        _watch_on_terminal(write)
    while True:
        _write(write, sys.stdout)
        sys.stdout.flush()
        time.sleep(INTERVAL_S)


class _Screen(StringIO):
    """What is written here is shown on the terminal, with its colours and as wide as it is."""

    def isatty(self) -> bool:
        return True


def _watch_on_terminal(write: Callable[[TextIO], None]) -> NoReturn:
    from rich.live import Live
    from rich.text import Text

    from barnabas.cli.terminal.console import console_of
    from barnabas.cli.terminal.styles import width

    console = console_of(sys.stdout)
    with Live(console=console, auto_refresh=False) as live:
        while True:
            screen = _Screen()
            _write(write, screen)
            # The window may have another size by now.
            console.width = width()
            live.update(Text.from_ansi(screen.getvalue().rstrip("\n")), refresh=True)
            time.sleep(INTERVAL_S)


def _write(write: Callable[[TextIO], None], out: TextIO) -> None:
    try:
        write(out)
    except CommandError as error:
        say(str(error), out)
