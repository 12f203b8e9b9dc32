"""JSON objects back to back, found and parsed while they arrive in pieces of any size."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from rest_proxy.formats import json_text

OPENING_BRACE: Final = ord("{")
NEWLINE: Final = b"\n"

# What follows the opening quote of a string, up to its closing quote. Possessive: no input makes it look twice at a byte.
_STRING_REST: Final = rb'[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BETWEEN_BRACES: Final = rb'[^"{}]*+(?:"' + _STRING_REST + rb'[^"{}]*+)*+'

_TO_BRACE: Final = re.compile(_BETWEEN_BRACES + rb"[{}]", re.DOTALL)
_TO_OPEN_STRING: Final = re.compile(_BETWEEN_BRACES + rb'"', re.DOTALL)
_TO_STRING_END: Final = re.compile(_STRING_REST, re.DOTALL)
_BLANK: Final = re.compile(rb"[ \t\r\n]*+")


@dataclass(frozen=True, slots=True)
class Oversize:
    """Stands where an object would, if it were not too large to be kept."""

    max_bytes: int


class ObjectEnd:
    """Looks for the brace that closes an object. Each byte is looked at once, however the object is cut into pieces."""

    __slots__ = ("_depth", "_escaped", "_quoted")

    def __init__(self) -> None:
        self._depth = 0
        self._quoted = False
        self._escaped = False
        """Whether the last piece ended between a backslash and what it escapes."""

    def find(self, piece: bytes, start: int) -> int | None:
        """Where the object ends in the next piece of it, which is not empty; None when it goes on."""
        if self._quoted:
            after = _TO_STRING_END.match(piece, start + self._escaped)
            if after is None:
                self._escaped = _ends_in_escape(piece, start + self._escaped)
                return None
            self._quoted = self._escaped = False
            start = after.end()
        while brace := _TO_BRACE.match(piece, start):
            start = brace.end()
            self._depth += 1 if piece[start - 1] == OPENING_BRACE else -1
            if self._depth == 0:
                return start
        quote = _TO_OPEN_STRING.match(piece, start)
        if quote is not None:
            self._quoted = True
            self._escaped = _ends_in_escape(piece, quote.end())
        return None


class JsonObjects:
    """The objects of a stream. Lines with one object each are the fast way; white space between objects is optional.

    Once `problem` is set the rest of the stream has no meaning: nobody can tell what is text and what is structure.
    """

    def __init__(self, object_max_bytes: int) -> None:
        self.problem: str | None = None
        self._max_bytes = object_max_bytes
        self._held = bytearray()
        self._is_open = False
        self._is_oversize = False
        self._end = ObjectEnd()
        self._seen_bytes = 0
        self._parse: Callable[[bytes], Any] = orjson.loads

    def feed(self, piece: bytes) -> list[dict[str, Any] | Oversize]:
        """The objects that this piece completes."""
        objects: list[dict[str, Any] | Oversize] = []
        if not piece or self.problem is not None:
            return objects
        # Long numbers need the slower parser, which keeps all of their digits. One look at a whole piece is cheap.
        self._parse = json_text.parse if json_text.has_long_number(piece) else orjson.loads
        start = self._close(piece, objects) if self._is_open else 0
        if start is not None:
            self._scan(piece, self._lines(piece, start, objects), objects)
        self._seen_bytes += len(piece)
        return objects

    def finish(self) -> None:
        """The stream has ended; `problem` tells when that was in the middle of an object."""
        if self._is_open and self.problem is None:
            self.problem = f"the upload ends in the middle of a record, after {self._seen_bytes} bytes"

    def _lines(self, piece: bytes, start: int, objects: list[dict[str, Any] | Oversize]) -> int:
        """Takes lines that are an object each; returns where that is over."""
        lines = piece[start:].split(NEWLINE)
        lines.pop()
        if lines and not lines[0].strip():
            # The end of the line whose object was complete before.
            start += len(lines.pop(0)) + 1
        parse = self._parse
        for line in lines:
            try:
                value = parse(line)
            except ValueError:
                break
            if type(value) is not dict or len(line) > self._max_bytes:
                break
            objects.append(value)
            start += len(line) + 1
        return start

    def _close(self, piece: bytes, objects: list[dict[str, Any] | Oversize]) -> int | None:
        """Ends the object that is open; None when this piece does not."""
        end = self._end.find(piece, 0)
        self._hold(piece if end is None else piece[:end])
        if end is None:
            return None
        text = bytes(self._held)
        self._held.clear()
        self._is_open = False
        self._take(text, json_text.parse, end, objects)
        return end

    def _scan(self, piece: bytes, start: int, objects: list[dict[str, Any] | Oversize]) -> None:
        """Takes objects by their braces, and holds what is left of the piece."""
        while self.problem is None:
            blank = _BLANK.match(piece, start)
            assert blank is not None, "the pattern matches nothing, too"
            start = blank.end()
            if start == len(piece):
                return
            if piece[start] != OPENING_BRACE:
                self.problem = f"a record, which is a JSON object, should begin at byte {self._seen_bytes + start}"
                return
            self._end = ObjectEnd()
            end = self._end.find(piece, start)
            if end is None:
                self._is_open = True
                self._hold(piece[start:])
                return
            self._is_oversize = end - start > self._max_bytes
            self._take(piece[start:end], self._parse, end, objects)
            start = end

    def _hold(self, part: bytes) -> None:
        if self._is_oversize or len(self._held) + len(part) > self._max_bytes:
            self._is_oversize = True
            self._held.clear()
        else:
            self._held += part

    def _take(
        self, text: bytes, parse: Callable[[bytes], Any], end: int, objects: list[dict[str, Any] | Oversize]
    ) -> None:
        if self._is_oversize:
            self._is_oversize = False
            objects.append(Oversize(self._max_bytes))
            return
        try:
            objects.append(parse(text))
        except ValueError as problem:
            self.problem = f"the record that ends at byte {self._seen_bytes + end} is not valid JSON: {problem}"


def _ends_in_escape(piece: bytes, start: int) -> bool:
    """Whether a string that goes on after this piece has its last backslash open."""
    rest = piece[start:]
    return (len(rest) - len(rest.rstrip(b"\\"))) % 2 == 1
