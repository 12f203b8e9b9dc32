"""The registry that the commands speak to, what to do when it refuses, and schemas as people name them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.cli.schemas.arguments import USER_VARIABLE, registry_url
from barnabas.cli.service_address import restart_hint
from barnabas.kernel.serdes.registry_client import LATEST, RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, Reference, SchemaText, SubjectVersion
from barnabas.kernel.serdes.serdes_error import SerdesError

TYPES_BY_SUFFIX: Final = {".avsc": AVRO, ".json": JSON, ".proto": PROTOBUF}

_INCOMPATIBLE: Final = "`barnabas schemas check FILE --subject SUBJECT` shows what breaks, and what would help."
_HINTS: Final[Mapping[int, str]] = {
    40401: "`barnabas schemas list` shows the subjects there are.",
    40402: "`barnabas schemas list --versions` shows the versions there are.",
    40403: "`barnabas schemas list --versions` shows the ids there are.",
    409: _INCOMPATIBLE,
    40901: _INCOMPATIBLE,
    42206: "Delete what refers to it first.",
    50003: "The registry has no leader at the moment: try again, then look at its log.",
    50004: "The registry has no leader at the moment: try again, then look at its log.",
}

NOT_FOUND: Final = 404
SUBJECT_NOT_FOUND: Final = 40401
INVALID_SCHEMA: Final = 42201

Work = Callable[[RegistryClient, Namespace], int]


class SchemaName(NamedTuple):
    """What `SUBJECT:VERSION` or a number means."""

    subject: str | None
    version: str | None
    id: int | None

    @classmethod
    def parse(cls, text: str) -> SchemaName:
        if not text.strip():
            raise CommandError("the name of a schema is empty", "Write SUBJECT, SUBJECT:VERSION or an id.", 2)
        if text.isdecimal():
            return cls(None, None, int(text))
        subject, colon, version = text.rpartition(":")
        if colon and subject and (version.isdecimal() or version == LATEST):
            return cls(subject, version, None)
        return cls(text, None, None)


def run(work: Work, arguments: Namespace, trouble_status: int = 1) -> int:
    """Do the work against the registry that the command line names; `trouble_status` is for what the registry refuses."""
    try:
        with client_of(registry_url(arguments)[0]) as client:
            return work(client, arguments)
    except RegistryClientError as error:
        raise explained(error, trouble_status, registry_url(arguments)[0]) from None
    except SerdesError as error:
        raise CommandError(str(error), status=trouble_status) from None


def client_of(url: str, timeout_ms: int | None = None) -> RegistryClient:
    user_info = os.environ.get(USER_VARIABLE)
    return RegistryClient(url, user_info) if timeout_ms is None else RegistryClient(url, user_info, timeout_ms)


def explained(error: RegistryClientError, status: int = 1, url: str = "") -> CommandError:
    hint = _HINTS.get(error.code or 0, "")
    if error.status is None:
        start = "Start one with `barnabas up`, or name another with --registry URL (or SCHEMA_REGISTRY_URL)."
        hint = restart_hint(url) or start
        status = EXIT_UNREACHABLE
    elif error.code == NOT_FOUND:
        # The codes of what a registry does not find are its own.
        hint = "Is --registry right? This answers as something else would."
    elif error.status in (401, 403):
        hint = f"Give a name and password in the URL, or in {USER_VARIABLE}."
    return CommandError(error.message, hint, status)


def invalid(path: str, error: RegistryClientError) -> CommandError:
    """A file that the registry cannot read. Before the last `details:` it repeats what it was sent."""
    return CommandError(f"{path} is not a valid schema: {error.message.rpartition('details: ')[2]}", status=2)


def find(client: RegistryClient, text: str) -> SubjectVersion | SchemaText:
    """A schema by the words of a command line: without a subject when only an id was named."""
    named = SchemaName.parse(text)
    if named.id is not None:
        return client.schema(named.id)
    try:
        return client.version(named.subject or "", named.version or LATEST)
    except RegistryClientError as error:
        subject, _, version = text.rpartition(":")
        is_context = subject.startswith(":.") and ":" not in subject[1:]
        if error.code != SUBJECT_NOT_FOUND or named.version is not None or not subject or is_context:
            raise
        raise CommandError(
            f"there is no subject {text!r}, and {version!r} is no version of {subject!r}",
            f"A version is a number, or {LATEST}. {_HINTS[SUBJECT_NOT_FOUND]}",
        ) from None


def find_or_read(client: RegistryClient, text: str) -> SubjectVersion | SchemaText:
    """A schema that is registered, or the one in a file: what looks like a path is one, whether or not it is there."""
    if is_path(text):
        return read_schema(text)
    try:
        return find(client, text)
    except RegistryClientError as error:
        if error.code != SUBJECT_NOT_FOUND:
            raise
        raise CommandError(f"{text} is neither a file nor a subject", _HINTS[SUBJECT_NOT_FOUND]) from None


def is_path(text: str) -> bool:
    """Subjects may look so, too: with `:latest` behind it, a name is that of a subject."""
    named_as_subject = SchemaName.parse(text).version is not None
    return not named_as_subject and ("/" in text or Path(text).suffix in TYPES_BY_SUFFIX)


def read_schema(path: str, kind: str | None = None, references: Iterable[str] = ()) -> SchemaText:
    """The schema in a file; without a type, the file's suffix decides."""
    found = kind or TYPES_BY_SUFFIX.get(Path(path).suffix)
    if found is None:
        known = ", ".join(TYPES_BY_SUFFIX)
        raise CommandError(f"the type of {path} is unknown from its name", f"Use {known}, or give --type.", 2)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", "Name a file that can be read.", 2) from None
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not a text in UTF-8", "Name a file that holds a schema.", 2) from None
    return SchemaText(text, found, tuple(_reference(word) for word in references))


def _reference(word: str) -> Reference:
    name, equals, place = word.partition("=")
    subject, colon, version = place.rpartition(":")
    if not (equals and colon and name and subject and version.isdecimal()):
        raise CommandError(
            f"--reference {word!r} is not of the form NAME=SUBJECT:VERSION", "Example: other.proto=other-value:1", 2
        )
    return Reference(name, subject, int(version))
