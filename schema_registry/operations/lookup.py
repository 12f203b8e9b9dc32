"""Finding a schema that is already registered under a subject."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from schema_registry.config import Config
from schema_registry.errors import SchemaRefused
from schema_registry.formats.parsed_schema import ParsedSchema
from schema_registry.parsing import Parser
from schema_registry.schema import VERSION_PROPERTY, Metadata, Schema
from schema_registry.scopes import Scopes
from schema_registry.state.state import State
from schema_registry.state.version import Version
from schema_registry.subject import Subject, context_of


@dataclass(frozen=True, slots=True)
class Understood:
    """A schema as it would be stored, and what it means."""

    schema: Schema
    parsed: ParsedSchema


class Lookup:
    """Compares what clients send with what is there."""

    def __init__(self, state: State, scopes: Scopes, parser: Parser) -> None:
        self._state = state
        self._scopes = scopes
        self._parser = parser

    def understand(self, schema: Schema, subject: str, *, new: bool, normalise: bool) -> Understood:
        """Parse and canonicalise; an import is taken as it is, unchecked and not normalised."""
        schema = self._parser.pinned(schema, subject)
        imported = self._scopes.mode(subject).takes_ids
        parsed = self._parser.parse(schema, subject, new=new and not imported, normalise=normalise and not imported)
        references = schema.references
        if normalise and not imported:
            # Each once, in Confluent's order; of equals the first comes first.
            references = tuple(dict.fromkeys(sorted(references, key=lambda one: (one.subject, one.version))))
        return Understood(replace(schema, text=parsed.canonical, references=references), parsed)

    def find(self, schema: Schema, subject: str, *, normalise: bool, deleted: bool) -> Version | None:
        """The version of the subject that holds a schema: as it is, or with what registering it would add."""
        found = self.find_as_sent(schema, subject, normalise=normalise, deleted=deleted)
        if found is not None:
            return found
        latest = self._state.latest(subject)
        if latest is None:
            return None
        completed = with_additions(schema, latest.schema, self._scopes.config(subject))
        if completed == schema:
            return None
        return self.find_as_sent(completed, subject, normalise=normalise, deleted=deleted)

    def find_anywhere(self, schema: Schema, subject: str, *, normalise: bool, deleted: bool) -> Version | None:
        """As `find`; for a subject that names no context every context is searched."""
        found = self.find(schema, subject, normalise=normalise, deleted=deleted)
        if found is not None or not Subject.parse(subject).in_default_context:
            return found
        for name in self._state.context_names()[1:]:
            elsewhere = str(Subject(name, subject))
            if not self._state.has_subjects(elsewhere, deleted=deleted):
                continue
            # What references mean differs between contexts; where they mean nothing, the schema is not either.
            with suppress(SchemaRefused):
                found = self.find(schema, elsewhere, normalise=normalise, deleted=deleted)
            if found is not None:
                return found
        return None

    def same(self, understood: Understood, versions: Iterable[Version]) -> Version | None:
        """The first of some versions that means the same, although the text may differ: references written out, no version named."""
        return next((version for version in versions if self._is_same(understood, version)), None)

    def find_as_sent(self, schema: Schema, subject: str, *, normalise: bool, deleted: bool) -> Version | None:
        if not schema.text.strip():
            return None
        understood = self.understand(schema, subject, new=False, normalise=normalise)
        context = self._state.context(context_of(subject))
        schema_id = context.id_of(understood.schema)
        if schema_id is not None:
            version = context.version_of_id(schema_id, subject)
            if version is not None and (deleted or not version.deleted):
                return version
        candidates = [version for version in self._state.versions(subject) if deleted or not version.deleted]
        return self.same(understood, reversed(candidates))

    def _is_same(self, understood: Understood, version: Version) -> bool:
        ours, theirs = understood.schema, version.schema
        if ours.schema_type != theirs.schema_type or ours.rule_set != theirs.rule_set:
            return False
        if ours.references and ours.references != self._parser.pinned(theirs, version.subject).references:
            return False
        if not _same_metadata(ours.metadata, theirs.metadata, version.number):
            return False
        if ours.text == theirs.text:
            return True
        if ours.references != theirs.references and ours.references:
            return False
        return understood.parsed.resolved == self._parser.stored(version).resolved


def with_additions(schema: Schema, previous: Schema | None, config: Config, version: int | None = None) -> Schema:
    """The schema with the metadata and rules that it inherits from the version before it and from the configuration."""
    metadata = schema.metadata or (previous.metadata if previous is not None else None)
    rule_set = schema.rule_set or (previous.rule_set if previous is not None else None)
    for addition in (config.default_metadata,):
        metadata = addition.merged(metadata) if addition is not None else metadata
    if config.override_metadata is not None:
        metadata = metadata.merged(config.override_metadata) if metadata is not None else config.override_metadata
    if config.default_rule_set is not None:
        rule_set = config.default_rule_set.merged(rule_set)
    if config.override_rule_set is not None:
        rule_set = rule_set.merged(config.override_rule_set) if rule_set is not None else config.override_rule_set
    if version is not None:
        metadata = (metadata or Metadata()).with_version(version)
    return replace(schema, metadata=metadata, rule_set=rule_set)


def _same_metadata(ours: Metadata | None, theirs: Metadata | None, number: int) -> bool:
    """Whether two metadata agree, when one may name the version and the other may not."""
    our_version = None if ours is None else ours.properties.get(VERSION_PROPERTY)
    their_version = None if theirs is None else theirs.properties.get(VERSION_PROPERTY)
    if (our_version is None) == (their_version is None):
        return ours == theirs
    if our_version is not None and our_version != str(number):
        return False
    return (ours or Metadata()).without_version() == (theirs or Metadata()).without_version()
