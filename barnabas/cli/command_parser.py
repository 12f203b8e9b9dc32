"""The parser of every command: options and words in any order, and mistakes explained by the command that they belong to."""

from __future__ import annotations

import argparse
import difflib
from typing import Any, Final

from barnabas.cli.output import REPORT_FORMS, TEXT

# No word of a command line can contain it, so it marks the words behind `--` without doubt.
_LITERAL: Final = "\0"
_OTHER_WORDS: Final = {"describe": ("show",), "show": ("describe",)}
"""Kafka describes topics and groups, and others show what they have: who knows one word need not look up the other."""


class CommandParser(argparse.ArgumentParser):
    """`commands.add_parser` makes parsers of this class, too."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """argparse would hand words that a command does not know to the outermost parser, which has another usage."""
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
        """argparse lists all that there is; a slip of the finger is told what was meant."""
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


def _without_mark(value: Any) -> Any:
    return value.removeprefix(_LITERAL) if isinstance(value, str) else value


def add_action(actions: Any, name: str, about: str) -> argparse.ArgumentParser:
    """The parser of one word behind a noun, such as `topics describe`; to the command it is `name` by whichever word it is called."""
    others = _OTHER_WORDS.get(name, ())
    note = f" Another word for it: {', '.join(others)}." if others else ""
    parser: argparse.ArgumentParser = actions.add_parser(
        name, aliases=others, help=about, description=f"{about[0].upper()}{about[1:]}.{note}"
    )
    parser.set_defaults(action=name)
    return parser


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
