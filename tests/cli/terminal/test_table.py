"""Tables on terminals of different widths, and where there is no terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.cells import cell_len

from barnabas.cli import output
from barnabas.cli.output import Column
from barnabas.cli.terminal import styles

COLUMNS = (Column("name", lambda name: styles.RED if name == "bad" else None), Column("size"), Column("flags"))
ROWS = [("bad", 5, [1, 2]), ("good", 123, None)]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def drawn(
    monkeypatch: pytest.MonkeyPatch, width: int, columns: Sequence[Column], rows: Sequence[Sequence[Any]]
) -> list[str]:
    """The lines without colours."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    output.write(out, output.TABLE, columns, rows)
    return out.getvalue().splitlines()


def test_what_is_no_terminal_gets_plain_columns() -> None:
    out = io.StringIO()
    output.write(out, output.TABLE, COLUMNS, ROWS)
    assert out.getvalue() == "NAME  SIZE  FLAGS\nbad      5  1 2\ngood   123  -\n"


def test_a_terminal_gets_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, 80, COLUMNS, ROWS) == [
        "NAME  SIZE  FLAGS",
        "─" * 17,
        "bad      5  1 2",
        "good   123  -",
    ]
    assert drawn(monkeypatch, 80, COLUMNS, []) == ["NAME  SIZE  FLAGS", "─" * 17]


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_styles_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    coloured, plain = Terminal(), Terminal()
    output.write(coloured, output.TABLE, COLUMNS, ROWS)
    monkeypatch.setenv(variable, value)
    output.write(plain, output.TABLE, COLUMNS, ROWS)
    assert "\x1b[31mbad \x1b[0m" in coloured.getvalue()
    assert "\x1b" not in plain.getvalue()
    assert styles.styled("text", styles.BOLD, plain) == "text"


def test_a_table_fits_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = drawn(monkeypatch, 40, (Column("name"), Column("value")), [("n", "x" * 100), ("m" * 30, "y")])
    assert all(len(line) <= 40 for line in lines)
    assert lines[2].endswith("x…")
    assert "mmm… " in lines[3]


def test_names_and_numbers_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (Column("name", is_whole=True), Column("size"), Column("value"), Column("flags"))
    lines = drawn(monkeypatch, 20, columns, [("n" * 30, 10**12, "x" * 100, [1, 2])])
    assert lines[2] == f"{'n' * 30}  {10**12}  {'x' * 11}…  1 2"


def test_wide_characters_take_two_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (Column("name"), Column("value"))
    rows = [("日本語の長い名前", "x"), ("e\u0301", "y")]
    head, _, wide, accent = drawn(monkeypatch, 40, columns, rows)
    assert (head, wide) == ("NAME              VALUE", "日本語の長い名前  x")
    assert cell_len(accent) == cell_len(wide)
    assert all(cell_len(line) <= 20 for line in drawn(monkeypatch, 20, columns, rows))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("[bold]loud[/bold]", "[bold]loud[/bold]"),
        ("[/]", "[/]"),
        ("[link=http://x]y", "[link=http://x]y"),
        (":smile:", ":smile:"),
        ("\x1b[2J\x9b31m", "\\x1b[2J\\x9b31m"),
        ("a\nb\rc", "a\\x0ab\\x0dc"),
    ],
)
def test_values_are_shown_to_the_letter(monkeypatch: pytest.MonkeyPatch, value: str, shown: str) -> None:
    assert drawn(monkeypatch, 80, (Column("value"),), [(value,)])[2] == shown
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    assert styles.styled(value, None, Terminal()) == shown
