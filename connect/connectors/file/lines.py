"""Cutting bytes into lines, and knowing where each begins: positions are bytes of the file."""

from __future__ import annotations

from typing import Final, NamedTuple

NEWLINE: Final = b"\n"
RETURN: Final = b"\r"


class Lines(NamedTuple):
    """Whole lines with their terminators' lengths included in `ends`, the positions just behind each."""

    texts: list[bytes]
    ends: list[int]


class LineCutter:
    """Takes the bytes of a file as they are read. LF, CR and CRLF end a line; what has no end yet is kept for the next bytes."""

    def __init__(self, position: int, line_max_bytes: int) -> None:
        self.position = position
        """Where the line begins that is not complete yet."""
        self._rest = bytearray()
        self._line_max_bytes = line_max_bytes

    @property
    def rest(self) -> bytes:
        """The beginning of a line without its end."""
        return bytes(self._rest)

    @property
    def is_too_long(self) -> bool:
        """Whether the incomplete line is longer than any line may be."""
        return len(self._rest) > self._line_max_bytes

    def cut(self, data: bytes) -> Lines:
        """The lines that `data` completes."""
        whole = _end_of_lines(data)
        if whole == 0:
            self._rest += data
            return Lines([], [])
        complete = bytes(self._rest) + data[:whole]
        self._rest = bytearray(data[whole:])
        lines = _split(complete, self.position)
        self.position += len(complete)
        return lines

    def take_rest(self) -> Lines:
        """The incomplete line, as if it ended here."""
        text = self.rest
        self._rest.clear()
        self.position += len(text)
        return Lines([text.removesuffix(RETURN)], [self.position])


def _end_of_lines(data: bytes) -> int:
    """Where the last whole line ends. A CR at the very end may be half of a CRLF, so it waits."""
    newline = data.rfind(NEWLINE) + 1
    returned = data.rfind(RETURN, newline, len(data) - 1) + 1
    return max(newline, returned)


def _split(complete: bytes, position: int) -> Lines:
    ends: list[int] = []
    if RETURN not in complete:
        texts = complete.split(NEWLINE)
        texts.pop()
        for text in texts:
            position += len(text) + 1
            ends.append(position)
        return Lines(texts, ends)
    texts = []
    # Of bytes, `splitlines` splits at LF, CR and CRLF alone.
    for line in complete.splitlines(keepends=True):
        position += len(line)
        ends.append(position)
        texts.append(line.rstrip(b"\r\n") if line.endswith(b"\r\n") else line[:-1])
    return Lines(texts, ends)
