"""Progress of long work: on a terminal alone, and gone when it ends."""

from __future__ import annotations

import io

import pytest

from barnabas.cli.terminal import progress
from barnabas.cli.terminal.progress import Progress
from tests.cli.terminal.test_table import Terminal


@pytest.mark.parametrize(("total", "shown"), [(200, ("100/200",)), (None, ("100",))])
def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch, total: int | None, shown: tuple[str, ...]) -> None:
    monkeypatch.setattr(progress, "DELAY_S", 0.0)
    terminal, hidden, pipe = Terminal(), Terminal(), io.StringIO()
    for out, is_shown in ((terminal, True), (hidden, False), (pipe, True)):
        with Progress(out, "written", total, is_shown=is_shown) as bar:
            bar.advance(60)
            bar.advance(40)
    assert "written:" in terminal.getvalue()
    assert all(text in terminal.getvalue() for text in shown)
    assert "\x1b[2K" in terminal.getvalue().rpartition("100")[2], "the line is erased"
    assert hidden.getvalue() + pipe.getvalue() == ""


def test_short_work_shows_nothing() -> None:
    terminal = Terminal()
    with Progress(terminal, "written") as bar:
        bar.advance(100)
    assert terminal.getvalue() == ""
