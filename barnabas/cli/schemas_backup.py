"""`barnabas schemas export` and `import`: a whole registry as one file of JSON lines.

The first line says what the file is, the last how many schemas it holds, so that half a file is not taken for a whole one. Between
them stand the schemas, each behind those that it refers to, then settings and modes.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.kernel.serdes.registry_client import ALL_CONTEXTS, RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SubjectVersion

FORMAT: Final = "barnabas-schemas"
FORMAT_VERSION: Final = 1
IMPORT_MODE: Final = "IMPORT"
GLOBAL_CONTEXT: Final = ":.__GLOBAL:"
_NOT_FOUND: Final = 404

# Subject or context; None is the default context.
Scope = str | None
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Backup:
    """What a registry holds."""

    schemas: list[SubjectVersion] = field(default_factory=list)
    configs: dict[Scope, dict[str, Any]] = field(default_factory=dict)
    modes: dict[Scope, str] = field(default_factory=dict)


def export(client: RegistryClient, arguments: Namespace) -> int:
    backup = _collect(client)
    if arguments.file is None:
        _write(backup, sys.stdout)
        return 0
    try:
        # A failure on the way leaves the file that was there.
        unfinished = Path(f"{arguments.file}.part")
        with unfinished.open("w", encoding="utf-8") as out:
            _write(backup, out)
        unfinished.replace(arguments.file)
    except OSError as error:
        raise CommandError(f"{arguments.file}: {error.strerror}", "Name a file that can be written.") from None
    _report(arguments, {"exported": len(backup.schemas)}, f"exported {_count(backup)} to {arguments.file}")
    return 0


def restore(client: RegistryClient, arguments: Namespace) -> int:
    backup = _read(arguments.file)
    present = {(each.subject, each.version): each for each in _all_schemas(client)}
    missing = [each for each in backup.schemas if (each.subject, each.version) not in present]
    _check_target(backup, present, arguments)
    with _import_mode(client, backup):
        for each in missing:
            client.restore(each)
        _delete_again(client, missing)
    _restore_settings(client, backup, keep_present=arguments.merge)
    kept = len(backup.schemas) - len(missing)
    already = f"; {kept} were there already" if kept else ""
    text = f"imported {len(missing)} of {_count(backup)} from {arguments.file}{already}"
    _report(arguments, {"imported": len(missing), "present": kept}, text)
    return 0


def _report(arguments: Namespace, counts: dict[str, int], text: str) -> None:
    """What export writes to standard output is JSON in either form; lines for people go elsewhere."""
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, {"file": arguments.file, **counts})
    else:
        print(text, file=sys.stderr)


def _collect(client: RegistryClient) -> Backup:
    schemas = _all_schemas(client)
    scopes: list[Scope] = [None, GLOBAL_CONTEXT, *_contexts(schemas)]
    scopes += list(dict.fromkeys([each.subject for each in schemas]))
    configs = {scope: found for scope in scopes if (found := _own(client.config, scope)) is not None}
    modes = {scope: mode for scope in scopes if (mode := _own(client.mode, scope)) is not None}
    return Backup(_ordered(schemas), configs, modes)


def _all_schemas(client: RegistryClient) -> list[SubjectVersion]:
    """Every version in every context. Older registries do not say which are deleted: those that are not listed without being asked for."""
    live = {(each.subject, each.version) for each in client.schemas(ALL_CONTEXTS)}
    found = client.schemas(ALL_CONTEXTS, deleted=True)
    return [replace(each, deleted=(each.subject, each.version) not in live) for each in found]


def _own(ask: Callable[[Scope], Found], scope: Scope) -> Found | None:
    """What a scope has of its own; None when it has nothing."""
    try:
        return ask(scope)
    except RegistryClientError as error:
        if error.status != _NOT_FOUND:
            raise
    return None


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
    return subject if subject.startswith(":.") else _context(referrer) + subject


def _context(subject: str) -> str:
    """`:.name:` of a subject outside of the default context, nothing of one inside."""
    return f"{subject[: subject.index(':', 1)]}:" if subject.startswith(":.") and ":" in subject[1:] else ""


def _contexts(schemas: Iterable[SubjectVersion]) -> list[str]:
    return sorted({_context(each.subject) for each in schemas} - {""})


def _write(backup: Backup, out: TextIO) -> None:
    def write(**content: object) -> None:
        out.write(json.dumps(content, ensure_ascii=False) + "\n")

    write(kind="head", format=FORMAT, version=FORMAT_VERSION)
    for each in backup.schemas:
        place = {"subject": each.subject, "version": each.version, "id": each.id}
        write(kind="schema", **place, **each.schema.to_json(), deleted=each.deleted)
    for scope, config in backup.configs.items():
        write(kind="config", scope=scope, config=config)
    for scope, mode in backup.modes.items():
        write(kind="mode", scope=scope, mode=mode)
    write(kind="end", schemas=len(backup.schemas))


def _read(path: str) -> Backup:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", "Name a file that can be read.", 2) from None
    except UnicodeDecodeError:
        lines = [""]
    backup = Backup()
    kind = None
    for number, line in enumerate(lines, start=1):
        try:
            content = json.loads(line)
            kind = content["kind"]
            _take(backup, kind, content)
        except (ValueError, KeyError, TypeError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise CommandError(
                f"{path} line {number}: {reason}", "Name a file that `barnabas schemas export` wrote.", 2
            ) from None
    if kind != "end":
        raise CommandError(f"{path} is cut off: its last line is missing", "Export the registry again.", 2)
    return backup


def _take(backup: Backup, kind: str, content: dict[str, Any]) -> None:
    if kind == "schema":
        backup.schemas.append(SubjectVersion.of(content))
    elif kind == "config":
        backup.configs[content["scope"]] = content["config"]
    elif kind == "mode":
        backup.modes[content["scope"]] = content["mode"]
    elif kind == "head":
        if (content["format"], content["version"]) != (FORMAT, FORMAT_VERSION):
            raise ValueError(f"the format is {content['format']} {content['version']}, not {FORMAT} {FORMAT_VERSION}")
    elif kind == "end":
        if content["schemas"] != len(backup.schemas):
            raise ValueError(f"{len(backup.schemas)} schemas are there of {content['schemas']}")
    else:
        raise ValueError(f"{kind!r} is nothing that a backup holds")


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
    contexts = {_context(each.subject) or None for each in backup.schemas}
    before: dict[Scope, str | None] = {scope: _own(client.mode, scope) for scope in contexts}
    for subject in {each.subject for each in backup.schemas}:
        own = _own(client.mode, subject)
        if own is not None:
            before[subject] = own
    changed: list[Scope] = []
    try:
        for scope in before:
            client.set_mode(scope, IMPORT_MODE, force=True)
            changed.append(scope)
        yield
    finally:
        for scope in changed:
            mode = before[scope]
            if mode is None:
                client.delete_mode(scope)
            else:
                client.set_mode(scope, mode, force=True)


def _delete_again(client: RegistryClient, schemas: Iterable[SubjectVersion]) -> None:
    """What was deleted but not for good is so again; what refers to others goes before them."""
    for each in reversed([each for each in schemas if each.deleted]):
        client.delete(each.subject, each.version)


def _restore_settings(client: RegistryClient, backup: Backup, *, keep_present: bool) -> None:
    for scope, config in backup.configs.items():
        if not (keep_present and _own(client.config, scope) is not None):
            body = {
                ("compatibility" if name == "compatibilityLevel" else name): value for name, value in config.items()
            }
            client.set_config(scope, body)
    for scope, mode in backup.modes.items():
        if not (keep_present and _own(client.mode, scope) is not None) and mode != _own(client.mode, scope):
            client.set_mode(scope, mode, force=True)


def _count(backup: Backup) -> str:
    return f"{len(backup.schemas)} schema{'' if len(backup.schemas) == 1 else 's'}"
