"""Text in justified lines, as argparse4j sets the help and the errors of some of Kafka's tools."""

from __future__ import annotations

import re
from typing import Final

LINE_CHARACTERS: Final = 75
# A line may break after blanks, after hyphens, dots, commas and colons inside a word, and before a parenthesis.
_BREAK: Final = re.compile(r"(?<=\s)(?=\S)|(?<=[.\-,:])(?=[A-Za-z_])|(?<=\w)(?=\()")


def pieces(text: str) -> list[str]:
    """The text in parts between which a line may break."""
    return _BREAK.split(text)


def wrap(text: str, offset: int = 0, indent: str = "") -> str:
    """Lines of at most LINE_CHARACTERS; the first begins `offset` characters in, the others with `indent`."""
    done = ""
    line = ""
    width = offset
    for piece in pieces(text):
        width += len(piece)
        if width > LINE_CHARACTERS:
            done += _justify(line, LINE_CHARACTERS - (width - len(piece))) + "\n" + indent
            line = ""
            width = len(indent) + len(piece)
        line += piece
        if piece.endswith("\n"):
            done += line + indent
            line = ""
            width = len(indent)
    return done + line


def _justify(line: str, missing: int) -> str:
    """Widens the gaps between words: all alike, and those in the middle by one more where it does not come out even."""
    stripped = line.strip(" ")
    missing += len(line) - len(stripped)
    words = [word for word in stripped.split(" ") if word]
    gaps = len(words) - 1
    if gaps < 1:
        return stripped
    every, rest = divmod(missing, gaps)
    first_wider = (gaps - rest + 1) // 2
    result = words[0]
    for gap, word in enumerate(words[1:]):
        wider = 1 if first_wider <= gap < first_wider + rest else 0
        result += " " * (1 + every + wider) + word
    return result
