"""The table of options that Kafka's tools print with `--help` and with every usage error, laid out as joptsimple lays it out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from barnabas.kafka_tools.shell.justified import pieces

WIDTH_CHARACTERS: Final = 80
GAP_CHARACTERS: Final = 2
INDENT_CHARACTERS: Final = 2


def render(rows: Iterable[tuple[str, str]], *, starred: bool = False) -> str:
    """The table with its header; `rows` are (option with its argument, description), in the order of the table.

    `starred`: some options are required, and a star in front of them says so.
    """
    head = "Option (* = required)" if starred else "Option"
    table = [(head, "Description"), ("-" * len(head), "-----------"), *rows]
    longest_option = max(len(option) for option, _ in table)
    longest_description = max(len(line) for _, description in table for line in description.split("\n"))
    option_width = min((WIDTH_CHARACTERS - GAP_CHARACTERS) // 2, longest_option)
    description_width = min(WIDTH_CHARACTERS - option_width - GAP_CHARACTERS, longest_description)
    lines = []
    for option, description in table:
        left, right = wrap(option, option_width), wrap(description, description_width)
        height = max(len(left), len(right))
        left += [""] * (height - len(left))
        right += [""] * (height - len(right))
        gap = " " * GAP_CHARACTERS
        lines += [f"{a:<{option_width}}{gap}{b:<{description_width}}\n" for a, b in zip(left, right, strict=True)]
    return "".join(lines)


def wrap(text: str, width: int) -> list[str]:
    """The lines of `text`, continued ones indented; blanks before a break stay, as in Java."""
    lines: list[str] = []
    for paragraph in text.strip().split("\n"):
        line = ""
        for piece in pieces(paragraph):
            if len(line) + len(piece) > width:
                if line:
                    lines.append(line)
                line = " " * INDENT_CHARACTERS
            line += piece
        if line:
            lines.append(line)
    return lines
