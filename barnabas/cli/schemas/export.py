"""`barnabas schemas export`: a whole registry as one file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

from barnabas.cli.command_error import CommandError
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import add_registry_and_report_form
from barnabas.cli.schemas.backup import GLOBAL_CONTEXT, Backup, Scope, all_schemas, context, count, own, report, write
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SubjectVersion


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    parser.add_argument("file", nargs="?", metavar="FILE", help="where to; standard output when left out")


def run(arguments: Namespace) -> int:
    return registry.run(_export, arguments)


def _export(client: RegistryClient, arguments: Namespace) -> int:
    backup = _collect(client)
    if arguments.file is None:
        write(backup, sys.stdout)
        return 0
    try:
        # A failure on the way leaves the file that was there.
        unfinished = Path(f"{arguments.file}.part")
        with unfinished.open("w", encoding="utf-8") as out:
            write(backup, out)
        unfinished.replace(arguments.file)
    except OSError as error:
        raise CommandError(f"{arguments.file}: {error.strerror}", "Name a file that can be written.") from None
    report(arguments, {"exported": len(backup.schemas)}, f"exported {count(backup)} to {arguments.file}")
    return 0


def _collect(client: RegistryClient) -> Backup:
    schemas = all_schemas(client)
    scopes: list[Scope] = [None, GLOBAL_CONTEXT, *_contexts(schemas)]
    scopes += list(dict.fromkeys([each.subject for each in schemas]))
    configs = {scope: found for scope in scopes if (found := own(client.config, scope)) is not None}
    modes = {scope: mode for scope in scopes if (mode := own(client.mode, scope)) is not None}
    return Backup(_ordered(schemas), configs, modes)


def _ordered(schemas: Iterable[SubjectVersion]) -> list[SubjectVersion]:
    """By id, which is about the order of their making, with each behind those that it refers to."""
    waiting = {(each.subject, each.version): each for each in sorted(schemas, key=lambda each: (each.id, each.version))}
    done: dict[tuple[str, int], SubjectVersion] = {}
    while waiting:
        stack = [next(iter(waiting))]
        while stack:
            each = waiting.get(stack[-1])
            needed = _needed_by(each, waiting, stack) if each is not None else []
            if needed:
                stack += needed
                continue
            key = stack.pop()
            if key in waiting:
                done[key] = waiting.pop(key)
    return list(done.values())


def _needed_by(
    each: SubjectVersion, waiting: dict[tuple[str, int], SubjectVersion], stack: list[tuple[str, int]]
) -> list[tuple[str, int]]:
    keys = [(_qualified(one.subject, each.subject), one.version) for one in each.schema.references]
    return [key for key in keys if key in waiting and key not in stack]


def _qualified(subject: str, referrer: str) -> str:
    """A subject without a context is in that of the schema that names it."""
    return subject if subject.startswith(":.") else context(referrer) + subject


def _contexts(schemas: Iterable[SubjectVersion]) -> list[str]:
    return sorted({context(each.subject) for each in schemas} - {""})
