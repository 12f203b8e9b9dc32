"""The contents of a registry, and the file of JSON lines that has them.

The first line says what the file is, the last how many schemas it holds, so that half a file is not taken for a whole one. Between
them stand the schemas, each behind those that it refers to, then settings and modes.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable
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


def report(arguments: Namespace, counts: dict[str, int], text: str) -> None:
    """What export writes to standard output is JSON in either form; lines for people go elsewhere."""
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, {"file": arguments.file, **counts})
    else:
        print(text, file=sys.stderr)


def all_schemas(client: RegistryClient) -> list[SubjectVersion]:
    """Every version in every context. Older registries do not say which are deleted: those that are not listed without being asked for."""
    live = {(each.subject, each.version) for each in client.schemas(ALL_CONTEXTS)}
    found = client.schemas(ALL_CONTEXTS, deleted=True)
    return [replace(each, deleted=(each.subject, each.version) not in live) for each in found]


def own(ask: Callable[[Scope], Found], scope: Scope) -> Found | None:
    """What a scope has of its own; None when it has nothing."""
    try:
        return ask(scope)
    except RegistryClientError as error:
        if error.status != _NOT_FOUND:
            raise
    return None


def context(subject: str) -> str:
    """`:.name:` of a subject outside of the default context, nothing of one inside."""
    return f"{subject[: subject.index(':', 1)]}:" if subject.startswith(":.") and ":" in subject[1:] else ""


def write(backup: Backup, out: TextIO) -> None:
    def add(**content: object) -> None:
        out.write(json.dumps(content, ensure_ascii=False) + "\n")

    add(kind="head", format=FORMAT, version=FORMAT_VERSION)
    for each in backup.schemas:
        identity = {"subject": each.subject, "version": each.version, "id": each.id}
        add(kind="schema", **identity, **each.schema.to_json(), deleted=each.deleted)
    for scope, config in backup.configs.items():
        add(kind="config", scope=scope, config=config)
    for scope, mode in backup.modes.items():
        add(kind="mode", scope=scope, mode=mode)
    add(kind="end", schemas=len(backup.schemas))


def read(path: str) -> Backup:
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


def count(backup: Backup) -> str:
    return f"{len(backup.schemas)} schema{'' if len(backup.schemas) == 1 else 's'}"
