"""Schemas: which version a subject has, and whether the registry would take another."""

from __future__ import annotations

import difflib
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from barnabas.cli.apply.desired_state import WantedSchema
from barnabas.cli.apply.plan import SCHEMA, Action, Change, Member, refused
from barnabas.cli.command_error import CommandError
from barnabas.cli.schemas import compatibility, registry
from barnabas.cli.schemas.formatting import comparable
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import Reference, SchemaText, SubjectVersion
from barnabas.kernel.serdes.serdes_error import SerdesError

LEVEL: Final = "compatibilityLevel"
ANYTHING: Final = "NONE"
_NO_SUCH_SCHEMA: Final = 40403
_NO_LEVEL_HERE: Final = 40408
_NOT_FOUND: Final = 404


class _Objection(NamedTuple):
    """Why the registry would not take a schema, in its words. `is_final` is one that no level of compatibility changes."""

    reason: str
    is_final: bool


class Schemas:
    """The subjects of a registry."""

    def __init__(self, client: RegistryClient) -> None:
        self._client = client

    def plan(self, wanted: Sequence[WantedSchema]) -> list[Change]:
        pending: set[str] = set()
        changes = []
        for schema in wanted:
            with _explained():
                change = self._change(schema, pending)
            if change.action is not Action.KEEP:
                pending.add(schema.subject)
            changes.append(change)
        return changes

    def removals(self, subjects: Sequence[str]) -> list[Change]:
        """As the registry deletes without more words: softly, so that records can still be read."""
        with _explained():
            there = set(self._client.subjects()) if subjects else set()
        return [
            Change(SCHEMA, name, Action.DELETE, note="softly: its ids can still be read", work=self._deletion(name))
            for name in subjects
            if name in there
        ]

    def _deletion(self, subject: str) -> Callable[[], None]:
        def work() -> None:
            with _explained():
                self._client.delete(subject)

        return work

    def _change(self, wanted: WantedSchema, pending: set[str]) -> Change:
        own_level, level = self._levels(wanted.subject)
        members: list[Member] = []
        if wanted.compatibility not in (None, own_level):
            members.append(Member("compatibility", own_level or f"{level} (of the registry)", wanted.compatibility))
        waiting = sorted({each.subject for each in wanted.references} & pending)
        latest = self._latest(wanted.subject)
        if latest is None:
            members = [Member("type", None, wanted.type), *members]
        note = ""
        if waiting:
            # What it refers to is not there, or not as it will be.
            note = f"checked when {', '.join(waiting)} is registered"
            schema = SchemaText(wanted.text, wanted.type)
        else:
            schema = self._schema(wanted)
            found = None if latest is None else self._lookup(wanted, schema)
            if found is not None and latest is not None:
                return self._same(wanted, found, latest, members)
            objection = self._objection(wanted, schema, level)
            if objection and (objection.is_final or wanted.compatibility in (None, level)):
                reason = f"{wanted.place}: {objection.reason}"
                return refused(SCHEMA, wanted.subject, reason, members, is_new=latest is None)
            if objection and wanted.compatibility != ANYTHING:
                # The registry compares with the level that it has, and the file sets another.
                note = f"checked once the level is {wanted.compatibility}"
        action = Action.CREATE if latest is None else Action.CHANGE
        work = lambda: self._register(wanted, own_level)  # noqa: E731
        return Change(SCHEMA, wanted.subject, action, tuple(members), _difference(latest, schema), note, work)

    def _same(
        self, wanted: WantedSchema, found: SubjectVersion, latest: SubjectVersion, members: list[Member]
    ) -> Change:
        note = (
            "" if found.version == latest.version else f"it is version {found.version}; {latest.version} is the newest"
        )
        if not members:
            return Change(SCHEMA, wanted.subject, Action.KEEP, note=note)

        def work() -> None:
            with _explained():
                self._client.set_config(wanted.subject, {"compatibility": wanted.compatibility})

        return Change(SCHEMA, wanted.subject, Action.CHANGE, tuple(members), note=note, work=work)

    def _register(self, wanted: WantedSchema, own_level: str | None) -> None:
        """With the level first, by which the registry judges. When it refuses the schema, the level is again what it was."""
        is_new_level = wanted.compatibility not in (None, own_level)
        with _explained():
            if is_new_level:
                self._client.set_config(wanted.subject, {"compatibility": wanted.compatibility})
            try:
                self._client.register(wanted.subject, self._schema(wanted), normalize=wanted.normalize)
            except RegistryClientError:
                if is_new_level and own_level is None:
                    self._client.delete_config(wanted.subject)
                elif is_new_level:
                    self._client.set_config(wanted.subject, {"compatibility": own_level})
                raise

    def _schema(self, wanted: WantedSchema) -> SchemaText:
        references = [
            Reference(each.name, each.subject, each.version or self._client.version(each.subject).version)
            for each in wanted.references
        ]
        return SchemaText(wanted.text, wanted.type, tuple(references))

    def _levels(self, subject: str) -> tuple[str | None, str]:
        """The subject's own level, and the one in force."""
        try:
            own: dict[str, Any] = self._client.config(subject)
        except RegistryClientError as error:
            if error.code not in (_NO_LEVEL_HERE, registry.SUBJECT_NOT_FOUND):
                raise
            own = {}
        if LEVEL in own:
            return own[LEVEL], own[LEVEL]
        return None, self._client.config(subject, inherited=True)[LEVEL]

    def _latest(self, subject: str) -> SubjectVersion | None:
        try:
            return self._client.version(subject)
        except RegistryClientError as error:
            if error.status != _NOT_FOUND:
                raise
            return None

    def _lookup(self, wanted: WantedSchema, schema: SchemaText) -> SubjectVersion | None:
        try:
            return self._client.lookup(wanted.subject, schema, normalize=wanted.normalize)
        except RegistryClientError as error:
            # A schema that it cannot read is explained better by the check of compatibility.
            if error.code not in (_NO_SUCH_SCHEMA, registry.SUBJECT_NOT_FOUND, registry.INVALID_SCHEMA):
                raise
            return None

    def _objection(self, wanted: WantedSchema, schema: SchemaText, level: str) -> _Objection | None:
        arguments = Namespace(subject=wanted.subject, normalize=wanted.normalize, file=f"schema {wanted.subject!r}")
        try:
            answer = compatibility.check(self._client, arguments, schema)
        except CommandError as error:
            return _Objection(str(error), is_final=True)
        if answer["is_compatible"]:
            return None
        reasons = [line for each in answer.get("differences") or () for line in _reasons(each, wanted.subject)]
        reasons = reasons or [str(message) for message in answer.get("messages") or ()]
        return _Objection("\n".join([f"not compatible ({level})", *reasons]), is_final=False)


def _reasons(difference: Mapping[str, Any], subject: str) -> list[str]:
    """A line for what is wrong, and one for each sentence that the registry has about it."""
    parts = {part: difference.get(part) for part in compatibility.SENTENCES}
    sentences = [
        f"  {part}: {str(text).replace(compatibility.SUBJECT, subject)}" for part, text in parts.items() if text
    ]
    return [f"{difference.get('rule')} at {difference.get('path')}", *sentences]


def _difference(latest: SubjectVersion | None, schema: SchemaText) -> tuple[str, ...]:
    if latest is None:
        return ()
    old, new = comparable(latest.schema).splitlines(), comparable(schema).splitlines()
    return tuple(
        [line for line in difflib.unified_diff(old, new, lineterm="", n=1) if not line.startswith(("---", "+++", "@@"))]
    )


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except RegistryClientError as error:
        raise registry.explained(error) from None
    except SerdesError as error:
        raise CommandError(str(error)) from None
