"""Arguments as argparse4j reads them, which is what some of Kafka's tools are written with: commands, then options of each.

Help goes to standard output; an error prints the usage and itself to standard error and ends with status 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolExit
from barnabas.kafka_tools.shell.justified import LINE_CHARACTERS, wrap

HELP_COLUMN: Final = 25
INDENT: Final = 2

STORE: Final = "store"
STORE_TRUE: Final = "store_true"
APPEND: Final = "append"
SHOW_HELP: Final = "help"
# For an argument that ends the tool when it is met, such as --version.
CALL: Final = "call"


@dataclass(frozen=True, slots=True)
class Argument:
    """A named option, or a positional argument if its one name has no hyphen. `count` is argparse's nargs: "+", "*", "?" or None."""

    names: tuple[str, ...]
    about: str
    action: str = STORE
    required: bool = False
    count: str | None = None
    metavar: str = ""
    default: object = None
    choices: tuple[str, ...] = ()
    kind: str = "String"
    calls: Callable[[], None] | None = None
    hidden: bool = False

    @property
    def is_positional(self) -> bool:
        return not self.names[0].startswith("-")

    @property
    def destination(self) -> str:
        long = [name for name in self.names if name.startswith("--")]
        return (long or list(self.names))[0].lstrip("-").replace("-", "_")

    @property
    def shown_names(self) -> str:
        return "/".join(self.names)

    @property
    def takes_value(self) -> bool:
        return self.action in (STORE, APPEND)

    def values_shown(self) -> str:
        if not self.takes_value:
            return ""
        choices = f"{{{','.join(self.choices)}}}" if self.choices else ""
        name = self.metavar or choices or (self.names[0] if self.is_positional else self.destination.upper())
        return {"+": f"{name} [{name} ...]", "*": f"[{name} [{name} ...]]", "?": f"[{name}]"}.get(
            self.count or "", name
        )

    def in_usage(self) -> str:
        if self.is_positional:
            return self.values_shown()
        return f"{self.names[0]} {self.values_shown()}".rstrip()

    def in_help(self) -> str:
        if self.is_positional:
            return self.metavar or self.names[0]
        return ", ".join(f"{name} {self.values_shown()}".rstrip() for name in self.names)


@dataclass(frozen=True, slots=True)
class Group:
    """A mutually exclusive group, or a group with a title of its own in the help."""

    title: str = ""
    exclusive: bool = False
    required: bool = False
    members: list[Argument] = field(default_factory=list)


class Values(dict[str, object]):
    """What a command line came to, by destination (`bootstrap_server`); `command` is the name of the subcommand."""

    def text(self, name: str) -> str | None:
        found = self.get(name)
        return found if isinstance(found, str) else None

    def texts(self, name: str) -> list[str]:
        found = self.get(name)
        return [str(item) for item in found] if isinstance(found, list) else []

    def integer(self, name: str) -> int | None:
        found = self.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def is_set(self, name: str) -> bool:
        return self.get(name) is True


class ArgumentError(Exception):
    """A command line that makes no sense, and the parser that says how it would."""

    def __init__(self, message: str, parser: ArgumentParser) -> None:
        super().__init__(message)
        self.message = message
        self.parser = parser


class ArgumentParser:
    """One tool or one of its commands. `help_status` is the status after `--help`: some tools of Kafka return 1."""

    def __init__(
        self, program: str, description: str = "", *, help_status: int = SUCCESS, root: ArgumentParser | None = None
    ) -> None:
        self.program = program
        self.description = description
        self.commands: dict[str, tuple[ArgumentParser, str]] = {}
        self.commands_metavar = ""
        self.commands_title = ""
        self._root = root or self
        self._help_status = help_status
        # What stands before a command's own arguments: what its parents require, and its name.
        self._path: list[str] = []
        self._groups: list[Group] = []
        self._arguments: list[Argument] = []
        self.add("-h", "--help", about="show this help message and exit", action=SHOW_HELP)

    def add(
        self,
        *names: str,
        about: str = "",
        action: str = STORE,
        required: bool = False,
        count: str | None = None,
        metavar: str = "",
        default: object = None,
        choices: Sequence[str] = (),
        kind: str = "String",
        calls: Callable[[], None] | None = None,
        group: Group | None = None,
    ) -> Argument:
        """`kind` is Integer, Long, Double or String: the Java type that the value must be one of."""
        argument = Argument(
            names, about, action, required, count, metavar, default, tuple(choices), kind, calls, hidden=not about
        )
        self._arguments.append(argument)
        if group is not None:
            group.members.append(argument)
        return argument

    def group(self, title: str = "", *, exclusive: bool = False, required: bool = False) -> Group:
        made = Group(title, exclusive, required)
        self._groups.append(made)
        return made

    def command(self, name: str, about: str) -> ArgumentParser:
        made = ArgumentParser(self.program, "", help_status=self._help_status, root=self._root)
        made._path = [*self._path, *self._option_parts(required_only=True), name]
        self.commands[name] = (made, about)
        return made

    def parse(self, arguments: Sequence[str]) -> Values:
        """Ends the tool at a `--help` or at an error."""
        try:
            return self.attempt(arguments)
        except ArgumentError as error:
            error.parser.fail(error.message)

    def attempt(self, arguments: Sequence[str]) -> Values:
        """As `parse`; ArgumentError for tools that have words of their own for it."""
        values = Values({one.destination: one.default for one in self._arguments if one.action != SHOW_HELP})
        seen: list[Argument] = []
        positionals = [one for one in self._arguments if one.is_positional]
        words = list(arguments)
        only_positionals = False
        while words:
            word = words.pop(0)
            if word == "--" and not only_positionals:
                only_positionals = True
            elif word.startswith("-") and len(word) > 1 and not only_positionals and not _is_negative_number(word):
                self._take_option(word, words, values, seen)
            elif self.commands:
                return self._descend(word, words, values, seen)
            elif positionals:
                argument = positionals.pop(0)
                words.insert(0, word)
                self._take_values(argument, None, words, values)
                seen.append(argument)
            else:
                self._refuse(f"unrecognized arguments: '{word}'")
        if self.commands or any(one.count not in ("*", "?") for one in positionals):
            self._refuse("too few arguments")
        self._check_required(seen)
        return values

    def usage(self) -> str:
        """The usage, with a line end."""
        parts = [*self._path, *self._option_parts()]
        parts += [one.in_usage() for one in self._arguments if one.is_positional]
        if self.commands:
            parts += [self.commands_metavar or f"{{{','.join(self.commands)}}}", "..."]
        text = f"usage: {self._root.program}"
        indent = " " * (len(text) + 1)
        line_length = len(text)
        for part in parts:
            if line_length + 1 + len(part) > LINE_CHARACTERS:
                text += "\n" + indent + part
                line_length = len(indent) + len(part)
            else:
                text += " " + part
                line_length += 1 + len(part)
        return text + "\n"

    def help(self) -> str:
        text = self.usage() + "\n"
        if self.description:
            text += wrap(self.description) + "\n\n"
        sections: list[tuple[str, list[str]]] = []
        positional = [_item(one.in_help(), one.about) for one in self._arguments if one.is_positional]
        if self.commands:
            positional.append(f"  {self.commands_metavar or '{' + ','.join(self.commands) + '}'}\n")
            positional += [_item(name, about, INDENT * 2) for name, (_, about) in self.commands.items()]
        sections.append((self.commands_title or "positional arguments", positional))
        titled = [one for group in self._groups if group.title for one in group.members]
        named = [one for one in self._arguments if not one.is_positional and one not in titled and not one.hidden]
        sections.append(("optional arguments", [_item(one.in_help(), one.about) for one in named]))
        sections += [
            (group.title, [_item(one.in_help(), one.about) for one in group.members])
            for group in self._groups
            if group.title
        ]
        return text + "\n".join(f"{title}:\n{''.join(items)}" for title, items in sections if items)

    def fail(self, message: str) -> NoReturn:
        """Prints usage and message as argparse4j does, and ends the tool."""
        print(self.usage() + wrap(f"{self._root.program}: error: {message}"), file=sys.stderr)
        raise ToolExit(FAILURE)

    def _refuse(self, message: str) -> NoReturn:
        raise ArgumentError(message, self)

    def _option_parts(self, *, required_only: bool = False) -> list[str]:
        exclusive = [group for group in self._groups if group.exclusive and (group.required or not required_only)]
        grouped = [one for group in exclusive for one in group.members]
        alone = [one for one in self._arguments if not (one.is_positional or one in grouped or one.hidden)]
        alone = [one for one in alone if one.required or not required_only]
        parts = [one.in_usage() if one.required else f"[{one.in_usage()}]" for one in alone]
        for group in exclusive:
            opening, closing = ("(", ")") if group.required else ("[", "]")
            shown = [one.in_usage() for one in group.members if not one.hidden]
            if len(shown) == 1:
                parts.append(shown[0] if group.required else f"[{shown[0]}]")
            elif shown:
                parts += [opening + shown[0] + " |", *(f"{text} |" for text in shown[1:-1]), shown[-1] + closing]
        return parts

    def _descend(self, word: str, words: list[str], values: Values, seen: list[Argument]) -> Values:
        if word not in self.commands:
            choices = ", ".join(f"'{name}'" for name in self.commands)
            self._refuse(f"invalid choice: '{word}' (choose from {choices})")
        self._check_required(seen)
        values.update(self.commands[word][0].attempt(words))
        values.setdefault("command", word)
        return values

    def _take_option(self, word: str, words: list[str], values: Values, seen: list[Argument]) -> None:
        name, equals, value = word.partition("=")
        argument = self._find(name)
        inline = value if equals else None
        if argument is None and not word.startswith("--"):
            argument, inline = self._find(word[:2]), word[2:]
        if argument is None:
            self._refuse(f"unrecognized arguments: '{word}'")
        if argument.action == SHOW_HELP:
            print(self.help(), end="")
            raise ToolExit(self._help_status)
        for group in self._groups:
            if group.exclusive and argument in group.members:
                for other in group.members:
                    if other in seen and other is not argument:
                        self._refuse(f"argument {argument.shown_names}: not allowed with argument {other.shown_names}")
        seen.append(argument)
        self._take_values(argument, inline, words, values)

    def _find(self, name: str) -> Argument | None:
        named = [one for one in self._arguments if not one.is_positional]
        for one in named:
            if name in one.names:
                return one
        if not name.startswith("--") or len(name) == len("--"):
            return None
        matches = {known: one for one in named for known in one.names if known.startswith(name)}
        if len(matches) > 1:
            self._refuse(f"ambiguous option: {name} could match {', '.join(matches)}")
        return next(iter(matches.values()), None)

    def _take_values(self, argument: Argument, inline: str | None, words: list[str], values: Values) -> None:
        if argument.action == CALL and argument.calls is not None:
            argument.calls()
            return
        if argument.action == STORE_TRUE:
            values[argument.destination] = True
            return
        taken = [inline] if inline is not None else []
        limit = None if argument.count in ("+", "*") else 1
        while words and (limit is None or len(taken) < limit) and inline is None and not _is_option(words[0]):
            taken.append(words.pop(0))
        if not taken and argument.count not in ("*", "?"):
            wanted = "expected at least one argument" if argument.count == "+" else "expected one argument"
            self._refuse(f"argument {argument.shown_names}: {wanted}")
        converted = [self._convert(argument, text) for text in taken]
        value: object = converted if argument.count in ("+", "*") else (converted[0] if converted else None)
        if argument.action == APPEND:
            before = values.get(argument.destination)
            values[argument.destination] = [*before, value] if isinstance(before, list) else [value]
        else:
            values[argument.destination] = value

    def _convert(self, argument: Argument, text: str) -> object:
        if argument.choices and text not in argument.choices:
            choices = ",".join(argument.choices)
            self._refuse(f"argument {argument.shown_names}: invalid choice: '{text}' (choose from {{{choices}}})")
        if argument.kind == "String":
            return text
        pattern = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?" if argument.kind == "Double" else r"[+-]?\d+"
        if not re.fullmatch(pattern, text):
            why = f'For input string: "{text}"'
            self._refuse(f"argument {argument.shown_names}: could not convert '{text}' to {argument.kind} ({why})")
        return float(text) if argument.kind == "Double" else int(text)

    def _check_required(self, seen: list[Argument]) -> None:
        # Of several that are missing argparse4j names the last.
        for one in reversed(self._arguments):
            if one.required and not one.is_positional and one not in seen:
                self._refuse(f"argument {one.shown_names} is required")
        for group in self._groups:
            if group.exclusive and group.required and not any(one in seen for one in group.members):
                names = " ".join(one.shown_names for one in group.members)
                self._refuse(f"one of the arguments {names} is required")


def _item(name: str, text: str, indent: int = INDENT) -> str:
    head = " " * indent + name
    if not text:
        return head + "\n"
    column = " " * HELP_COLUMN
    head = f"{head:<{HELP_COLUMN}}" if len(head) + INDENT <= HELP_COLUMN else f"{head}\n{column}"
    return head + wrap(text, HELP_COLUMN, column) + "\n"


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not _is_negative_number(word)


def _is_negative_number(word: str) -> bool:
    return re.fullmatch(r"-\d+(\.\d*)?", word) is not None
