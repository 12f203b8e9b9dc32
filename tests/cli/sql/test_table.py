"""Tables of rows on terminals of different widths."""

from __future__ import annotations

import io
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from barnabas.cli.sql.table import RULE, RowColumn, RowTable, shown_width
from barnabas.cli.sql.values import json_text

COLUMNS = [
    RowColumn("ID", "STRING"),
    RowColumn("N", "BIGINT"),
    RowColumn("AT", "TIMESTAMP"),
    RowColumn("NOTE", "STRING"),
]
ROW = ["a", 7, "2026-01-02T03:04:05.000", "some words that go on and on"]


class Screen(io.StringIO):
    """A terminal without colours."""

    def isatty(self) -> bool:
        return True


def drawn(
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    columns: Sequence[RowColumn],
    rows: Sequence[Sequence[Any]],
    *,
    is_live: bool = False,
) -> list[str]:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    screen = Screen()
    table = RowTable(screen, columns, None if is_live else rows)
    table.head()
    for row in rows:
        table.row(row)
    lines = screen.getvalue().splitlines()
    assert max(map(shown_width, lines)) <= width
    if not table.is_vertical:
        assert set(lines.pop(1)) == {RULE}
    return lines


def test_columns_are_as_wide_as_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, 100, COLUMNS, [ROW]) == [
        "ID  N  AT                       NOTE",
        "a   7  2026-01-02T03:04:05.000  some words that go on and on",
    ]


def test_texts_are_cut_and_numbers_and_times_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, 50, COLUMNS, [ROW]) == [
        "ID  N  AT                       NOTE",
        "a   7  2026-01-02T03:04:05.000  some words that g…",
    ]


def test_a_live_table_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    head, row = drawn(monkeypatch, 100, COLUMNS, [[*ROW[:3], "x" * 200]], is_live=True)
    assert (len(row), row[-2:]) == (100, "x…")
    assert head.index("AT") == row.index("2026")
    assert head.index(" N ") == row.index(" 7 ")


def test_what_does_not_fit_stands_below_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, 30, COLUMNS, [ROW, ["b", None, None, ""]]) == [
        "row 1",
        "ID    a",
        "N     7",
        "AT    2026-01-02T03:04:05.000",
        "NOTE  some words that go on a…",
        "row 2",
        "ID    b",
        "N     null",
        "AT    null",
        "NOTE  ",
    ]


def test_wide_characters_take_two_places_and_accents_none(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [RowColumn("A", "STRING"), RowColumn("B", "STRING")]
    assert drawn(monkeypatch, 20, columns, [["日本語の長い名前", "x"], ["e\u0301", "y"]]) == [
        "A                 B",
        "日本語の長い名前  x",
        "e\u0301                 y",
    ]
    head, row = drawn(monkeypatch, 17, columns, [["日本語の長い名前", "x"]])
    assert row == "日本語の長い…   x"
    assert shown_width(head) <= 17


def test_control_characters_do_nothing_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, 40, COLUMNS[:1], [["a\x1b[2Jb\n"]])[1] == "a\\x1b[2Jb\\x0a"


def test_what_is_no_terminal_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    table = RowTable(out, COLUMNS, [ROW])
    table.row([*ROW[:3], "x" * 500])
    assert out.getvalue().endswith("x" * 500 + "\n")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, None, {"a": "ä"}], '[1,null,{"a":"ä"}]'),
        ({"d": Decimal("0.10")}, '{"d":0.10}'),
        ([2**70, {"n": -(2**70)}], f'[{2**70},{{"n":-{2**70}}}]'),
    ],
)
def test_json_keeps_all_digits(value: Any, text: str) -> None:
    assert json_text(value) == text
