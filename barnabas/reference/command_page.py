"""Every word of the `barnabas` command with its options, from the parser itself."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from barnabas.cli.command_parser import command_parser
from barnabas.reference.markdown import cell, code, page, table

_HEADS: Final = ("", "meaning")
_INTRODUCTION: Final = """\
`barnabas COMMAND --help` says the same on a terminal. Options and words stand in any order. A command ends with 0 when it did what it was asked for, with 1 when that failed, with 2
when its command line or a setting makes no sense, and with 130 after Ctrl-C; those that end otherwise say so on their own pages."""


def command_page() -> str:
    parser = command_parser().load_all()
    commands = list(_commands(parser, "barnabas"))
    contents = " · ".join(f"[{name.removeprefix('barnabas ')}](#{name.replace(' ', '-')})" for name, _, _ in commands)
    return page("The command `barnabas`", _INTRODUCTION, contents, *(_section(*each) for each in commands))


def _commands(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Each command that does something by itself: its whole name, what it is for, and its parser."""
    nested = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for choices in nested:
        about = {action.dest: action.help or "" for action in choices._choices_actions}
        for word, below in choices.choices.items():
            if word not in about:
                continue  # it stands in no help text: scripts alone call it
            deeper = list(_commands(below, f"{name} {word}"))
            yield from deeper or [(f"{name} {word}", below.description or about[word], below)]


def _section(name: str, about: str, parser: argparse.ArgumentParser) -> str:
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    words = [_usage(action) for action in shown if not action.option_strings]
    required = [_names(action) for action in shown if action.option_strings and action.required]
    usage = " ".join([name, *words, *required, *(["[OPTIONS]"] if len(shown) > len(words) + len(required) else [])])
    rows = [(code(_names(action)), _meaning(action)) for action in shown]
    return "\n\n".join([f"## {name}", cell(about), f"    {usage}", *([table(_HEADS, rows)] if rows else [])])


def _usage(action: argparse.Action) -> str:
    name = _placeholder(action)
    return {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}.get(str(action.nargs), name)


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return _placeholder(action)
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {_placeholder(action)}"


def _placeholder(action: argparse.Action) -> str:
    if action.choices is not None:
        return "|".join(str(choice) for choice in action.choices)
    return str(action.metavar or action.dest.upper())


def _meaning(action: argparse.Action) -> str:
    text = cell(action.help or "")
    return f"{text}{'; needed' if action.option_strings and action.required else ''}"
