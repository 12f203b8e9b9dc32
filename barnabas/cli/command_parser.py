"""The parser of every command: built from the table of commands, options and words in any order, and mistakes explained by the command
that they belong to."""

from __future__ import annotations

import argparse
import difflib
from importlib import import_module
from typing import Any, Final

from barnabas.cli.commands import COMMANDS, Commands
from barnabas.cli.output import REPORT_FORMS, TEXT

# No word of a command line can contain it, so it marks the words behind `--` without doubt.
_LITERAL: Final = "\0"
_OTHER_WORDS: Final = {"describe": ("show",), "show": ("describe",)}
"""Kafka describes topics and groups, and others show what they have: who knows one word need not look up the other."""


class CommandParser(argparse.ArgumentParser):
    """`commands.add_parser` makes parsers of this class, too. `source` is what the table of commands has for it: it is loaded when the
    command is called."""

    source: str | Commands | None = None
    _mixing = False

    def load(self) -> None:
        """Import the module of the command and declare its arguments, or declare the commands behind this word."""
        source, self.source = self.source, None
        if isinstance(source, str):
            module = import_module(source)
            module.add_arguments(self)
            self.set_defaults(run=module.run)
        elif source is not None:
            self.add_commands(source, "action", is_required=True)

    def load_all(self) -> CommandParser:
        """Load every command below this one, for programs that list them."""
        self.load()
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    parser.load_all()
        return self

    def add_commands(self, commands: Commands, dest: str, *, is_required: bool) -> None:
        """To the module, a command is its name in the table, by whichever word it is called."""
        actions = self.add_subparsers(dest=dest, metavar=dest.upper(), required=is_required)
        for name, (about, source) in commands.items():
            others = _OTHER_WORDS.get(name, ())
            note = f" Another word for it: {', '.join(others)}." if others else ""
            description = f"{about[0].upper()}{about[1:]}.{note}"
            parser = actions.add_parser(name, aliases=others, help=about, description=description)
            parser.source = source
            parser.set_defaults(**{dest: name})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """argparse would hand words that a command does not know to the outermost parser, which has another usage."""
        self.load()
        if self._mixing or args is None:
            return super().parse_known_args(args, namespace)
        if self._subparsers is not None:
            found, unknown = super().parse_known_args(args, namespace)
        else:
            found, unknown = self._parse_mixed(list(args), namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown).replace(_LITERAL, '')}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """argparse lists all that there is; after a typing error the nearest one is named."""
        choices = [str(choice) for choice in action.choices or ()]
        near = difflib.get_close_matches(value, choices, 1) if isinstance(value, str) and value not in choices else []
        if near:
            raise argparse.ArgumentError(action, f"there is no {value!r}: did you mean {near[0]!r}?")
        super()._check_value(action, value)

    def _parse_mixed(self, words: list[str], namespace: Any) -> tuple[Any, list[str]]:
        if "--" in words:
            # Python's mixed parsing forgets what `--` means, so words behind it that look like options are marked.
            place = words.index("--")
            words = words[:place] + [_LITERAL + word if word.startswith("-") else word for word in words[place + 1 :]]
        # Mixed parsing calls parse_known_args for its two rounds.
        self._mixing = True
        try:
            found, unknown = self.parse_known_intermixed_args(words, namespace)
        finally:
            self._mixing = False
        for name, value in vars(found).items():
            if isinstance(value, list):
                setattr(found, name, [_without_mark(item) for item in value])
            else:
                setattr(found, name, _without_mark(value))
        return found, unknown


def command_parser() -> CommandParser:
    """The parser of the whole command line."""
    parser = CommandParser(prog="barnabas", description="A Kafka-compatible streaming platform.")
    parser.add_argument("--version", action=_Version)
    parser.add_commands(COMMANDS, "command", is_required=False)
    parser.usage = f"barnabas [-h] [--version] COMMAND ...\ncommands: {', '.join(COMMANDS)}"
    return parser


class _Version(argparse.Action):
    """Prints the version; it is looked up when this is called."""

    def __init__(self, option_strings: list[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: object, option_string: str | None = None
    ) -> None:
        from importlib.metadata import version

        print(f"barnabas {version('barnabas')}")
        parser.exit()


def _without_mark(value: Any) -> Any:
    return value.removeprefix(_LITERAL) if isinstance(value, str) else value


def add_report_form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", "-o", choices=REPORT_FORMS, default=TEXT, help=f"form of the report ({TEXT})")


def whole_number(smallest: int) -> Any:
    """The type of an option that takes a whole number, `smallest` or more."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < smallest:
            raise argparse.ArgumentTypeError(f"{number} is too small; the smallest is {smallest}")
        return number

    return parse
