"""Registering a schema: whether it is known, whether it may follow, and the records that make it a new version."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace

from schema_registry.config import Config
from schema_registry.errors import Incompatible, NotPermitted, SchemaRefused
from schema_registry.mode import Mode
from schema_registry.operations.compatibility import Compatibility
from schema_registry.operations.lookup import Lookup, Understood, with_additions
from schema_registry.operations.request import SchemaRequest
from schema_registry.parsing import LATEST
from schema_registry.schema import AVRO, VERSION_PROPERTY, Schema
from schema_registry.scopes import Scopes, place
from schema_registry.state.state import State
from schema_registry.state.version import Version
from schema_registry.store.keys import DEFAULT_TENANT, ContextKey, Key, SchemaKey
from schema_registry.store.values import ContextValue, SchemaValue, Value
from schema_registry.subject import DEFAULT_CONTEXT, Subject, context_of

Record = tuple[Key, Value | None]


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that is to be written. `id` is None when its content has none yet."""

    subject: str
    number: int
    schema: Schema
    id: int | None
    replaces: tuple[int, ...]
    new_context: str | None

    def records(self, schema_id: int) -> list[Record]:
        """What makes the version; soft-deleted ones of the same id give way to it."""
        records: list[Record] = []
        if self.new_context is not None:
            records.append(
                (ContextKey(DEFAULT_TENANT, self.new_context), ContextValue(DEFAULT_TENANT, self.new_context))
            )
        records += [(SchemaKey(self.subject, number), None) for number in self.replaces]
        md5 = b64encode(self.schema.digest()).decode()
        value = SchemaValue(self.subject, self.number, schema_id, self.schema, md5=md5)
        records.append((SchemaKey(self.subject, self.number), value))
        return records


class Registrar:
    """Decides about registrations; changes nothing."""

    def __init__(self, state: State, scopes: Scopes, lookup: Lookup, compatibility: Compatibility) -> None:
        self._state = state
        self._scopes = scopes
        self._lookup = lookup
        self._compatibility = compatibility

    def known(self, subject: str, request: SchemaRequest, *, normalise: bool) -> Version | None:
        """The version that a request would get without any write; every instance can tell that, the leader or not."""
        if self._scopes.config(subject).adds_to_schemas or not request.schema.text.strip():
            return None
        if self._state.latest(subject) is None:
            return None
        if request.version == LATEST:
            understood = self._lookup.understand(request.schema, subject, new=False, normalise=normalise)
            latest = self._state.latest(subject)
            found = None if latest is None else self._lookup.same(understood, [latest])
        else:
            found = self._lookup.find_as_sent(request.schema, subject, normalise=normalise, deleted=False)
        if found is None or (request.id is not None and request.id != found.id):
            return None
        if request.version in (None, LATEST):
            return found
        if request.id is None:
            # A version alone is a wish for a new one.
            return None
        if request.version == found.number:
            return found
        other = self._state.version(subject, request.version)
        return other if other is not None and other.content.digest == found.content.digest else None

    def decide(self, subject: str, request: SchemaRequest, *, normalise: bool, force: bool) -> Version | NewVersion:
        """The version that holds the schema already, or the new one that it becomes."""
        mode = self._scopes.mode(subject)
        self._check_mode(subject, request, mode)
        versions = list(self._state.versions(subject))
        live = [version for version in versions if not version.deleted]
        number = versions[-1].number + 1 if versions else 1
        schema = request.schema
        if not mode.takes_ids:
            schema = self._completed(request, live[-1] if live else None, subject, number)
        elif not schema.text.strip():
            raise SchemaRefused("Empty schema")
        understood = self._understood(subject, schema, request, normalise=normalise)
        schema_id = self._known_id(subject, understood.schema, request.id)
        if request.version is None:
            existing = self._existing(subject, understood, schema_id, live)
            if existing is not None:
                return existing
        if not mode.takes_ids and not force:
            self._check_compatible(subject, understood, live)
        return self._new_version(subject, understood.schema, schema_id, self._number(request, number, mode), versions)

    def _check_mode(self, subject: str, request: SchemaRequest, mode: Mode) -> None:
        if mode.is_read_only:
            raise NotPermitted(f"{place(subject)} is in read-only mode")
        if request.id is not None and not mode.takes_ids:
            raise NotPermitted(f"{place(subject)} is not in import mode")
        if request.id is None and mode is not Mode.READWRITE:
            raise NotPermitted(f"{place(subject)} is not in read-write mode")

    def _completed(self, request: SchemaRequest, previous: Version | None, subject: str, number: int) -> Schema:
        """The schema with what it takes over from the version before and from the configuration."""
        schema = request.schema
        if not schema.text.strip():
            if previous is None:
                raise SchemaRefused("Empty schema")
            former = previous.schema
            schema = replace(schema, text=former.text, schema_type=former.schema_type, references=former.references)
        config = self._scopes.config(subject)
        completed = with_additions(schema, None if previous is None else previous.schema, config)
        names_version = completed.metadata is not None and VERSION_PROPERTY in completed.metadata.properties
        if request.version is not None or names_version:
            completed = with_additions(completed, None, Config(), number)
        return completed

    def _understood(self, subject: str, schema: Schema, request: SchemaRequest, *, normalise: bool) -> Understood:
        # Only what Avro left to convention long ago may go unchecked.
        checked = schema.schema_type != AVRO or self._scopes.validates_new_schemas(subject)
        new = request.id is None and checked
        return self._lookup.understand(schema, subject, new=new, normalise=normalise)

    def _known_id(self, subject: str, schema: Schema, wanted: int | None) -> int | None:
        """The id of a content: the one that it has in the context, else the one that is asked for."""
        context = self._state.context(context_of(subject))
        known = context.id_of(schema)
        if known is not None and wanted in (None, known):
            return known
        if wanted is not None:
            content = context.content(wanted)
            if content is not None and content.schema != schema:
                raise NotPermitted(
                    f"Overwrite new schema with id {wanted} in context {Subject.parse(subject).context_prefix}"
                    " is not permitted."
                )
        return wanted

    def _existing(
        self, subject: str, understood: Understood, schema_id: int | None, live: Sequence[Version]
    ) -> Version | None:
        if schema_id is not None:
            version = self._state.context(context_of(subject)).version_of_id(schema_id, subject)
            if version is not None and not version.deleted:
                return version
        candidates = [version for version in reversed(live) if schema_id in (None, version.id)]
        return self._lookup.same(understood, candidates)

    def _check_compatible(self, subject: str, understood: Understood, live: Sequence[Version]) -> None:
        report = self._compatibility.check(subject, understood, live)
        if not report.compatible:
            raise Incompatible(subject, report.messages)

    @staticmethod
    def _number(request: SchemaRequest, following: int, mode: Mode) -> int:
        if request.version in (None, LATEST):
            return following
        if request.version != following and not mode.takes_ids:
            raise SchemaRefused("Version is not one more than previous version")
        return request.version

    def _new_version(
        self, subject: str, schema: Schema, schema_id: int | None, number: int, versions: Sequence[Version]
    ) -> NewVersion:
        context = context_of(subject)
        unknown = context != DEFAULT_CONTEXT and context not in self._state.known_contexts
        replaces = tuple(
            version.number
            for version in versions
            if version.deleted
            and version.id == schema_id
            and version.number < number
            and not self._state.referrers(subject, version.number, deleted=True)
        )
        return NewVersion(subject, number, schema, schema_id, replaces, context if unknown else None)
