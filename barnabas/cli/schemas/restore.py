"""`barnabas schemas import`: an exported registry brought back."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from barnabas.cli.command_error import CommandError
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import add_registry_and_report_form
from barnabas.cli.schemas.backup import Backup, Scope, all_schemas, context, count, own, read, report
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SubjectVersion

IMPORT_MODE: Final = "IMPORT"


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    parser.add_argument("file", metavar="FILE", help="what export has written")
    parser.add_argument("--merge", action="store_true", help="even if other schemas are there; what is there stays")


def run(arguments: Namespace) -> int:
    return registry.run(_restore, arguments)


def _restore(client: RegistryClient, arguments: Namespace) -> int:
    backup = read(arguments.file)
    present = {(each.subject, each.version): each for each in all_schemas(client)}
    missing = [each for each in backup.schemas if (each.subject, each.version) not in present]
    _check_target(backup, present, arguments)
    with _import_mode(client, backup):
        for each in missing:
            client.restore(each)
        _delete_again(client, missing)
    _restore_settings(client, backup, keep_present=arguments.merge)
    kept = len(backup.schemas) - len(missing)
    already = f"; {kept} were there already" if kept else ""
    text = f"imported {len(missing)} of {count(backup)} from {arguments.file}{already}"
    report(arguments, {"imported": len(missing), "present": kept}, text)
    return 0


def _check_target(backup: Backup, present: dict[tuple[str, int], SubjectVersion], arguments: Namespace) -> None:
    """What is there must be part of the backup, as when an import is repeated, or be asked to stay."""
    wanted = {(each.subject, each.version): each for each in backup.schemas}
    for key, here in present.items():
        other = wanted.get(key)
        if other is not None and (other.id, other.schema) != (here.id, here.schema):
            raise CommandError(
                f"{here.subject} version {here.version} is there with another schema or id ({here.id}, not {other.id})",
                "Nothing was imported. Import into another registry, or delete this subject for good first.",
            )
    strangers = [subject for subject, version in present if (subject, version) not in wanted]
    if strangers and not arguments.merge:
        raise CommandError(
            f"the registry is not empty: {len(strangers)} schemas are not of {arguments.file}, such as {strangers[0]}",
            "Nothing was imported. Give --merge to add to what is there.",
        )


@contextmanager
def _import_mode(client: RegistryClient, backup: Backup) -> Iterator[None]:
    """Every scope that gets schemas is in IMPORT mode meanwhile, and afterwards in the mode that it had."""
    contexts = {context(each.subject) or None for each in backup.schemas}
    before: dict[Scope, str | None] = {scope: own(client.mode, scope) for scope in contexts}
    for subject in {each.subject for each in backup.schemas}:
        mode = own(client.mode, subject)
        if mode is not None:
            before[subject] = mode
    changed: list[Scope] = []
    try:
        for scope in before:
            client.set_mode(scope, IMPORT_MODE, force=True)
            changed.append(scope)
        yield
    finally:
        for scope in changed:
            former = before[scope]
            if former is None:
                client.delete_mode(scope)
            else:
                client.set_mode(scope, former, force=True)


def _delete_again(client: RegistryClient, schemas: Iterable[SubjectVersion]) -> None:
    """What was deleted but not for good is so again; what refers to others goes before them."""
    for each in reversed([each for each in schemas if each.deleted]):
        client.delete(each.subject, each.version)


def _restore_settings(client: RegistryClient, backup: Backup, *, keep_present: bool) -> None:
    for scope, config in backup.configs.items():
        if not (keep_present and own(client.config, scope) is not None):
            body = {
                ("compatibility" if name == "compatibilityLevel" else name): value for name, value in config.items()
            }
            client.set_config(scope, body)
    for scope, mode in backup.modes.items():
        if not (keep_present and own(client.mode, scope) is not None) and mode != own(client.mode, scope):
            client.set_mode(scope, mode, force=True)
