"""`barnabas completion SHELL`: a script that completes commands, flags, and names of topics, groups, subjects and connectors."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form, command_parser
from barnabas.cli.service_address import address_of

SHELLS: Final = ("bash", "zsh", "fish")
NAMES: Final = ("topics", "groups", "subjects", "connectors")
# How long a shell may wait for names when Tab is pressed.
NAMES_TIMEOUT_S: Final = 1.0


class Completion(NamedTuple):
    """A command, as the words that lead to it, and what may follow."""

    path: tuple[str, ...]
    words: tuple[str, ...]
    flags: tuple[str, ...]
    names: str | None


def run(arguments: argparse.Namespace) -> int:
    if arguments.shell == "names":
        return _print_names(arguments.kind, arguments.output)
    completions = list(walk(command_parser().load_all()))
    scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    script = scripts[arguments.shell](completions)
    output.report(arguments.output, {"shell": arguments.shell, "script": script}, script.removesuffix("\n"))
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print a completion script. bash: source <(barnabas completion bash); zsh: the same with zsh; "
        "fish: barnabas completion fish | source"
    )
    shells = parser.add_subparsers(dest="shell", metavar="SHELL", required=True)
    for shell in SHELLS:
        add_report_form(shells.add_parser(shell, help=f"for {shell}", description=f"Print the script for {shell}."))
    # For the scripts alone, so it stands in no help text.
    names = shells.add_parser("names")
    names.add_argument("kind", choices=NAMES)
    add_report_form(names)


def walk(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Completion]:
    """Every command and what may follow it."""
    words: list[str] = []
    flags: list[str] = []
    choices: list[str] = []
    verbs: list[str] = []
    names = None
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, one in action.choices.items():
                if path != ("completion",) or name in SHELLS:
                    words.append(name)
                    yield from walk(one, (*path, name))
        elif action.option_strings:
            if action.help != argparse.SUPPRESS:
                flags += [flag for flag in action.option_strings if flag.startswith("--")]
        elif (kind := _kind_of_name(action)) in NAMES:
            names = kind
            verbs = list(choices)
        elif action.choices:
            choices += [str(choice) for choice in action.choices]
    yield Completion(path, (*words, *choices), tuple(flags), None if verbs else names)
    # A name that stands behind one of a few words is offered there.
    yield from (Completion((*path, verb), (), tuple(flags), names) for verb in verbs)


def _kind_of_name(action: argparse.Action) -> str:
    """What an argument names, in the plural: its own name says it, or what the help text calls it."""
    name = action.dest if action.dest != "name" else str(action.metavar).lower()
    return f"{name.rstrip('s')}s"


def _cases(completions: list[Completion]) -> str:
    """The branches of a shell's case over the words so far."""
    lines = []
    for completion in completions:
        offered = " ".join([*completion.words, *completion.flags])
        asked = f' names="{completion.names}";' if completion.names else ""
        lines.append(f'    "{" ".join(completion.path)}") offered="{offered}";{asked} ;;')
    return "\n".join(lines)


_BASH: Final = """\
# Completion of barnabas for bash.
_barnabas() {
  local current="${COMP_WORDS[COMP_CWORD]}" path="" names="" offered="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " $(_barnabas_words "$path") " in *" $word "*) path="${path:+$path }$word" ;; esac
  done
  offered="$(_barnabas_words "$path")"
  names="$(_barnabas_names "$path")"
  if [[ -n "$names" && "$current" != -* ]]; then
    offered="$offered $(barnabas completion names "$names" 2>/dev/null)"
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
_barnabas_words() {
  local offered="" names=""
  case "$1" in
@CASES@
  esac
  echo "$offered"
}
_barnabas_names() {
  local offered="" names=""
  case "$1" in
@CASES@
  esac
  echo "$names"
}
"""


def _bash(completions: list[Completion]) -> str:
    return _BASH.replace("@CASES@", _cases(completions)) + "complete -F _barnabas barnabas\n"


_ZSH: Final = """\
#compdef barnabas
# Completion of barnabas for zsh.
_barnabas() {
  local current_path="" names="" offered="" word
  for word in "${(@)words[2,CURRENT-1]}"; do
    _barnabas_lookup "$current_path"
    if [[ " $offered " == *" $word "* ]]; then current_path="${current_path:+$current_path }$word"; fi
  done
  _barnabas_lookup "$current_path"
  compadd -- ${=offered}
  if [[ -n "$names" ]]; then compadd -- ${(f)"$(barnabas completion names $names 2>/dev/null)"}; fi
}
_barnabas_lookup() {
  offered="" names=""
  case "$1" in
@CASES@
  esac
}
"""


def _zsh(completions: list[Completion]) -> str:
    return _ZSH.replace("@CASES@", _cases(completions)) + "compdef _barnabas barnabas\n"


def _fish(completions: list[Completion]) -> str:
    lines = ["# Completion of barnabas for fish.", "complete -c barnabas -f"]
    for completion in completions:
        seen = "; and ".join([f"__fish_seen_subcommand_from {word}" for word in completion.path])
        condition = seen or "__fish_use_subcommand"
        if completion.words:
            not_yet = f"; and not __fish_seen_subcommand_from {' '.join(completion.words)}" if seen else ""
            lines.append(f"complete -c barnabas -n '{condition}{not_yet}' -a '{' '.join(completion.words)}'")
        lines += [f"complete -c barnabas -n '{condition}' -l {flag[2:]}" for flag in completion.flags]
        if completion.names:
            lines.append(
                f"complete -c barnabas -n '{condition}' -a '(barnabas completion names {completion.names} 2>/dev/null)'"
            )
    return "\n".join(lines) + "\n"


def _print_names(kind: str, form: str) -> int:
    """Names for Tab; nothing, and no complaint, where no service answers."""
    ask = {"connectors": _connectors, "subjects": _subjects}.get(kind, lambda: _names_in_cluster(kind))
    names = ask()
    if names is None:
        return 1
    output.report(form, sorted(names), *sorted(names))
    return 0


def _subjects() -> list[str] | None:
    from barnabas.cli.schemas.registry import client_of
    from barnabas.kernel.serdes.registry_transport import RegistryClientError

    try:
        with client_of(address_of("registry"), int(NAMES_TIMEOUT_S * 1000)) as client:
            return client.subjects()
    except RegistryClientError:
        return None


def _connectors() -> list[str] | None:
    from barnabas.cli.command_error import CommandError
    from barnabas.cli.connectors.client import ConnectClient

    try:
        found: list[str] = ConnectClient(address_of("connect"), NAMES_TIMEOUT_S).call("GET", "/connectors")
    except CommandError:
        return None
    return found


def _names_in_cluster(kind: str) -> list[str] | None:
    import asyncio

    from barnabas.cli.cluster.internal_topics import is_internal
    from barnabas.client.admin.session import Session
    from barnabas.client.client_error import ClientError
    from barnabas.wire.errors import KafkaError

    async def ask() -> list[str]:
        async with Session.open(address_of("broker")) as session:
            if kind == "topics":
                return [topic.name or "" for topic in (await session.metadata()).topics if not is_internal(topic)]
            from barnabas.client.admin.group_admin import GroupAdmin

            return [group.group_id for group in await GroupAdmin(session).list_groups()]

    try:
        return asyncio.run(asyncio.wait_for(ask(), NAMES_TIMEOUT_S))
    except (KafkaError, ClientError, TimeoutError):
        return None
