"""Lines that quote others, on a terminal and elsewhere."""

from __future__ import annotations

import io

import pytest

from barnabas.cli.output import say


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\r", "\x7f", "\x9b", "\u202e"])
def test_a_terminal_gets_no_control_characters_of_others(character: str) -> None:
    terminal, file = Terminal(), io.StringIO()
    text = f"setting: {character}]0;x\n\tnot [bold]valid"
    say(text, terminal)
    say(text, file)
    assert terminal.getvalue() == f"setting: \\x{ord(character):02x}]0;x\n        not [bold]valid\n"
    assert file.getvalue() == f"{text}\n"
