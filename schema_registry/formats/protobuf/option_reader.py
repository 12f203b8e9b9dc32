"""Reads options: their names, which may be paths, and their values, which may be messages in the text format."""

from __future__ import annotations

from typing import Final

from schema_registry.formats.protobuf.elements import LEVELS_MAX, Option, OptionValue, Word, WordKind
from schema_registry.formats.protobuf.tokens import Reader

_BOOLEANS: Final = ("true", "false")
_DIGITS: Final = "0123456789-"


class OptionReader:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._depth = 0

    def bracketed(self) -> tuple[Option, ...]:
        """The options in `[…]`, if there are any."""
        if not self._reader.take("["):
            return ()
        options = [self.option()]
        while not self._reader.take("]"):
            if not self._reader.take(","):
                raise self._reader.error("Expected ',' or ']")
            options.append(self.option())
        return tuple(options)

    def option(self, separator: str = "=") -> Option:
        """`name = value`, or with `:` as in the text format."""
        reader = self._reader
        bracket = reader.peek()
        position = reader.position()
        name = reader.name()
        if bracket == "[":
            name = f"[{name}]"
        path: list[tuple[str, bool]] = []
        while reader.take("."):
            path.append(self._component())
            if len(path) > LEVELS_MAX:
                raise reader.error(f"the name of an option has more than {LEVELS_MAX} parts")
        message_follows = separator == ":" and reader.peek() == "{"
        if not message_follows and reader.read() != separator:
            raise reader.error(f"expected '{separator}' in option")
        value = self._value()
        for component, custom in reversed(path):
            value = Option(component, value, custom)
        return Option(name, value, bracket == "(", position)

    def _component(self) -> tuple[str, bool]:
        """A part of a path behind a dot, and whether it stood in parentheses."""
        bracket = self._reader.peek()
        if bracket == "(":
            return self._reader.name(), True
        if bracket == "[":
            return f"[{self._reader.name()}]", False
        return self._reader.word(dots=False), False

    def _value(self) -> OptionValue:
        first = self._reader.peek()
        if first in "{[":
            return self._nested(first)
        if first in "\"'":
            return self._reader.quoted()
        if first in _DIGITS:
            return Word(WordKind.NUMBER, self._reader.number())
        word = self._reader.number()
        return Word(WordKind.BOOLEAN if word in _BOOLEANS else WordKind.ENUM, word)

    def _nested(self, bracket: str) -> OptionValue:
        self._depth += 1
        if self._depth > LEVELS_MAX:
            raise self._reader.error(f"the value of an option nests more than {LEVELS_MAX} levels deep")
        value = self._message() if bracket == "{" else self._list()
        self._depth -= 1
        return value

    def _message(self) -> OptionValue:
        reader = self._reader
        reader.require("{")
        entries: dict[str, _Entry] = {}
        while not reader.take("}"):
            option = self.option(":")
            entries.setdefault(option.name, _Entry()).add(option.value)
            # Separators may be left out in the text format.
            if not reader.take(","):
                reader.take(";")
        return {name: entry.value() for name, entry in entries.items()}

    def _list(self) -> OptionValue:
        reader = self._reader
        reader.require("[")
        values: list[OptionValue] = []
        while not reader.take("]"):
            values.append(self._value())
            if not reader.take(",") and reader.peek() != "]":
                raise reader.error("expected ',' or ']'")
        return tuple(values)


class _Entry:
    """What a key of a message has gathered: one value, several, or the fields that paths (`key.field: 1`) named."""

    def __init__(self) -> None:
        self._values: list[OptionValue] = []
        self._several = False
        self._fields: dict[str, OptionValue] | None = None

    def add(self, value: OptionValue) -> None:
        if isinstance(value, Option):
            self._add_field(value)
            return
        self._settle()
        if isinstance(value, tuple):
            self._several = True
            self._values.extend(value)
        else:
            self._several = self._several or bool(self._values)
            self._values.append(value)

    def value(self) -> OptionValue:
        self._settle()
        return tuple(self._values) if self._several else self._values[0]

    def _add_field(self, field: Option) -> None:
        """The registry's text has always quoted what a path in a message names, so a word becomes a text here."""
        if self._fields is None:
            known = None if self._several or not self._values else self._values[0]
            self._fields = dict(known) if isinstance(known, dict) else {}
            self._values, self._several = [], False
        self._fields[field.name] = field.value.text if isinstance(field.value, Word) else field.value

    def _settle(self) -> None:
        if self._fields is not None:
            self._values.append(self._fields)
            self._fields = None
