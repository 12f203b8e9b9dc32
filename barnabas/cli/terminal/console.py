"""rich's console on a stream that is a terminal. Loaded only where there is one, since rich takes longer to load than a command."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

from barnabas.cli.terminal.styles import has_colours, width


def console_of(out: TextIO) -> Console:
    """Texts are shown as they are: values may hold what rich takes for markup or emoji."""
    return Console(
        file=out,
        force_terminal=True,
        color_system="auto" if has_colours(out) else None,
        width=width(),
        markup=False,
        emoji=False,
        highlight=False,
    )
