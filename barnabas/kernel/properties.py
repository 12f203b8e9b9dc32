"""Java properties files, as `java.util.Properties.load` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import hexdigits

_BLANKS = " \t\f"
_SEPARATORS = "=:"
_COMMENT_MARKS = "#!"
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_HEXADECIMAL_DIGITS = 4


class PropertiesError(ValueError):
    """A file that is no properties file."""


@dataclass(frozen=True, slots=True)
class Property:
    """One entry, with the line (from 1) on which it begins."""

    name: str
    text: str
    line: int


def parse(content: bytes) -> list[Property]:
    """Return the entries in the order of the file; a name may occur twice, and then the later counts.

    Java reads these files as Latin-1 and people write them as UTF-8: what is no valid UTF-8 is taken for Latin-1.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return [_parse_entry(line, number) for number, line in _logical_lines(text)]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each entry as one line without leading blanks: comments left out, continued lines joined."""
    pending = ""
    first_line = 0
    natural_lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, natural in enumerate(natural_lines, start=1):
        line = natural.lstrip(_BLANKS)
        if not pending:
            if not line or line[0] in _COMMENT_MARKS:
                continue
            first_line = number
        if _ends_with_lone_backslash(line):
            pending += line[:-1]
            continue
        yield first_line, pending + line
        pending = ""
    if pending:
        yield first_line, pending


def _ends_with_lone_backslash(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _parse_entry(line: str, number: int) -> Property:
    end = 0
    while end < len(line) and line[end] not in _BLANKS + _SEPARATORS:
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANKS)
    if rest and rest[0] in _SEPARATORS:
        rest = rest[1:].lstrip(_BLANKS)
    return Property(_unescape(line[:end], number), _unescape(rest, number), number)


def _unescape(text: str, number: int) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char != "\\" or position == len(text):
            out.append(char)
            continue
        escape = text[position]
        position += 1
        if escape == "u":
            out.append(_unicode_escape(text[position : position + _HEXADECIMAL_DIGITS], number))
            position += _HEXADECIMAL_DIGITS
        else:
            out.append(_ESCAPED.get(escape, escape))
    # Java writes characters beyond the basic plane as two escapes, the halves of a surrogate pair.
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unicode_escape(digits: str, number: int) -> str:
    if len(digits) < _HEXADECIMAL_DIGITS or not set(digits) <= set(hexdigits):
        raise PropertiesError(
            f"line {number}: \\u{digits} is no character; \\u needs four hexadecimal digits, and a backslash is written \\\\"
        )
    return chr(int(digits, 16))
