"""rich's progress bar with a count and a rate."""

from __future__ import annotations

from typing import TextIO

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from barnabas.cli.terminal.console import console_of


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


def progress_bar(out: TextIO, what: str, total: int | None) -> Progress:
    """It is gone when it ends, and what else is written on the terminal stands above it."""
    count = TextColumn("{task.completed:,}") if total is None else MofNCompleteColumn()
    bar = Progress(
        TextColumn("{task.description}:", markup=False),
        BarColumn(24),
        count,
        _Rate(),
        console=console_of(out),
        transient=True,
    )
    bar.add_task(what, total=total)
    return bar
