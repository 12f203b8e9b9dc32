"""Options as joptsimple reads them, which is what most of Kafka's tools are written with.

`--name value`, `--name=value` and `-name value` mean the same; an option may be repeated; what an option requires it takes, even when that
looks like an option. Names may be shortened only where the tool allows it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from barnabas.kafka_tools.shell import option_table
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolExit, UsageError

HELP: Final = "help"
VERSION: Final = "version"
# The version of Kafka whose tools these are like.
KAFKA_VERSION: Final = "4.3.0"

_INTEGERS: Final = {"Integer": 1 << 31, "Long": 1 << 63, "Short": 1 << 15}
_LOOKS_LIKE_AN_OPTION: Final = re.compile(r"--?.+")


class OptionError(Exception):
    """Words that do not make up a command line, as joptsimple says it. Most tools turn it into a usage error."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option; without `kind` it is a flag. A description that costs something to make is a function."""

    names: tuple[str, ...]
    description: str | Callable[[], str]
    kind: str | None = None
    argument: str = ""
    argument_optional: bool = False
    default: tuple[str, ...] = ()
    separator: str | None = None
    required: bool = False

    def __str__(self) -> str:
        return f"[{', '.join(self.names)}]"

    @property
    def display(self) -> str:
        shown = ", ".join(f"--{name}" if len(name) > 1 else f"-{name}" for name in self.names)
        shown = f"* {shown}" if self.required else shown
        if self.kind is None:
            return shown
        inside = f"{self.kind}: {self.argument}" if self.argument else self.kind
        return f"{shown} [{inside}]" if self.argument_optional else f"{shown} <{inside}>"

    @property
    def explanation(self) -> str:
        description = self.description if isinstance(self.description, str) else self.description()
        if not self.default:
            return description
        shown = self.default[0] if len(self.default) == 1 else f"[{', '.join(self.default)}]"
        return f"{description} (default: {shown})".strip()


@dataclass(slots=True)
class Parsed:
    """What a command line came to. Options are asked for by any of their names."""

    parser: OptionParser
    given: dict[str, list[str]]
    operands: list[str]
    arguments: Sequence[str] = field(default=())
    # The first name of each option as often as it was given, in the order of the command line.
    sequence: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return self.parser[name].names[0] in self.given

    def has_argument(self, name: str) -> bool:
        return bool(self.given.get(self.parser[name].names[0]))

    def values(self, name: str) -> list[str]:
        """Every value that was given, or the defaults."""
        option = self.parser[name]
        return list(self.given.get(option.names[0], ())) or list(option.default)

    def value(self, name: str) -> str | None:
        found = self.values(name)
        if len(found) > 1:
            raise OptionError(f"Found multiple arguments for option {name}, but you asked for only one")
        return found[0] if found else None

    def text(self, name: str) -> str:
        """The value of an option that the tool has made sure of."""
        found = self.value(name)
        if found is None:
            raise OptionError(f"Option {name} requires an argument")
        return found

    def integer(self, name: str) -> int | None:
        found = self.value(name)
        return None if found is None else self.parser.integer(name, found)

    def integers(self, name: str) -> list[int]:
        return [self.parser.integer(name, value) for value in self.values(name)]

    def require(self, *names: str) -> None:
        for name in names:
            if not self.has(name):
                self.fail(f'Missing required argument "{self.parser[name]}"')

    def forbid(self, used: str, *others: str) -> None:
        """None of `others` beside `used`."""
        for other in others:
            if self.has(used) and self.has(other):
                self.fail(f'Option "{self.parser[used]}" can\'t be used with option "{self.parser[other]}"')

    def forbid_with_all(self, used: Sequence[str], others: Iterable[str], trailer: str = "") -> None:
        """None of `others` when every one of `used` is there."""
        if not all(self.has(name) for name in used):
            return
        shown = f"[{', '.join(str(self.parser[name]) for name in used)}]"
        for other in others:
            if self.has(other):
                self.fail(f'Option combination "{shown}" can\'t be used with option "{self.parser[other]}"{trailer}')

    def require_one_of(self, *names: str) -> str:
        """Exactly one of `names`; returns it."""
        found = [name for name in names if self.has(name)]
        if len(found) != 1:
            shown = ", ".join(str(self.parser[name]) for name in names)
            self.fail(f"Exactly one of the following arguments is required: {shown}")
        return found[0]

    def fail(self, message: str) -> NoReturn:
        raise UsageError(message, self.parser.table())

    def show_help_or_version(self, purpose: str) -> None:
        """`--help` is an error of usage to Kafka, and so is an empty command line."""
        if not self.arguments or self.has(HELP):
            self.fail(purpose)
        if self.has(VERSION):
            show_version()


class OptionParser:
    """The options of one tool."""

    def __init__(self, *, abbreviations: bool = False, help_and_version: bool = True) -> None:
        self._abbreviations = abbreviations
        self._options: dict[str, Option] = {}
        self._order: list[Option] = []
        if help_and_version:
            self.flag(HELP, "Show this table.")
            self.flag(VERSION, "Show the version of Kafka that this tool is like.")

    def __getitem__(self, name: str) -> Option:
        return self._options[name]

    def flag(self, names: str | tuple[str, ...], description: str) -> Option:
        return self._add(Option(_names(names), description))

    def takes(
        self,
        names: str | tuple[str, ...],
        description: str | Callable[[], str],
        argument: str = "",
        *,
        kind: str = "String",
        default: str | int | Sequence[str] | None = None,
        separator: str | None = None,
        optional: bool = False,
        required: bool = False,
    ) -> Option:
        """An option with an argument. `kind` is the Java type that the table shows; `integer` checks its range."""
        defaults = () if default is None else (str(default),) if isinstance(default, (str, int)) else tuple(default)
        return self._add(Option(_names(names), description, kind, argument, optional, defaults, separator, required))

    def table(self) -> str:
        ordered = sorted(self._order, key=lambda option: option.names[0])
        starred = any(option.required for option in ordered)
        return option_table.render(((option.display, option.explanation) for option in ordered), starred=starred)

    def parse(self, arguments: Sequence[str]) -> Parsed:
        """OptionError for words that make no sense; what the values mean is looked at when they are asked for."""
        parsed = Parsed(self, {}, [], tuple(arguments))
        words = list(arguments)
        while words:
            word = words.pop(0)
            if word == "--":
                parsed.operands += words
                break
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                self._take(parsed, self._resolve(name), value if equals else None, words)
            elif word.startswith("-") and len(word) > 1:
                self._short(parsed, word[1:], words)
            else:
                parsed.operands.append(word)
        self._check_required(parsed)
        return parsed

    def _check_required(self, parsed: Parsed) -> None:
        missing = [option.names[0] for option in self._order if option.required and option.names[0] not in parsed.given]
        if missing and not {HELP, VERSION} & parsed.given.keys():
            raise OptionError(f"Missing required option(s) [{', '.join(missing)}]")

    def parse_or_fail(self, arguments: Sequence[str]) -> Parsed:
        """As `parse`; what does not parse is a usage error."""
        try:
            return self.parse(arguments)
        except OptionError as error:
            raise UsageError(str(error), self.table()) from None

    def integer(self, name: str, text: str) -> int:
        limit = _INTEGERS[self._options[name].kind or "Integer"]
        if re.fullmatch(r"[+-]?\d+", text) and -limit <= int(text) < limit:
            return int(text)
        raise OptionError(f"Cannot parse argument '{text}' of option {name}")

    def _add(self, option: Option) -> Option:
        self._order.append(option)
        for name in option.names:
            self._options[name] = option
        return option

    def _resolve(self, name: str) -> Option:
        if name in self._options:
            return self._options[name]
        if self._abbreviations and name:
            found = {option.names: option for known, option in self._options.items() if known.startswith(name)}
            if len(found) == 1:
                return next(iter(found.values()))
        raise OptionError(f"{name} is not a recognized option")

    def _short(self, parsed: Parsed, text: str, words: list[str]) -> None:
        """`-name`, or a cluster of options of one letter."""
        name, equals, value = text.partition("=")
        if name in self._options:
            self._take(parsed, self._options[name], value if equals else None, words)
            return
        for position, letter in enumerate(text):
            option = self._resolve(letter)
            if option.kind is not None:
                rest = text[position + 1 :]
                self._take(parsed, option, rest or None, words)
                return
            self._take(parsed, option, None, words)

    def _take(self, parsed: Parsed, option: Option, value: str | None, words: list[str]) -> None:
        values = parsed.given.setdefault(option.names[0], [])
        parsed.sequence.append(option.names[0])
        if option.kind is None:
            return
        if value is None and option.argument_optional:
            if not words or _LOOKS_LIKE_AN_OPTION.fullmatch(words[0]):
                return
            value = words.pop(0)
        elif value is None:
            if not words:
                raise OptionError(f"Option {option.names[0]} requires an argument")
            value = words.pop(0)
        values += [value] if option.separator is None else value.split(option.separator)


def show_version() -> NoReturn:
    sys.stdout.write(f"{KAFKA_VERSION}\n")
    raise ToolExit(SUCCESS)


def _names(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """In joptsimple's order: short names before long ones."""
    listed = (names,) if isinstance(names, str) else names
    return tuple(sorted(listed, key=lambda name: (len(name) > 1, name)))
