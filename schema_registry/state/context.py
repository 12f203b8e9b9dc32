"""The schemas of one context: its subjects with their versions, and its ids with what they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from schema_registry.schema import SCHEMA_TYPES, Schema
from schema_registry.state.version import Content, Version
from schema_registry.store.values import SchemaValue


class Context:
    """Ids are counted for each context by itself."""

    __slots__ = ("_contents", "_ids_by_digest", "_subjects", "_versions_by_id", "highest_id", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.highest_id = 0
        self._subjects: dict[str, dict[int, Version]] = {}
        self._contents: dict[int, Content] = {}
        self._ids_by_digest: dict[tuple[str, bytes], int] = {}
        self._versions_by_id: dict[int, dict[tuple[str, int], None]] = {}

    def put(self, value: SchemaValue, written_ms: int) -> bool:
        """Take a version; False when the id already stands for another text, so that the first one stays."""
        subject, number, schema_id, schema = value.subject, value.version, value.id, value.schema
        content = self._contents.get(schema_id)
        if content is not None and content.schema.text != schema.text:
            return False
        if content is None or content.schema != schema:
            content = Content(schema, schema.digest())
            self._contents[schema_id] = content
        self.highest_id = max(self.highest_id, schema_id)
        versions = self._subjects.setdefault(subject, {})
        in_order = number in versions or number > next(reversed(versions), 0)
        former = versions.get(number)
        if former is not None and former.id != schema_id:
            self._forget(former)
        versions[number] = Version(subject, number, schema_id, content, value.deleted, written_ms, value.further)
        if not in_order:
            self._subjects[subject] = dict(sorted(versions.items()))
        self._ids_by_digest[schema.schema_type, content.digest] = schema_id
        self._versions_by_id.setdefault(schema_id, {})[(subject, number)] = None
        return True

    def remove(self, subject: str, number: int) -> Version | None:
        """Drop a version for good; its id stays reserved, and its content goes with the last version that has it."""
        versions = self._subjects.get(subject, {})
        version = versions.pop(number, None)
        if version is None:
            return None
        if not versions:
            del self._subjects[subject]
        self._forget(version)
        return version

    def soft_delete(self, subject: str, up_to: int) -> None:
        versions = self._subjects.get(subject, {})
        for number, version in versions.items():
            if number <= up_to and not version.deleted:
                versions[number] = replace(version, deleted=True)

    def content(self, schema_id: int) -> Content | None:
        return self._contents.get(schema_id)

    def id_of(self, schema: Schema) -> int | None:
        """The id of a content. The digest alone does not tell formats apart: `"string"` is a schema of two of them."""
        return self._ids_by_digest.get((schema.schema_type, schema.digest()))

    def id_of_digest(self, digest: bytes) -> int | None:
        """The id that a GUID means."""
        found = (self._ids_by_digest.get((schema_type, digest)) for schema_type in SCHEMA_TYPES)
        return next((schema_id for schema_id in found if schema_id is not None), None)

    def know_also(self, schema: Schema, schema_id: int) -> None:
        """Find an id by the canonical form of its text, too, where the stored text is another."""
        self._ids_by_digest.setdefault((schema.schema_type, schema.digest()), schema_id)

    def contents(self) -> list[tuple[int, Content]]:
        return list(self._contents.items())

    def versions(self, subject: str) -> Iterable[Version]:
        """All versions of a subject in their order, deleted ones too."""
        return self._subjects.get(subject, {}).values()

    def version(self, subject: str, number: int) -> Version | None:
        return self._subjects.get(subject, {}).get(number)

    def versions_of_id(self, schema_id: int) -> Iterator[Version]:
        """Every version that has the id, deleted ones too, by subject and version."""
        for subject, number in sorted(self._versions_by_id.get(schema_id, {})):
            yield self._subjects[subject][number]

    def version_of_id(self, schema_id: int, subject: str) -> Version | None:
        """The version of a subject that has the id: the newest living one, else the newest."""
        found = [version for version in self.versions_of_id(schema_id) if version.subject == subject]
        return max(found, key=lambda version: (not version.deleted, version.number), default=None)

    def subjects(self) -> Iterable[str]:
        return self._subjects

    def has_subject(self, subject: str, *, deleted: bool) -> bool:
        return any(deleted or not version.deleted for version in self.versions(subject))

    def _forget(self, version: Version) -> None:
        places = self._versions_by_id[version.id]
        del places[(version.subject, version.number)]
        if not places:
            del self._versions_by_id[version.id]
            del self._contents[version.id]
            key = (version.schema.schema_type, version.content.digest)
            if self._ids_by_digest.get(key) == version.id:
                del self._ids_by_digest[key]
