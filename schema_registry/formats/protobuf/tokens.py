"""Reads the characters of a `.proto` text: words, numbers, quoted texts, and the places where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.elements import LEVELS_MAX, Position, excerpt

INTEGER_BITS: Final = 32
"""Field numbers and enum values are signed 32-bit numbers."""

_SPACE = re.compile(r"[ \t\r\n]*")
_WORD = re.compile(r"[A-Za-z0-9_.\-]+")
_COMPONENT = re.compile(r"[A-Za-z0-9_\-]+")
_POSITIVE_EXPONENT = re.compile(r"(?<=[0-9.][eE])\+[0-9]+")
_PLAIN = re.compile(r"[^\\\"']+")
_HEXADECIMAL_ESCAPE = re.compile(r"[0-9a-fA-F]{1,2}")
_OCTAL_ESCAPE = re.compile(r"[0-7]{1,3}")
_DECIMAL = re.compile(r"[+-]?[0-9]+")
_HEXADECIMAL = re.compile(r"[+-]?[0-9a-fA-F]+")
_QUOTES: Final = "\"'"
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class ProtoSyntaxError(InvalidSchema):
    """The text breaks the grammar at a place."""

    def __init__(self, reason: str, position: Position) -> None:
        super().__init__(f"Syntax error in :{position.line}:{position.column}: {excerpt(reason)}")


class Reader:
    """A cursor over the text. Everything that it reads skips the space and comments before it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = len(text)
        self._at = 0
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self) -> Position:
        return self._position_of(self._at)

    def _position_of(self, offset: int) -> Position:
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def error(self, reason: str, position: Position | None = None) -> ProtoSyntaxError:
        """What to raise: the text is wrong here, or where the declaration in question began."""
        return ProtoSyntaxError(reason, position or self.position())

    def error_at(self, offset: int, reason: str) -> ProtoSyntaxError:
        return ProtoSyntaxError(reason, self._position_of(offset))

    def exhausted(self) -> bool:
        self._skip()
        return self._at == self._end

    def peek(self) -> str:
        """The next character, which stays there."""
        self._skip()
        if self._at == self._end:
            raise self.error("unexpected end of file")
        return self._text[self._at]

    def read(self) -> str:
        character = self.peek()
        self._at += 1
        return character

    def take(self, character: str) -> bool:
        """Read the character if it is the next one."""
        if self.peek() != character:
            return False
        self._at += 1
        return True

    def require(self, character: str) -> None:
        found = self.read()
        if found != character:
            raise self.error(f"expected '{character}' but was '{found}'")

    def word(self, *, leading_digit: bool = True, dots: bool = True) -> str:
        """Letters, digits, `_`, `-` and, unless it is a part of a path, dots."""
        self._skip()
        start = self._at
        match = (_WORD if dots else _COMPONENT).match(self._text, start)
        if match is None:
            raise self.error("expected a word")
        if not leading_digit and self._text[start].isdigit():
            raise self.error("field and constant names cannot start with a digit")
        self._at = match.end()
        return match.group()

    def number(self) -> str:
        """A word that may go on behind `e+`, as compilers write great floating-point defaults."""
        text = self.word()
        match = _POSITIVE_EXPONENT.match(self._text, self._at)
        if match is None:
            return text
        self._at = match.end()
        return text + match.group()

    def name(self, *, leading_digit: bool = True) -> str:
        """A word, perhaps in round or square brackets, without them."""
        closing = {"(": ")", "[": "]"}.get(self.peek())
        if closing is None:
            return self.word(leading_digit=leading_digit)
        self._at += 1
        word = self.word(leading_digit=leading_digit)
        if self.read() != closing:
            raise self.error(f"expected '{closing}'")
        return word

    def data_type(self, word: str | None = None, depth: int = 1) -> str:
        """The type of a field, the first word of which may have been read already."""
        first = self.word() if word is None else word
        if first != "map":
            while self.take("."):
                first += f".{self.word()}"
            return first
        if depth > LEVELS_MAX:
            raise self.error(f"maps nest more than {LEVELS_MAX} levels deep")
        self._expect("<")
        key = self.data_type(depth=depth + 1)
        self._expect(",")
        value = self.data_type(depth=depth + 1)
        self._expect(">")
        return f"map<{key}, {value}>"

    def integer(self) -> int:
        text = self.word()
        hexadecimal = text[:2] in ("0x", "0X")
        digits = text[2:] if hexadecimal else text
        return self.to_integer(digits, 16 if hexadecimal else 10)

    def to_integer(self, digits: str, base: int = 10) -> int:
        pattern = _HEXADECIMAL if base == 16 else _DECIMAL
        bound = 1 << (INTEGER_BITS - 1)
        if pattern.fullmatch(digits) and len(digits) <= INTEGER_BITS and -bound <= int(digits, base) < bound:
            return int(digits, base)
        raise self.error(f"expected an integer but was {digits}")

    def quoted(self) -> str:
        """A quoted text without its quotes and escapes; texts that follow one another are one."""
        quote = self.read()
        if quote not in _QUOTES:
            raise self.error("expected quoted string")
        parts: list[str] = []
        while self._at < self._end:
            character = self._text[self._at]
            if character == quote:
                self._at += 1
                if self.peek() not in _QUOTES:
                    return "".join(parts)
                quote = self.read()
            elif character == "\\":
                self._at += 1
                parts.append(self._escaped())
            elif character in _QUOTES:
                self._at += 1
                parts.append(character)
            else:
                parts.append(self._match(_PLAIN))
        raise self.error("unterminated string")

    def _escaped(self) -> str:
        if self._at == self._end:
            raise self.error("unexpected end of file")
        character = self._text[self._at]
        if character in "01234567":
            return chr(int(self._match(_OCTAL_ESCAPE), 8))
        self._at += 1
        if character in "xX":
            digits = self._match(_HEXADECIMAL_ESCAPE)
            if not digits:
                raise self.error("expected a digit after \\x or \\X")
            return chr(int(digits, 16))
        return _ESCAPES.get(character, character)

    def _expect(self, character: str) -> None:
        if self.read() != character:
            raise self.error(f"expected '{character}'")

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            return ""
        self._at = match.end()
        return match.group()

    def _skip(self) -> None:
        """Pass over space and comments."""
        # Space and slashes come before letters, digits and most signs, where nothing is to be passed over.
        while self._at < self._end and self._text[self._at] <= "/":
            self._match(_SPACE)
            if not self._text.startswith("/", self._at):
                return
            self._skip_comment()

    def _skip_comment(self) -> None:
        self._at += 1
        if self._text.startswith("/", self._at):
            end = self._text.find("\n", self._at)
            self._at = self._end if end < 0 else end + 1
        elif self._text.startswith("*", self._at):
            end = self._text.find("*/", self._at + 1)
            if end < 0:
                raise self.error("unterminated comment")
            self._at = end + len("*/")
        else:
            raise self.error("unexpected '/'")
