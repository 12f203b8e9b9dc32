"""Deleting versions and subjects: softly, so that data stays readable, or for good."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable

from schema_registry.errors import (
    ContextNotEmpty,
    StillReferenced,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from schema_registry.operations.register import Record
from schema_registry.parsing import LATEST
from schema_registry.scopes import Scopes
from schema_registry.state.state import State
from schema_registry.state.version import Version
from schema_registry.store.keys import DEFAULT_TENANT, ConfigKey, ContextKey, DeleteSubjectKey, ModeKey, SchemaKey
from schema_registry.store.values import DeleteSubjectValue, SchemaValue
from schema_registry.subject import Subject


class Deletion:
    """Decides about deletions; changes nothing."""

    def __init__(self, state: State, scopes: Scopes) -> None:
        self._state = state
        self._scopes = scopes

    def version(self, subject: str, number: int, *, permanent: bool) -> tuple[int, list[Record]]:
        """The number of the version that goes, and the records that make it go."""
        version = self._wanted(subject, number)
        if version.deleted and not permanent:
            raise VersionSoftDeleted(subject, version.number)
        self._scopes.check_writable(subject)
        if self._state.referrers(subject, version.number, deleted=permanent):
            raise StillReferenced(subject, version.number)
        if not permanent:
            return version.number, [_soft_deleted(version)]
        if not version.deleted:
            raise VersionNotSoftDeleted(subject, version.number)
        records: list[Record] = [(SchemaKey(subject, version.number), None)]
        if all(other.number == version.number for other in self._state.versions(subject)):
            records += self._leftovers(subject)
        return version.number, records

    def subject(self, subject: str, *, permanent: bool) -> tuple[list[int], list[Record]]:
        """The numbers of the versions that go, and the records that make them go."""
        if not self._state.has_subjects(subject, deleted=True):
            raise SubjectNotFound(subject)
        if not permanent and not self._state.has_subjects(subject, deleted=False):
            raise SubjectSoftDeleted(subject)
        self._scopes.check_writable(subject)
        versions = list(self._state.versions(subject)) if permanent else self._state.live_versions(subject)
        for version in versions:
            referring = self._state.referring_subjects(subject, version.number, deleted=permanent)
            if referring - {subject}:
                raise StillReferenced(subject, version.number)
            if permanent and not version.deleted:
                raise SubjectNotSoftDeleted(subject)
        numbers = [version.number for version in versions]
        if not permanent:
            value = DeleteSubjectValue(subject, max(numbers, default=0))
            return numbers, [(DeleteSubjectKey(subject), value)]
        # The highest first: a version may refer to an older one of its own subject.
        return numbers, [*_removed(subject, reversed(numbers)), *self._leftovers(subject)]

    def context(self, prefix: str) -> list[Record]:
        """The records that make an empty context go."""
        if self._state.has_subjects(prefix, deleted=True):
            raise ContextNotEmpty(prefix)
        return [(ContextKey(DEFAULT_TENANT, Subject.parse(prefix).context), None)]

    def _wanted(self, subject: str, number: int) -> Version:
        version = (
            self._state.latest(subject) if number == LATEST else self._state.version(subject, number, deleted=True)
        )
        if version is not None:
            return version
        if not self._state.has_subjects(subject, deleted=True):
            raise SubjectNotFound(subject)
        raise VersionNotFound(number)

    def _leftovers(self, subject: str) -> Iterable[Record]:
        """What a subject without versions needs no more. Its mark of deletion would otherwise slow every start down."""
        if self._state.modes.at(subject) is not None:
            yield ModeKey(subject), None
        if self._state.configs.at(subject) is not None:
            yield ConfigKey(subject), None
        yield DeleteSubjectKey(subject), None


def _removed(subject: str, numbers: Iterable[int]) -> list[Record]:
    return [(SchemaKey(subject, number), None) for number in numbers]


def _soft_deleted(version: Version) -> Record:
    md5 = b64encode(version.content.digest).decode()
    value = SchemaValue(version.subject, version.number, version.id, version.schema, True, md5, version.further)
    return SchemaKey(version.subject, version.number), value
