"""Everything that the registry knows, in memory: what the records of `_schemas` come to when they are replayed in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schema_registry.config import Config
from schema_registry.mode import Mode
from schema_registry.schema import Schema
from schema_registry.state.associations import Associations
from schema_registry.state.context import Context
from schema_registry.state.scoped import Scoped
from schema_registry.state.version import Version
from schema_registry.store.values import SchemaValue
from schema_registry.subject import DEFAULT_CONTEXT, GLOBAL_CONTEXT, WILDCARD, Subject, context_of


class State:
    """Contexts with their schemas, and the configurations and modes of scopes."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Know nothing, as before the first record."""
        self.contexts: dict[str, Context] = {DEFAULT_CONTEXT: Context(DEFAULT_CONTEXT)}
        # Contexts that were made known by a record of their own; only these are listed and searched.
        self.known_contexts: dict[str, None] = {}
        self.configs: Scoped[Config] = Scoped()
        self.modes: Scoped[Mode] = Scoped()
        self.associations = Associations()
        self._referrers: dict[tuple[str, int], set[tuple[str, int]]] = {}

    # --- changes, which replay makes ---

    def put(self, value: SchemaValue, written_ms: int) -> bool:
        """Take a version; False when its id already stands for something else in its context."""
        context = self._context(context_of(value.subject))
        if not context.put(value, written_ms):
            return False
        for target in self._targets(value.subject, value.schema):
            self._referrers.setdefault(target, set()).add((context.name, value.id))
        return True

    def remove(self, subject: str, number: int) -> None:
        context = self._context(context_of(subject))
        version = context.remove(subject, number)
        if version is None or context.content(version.id) is not None:
            return
        for target in self._targets(subject, version.schema):
            referrers = self._referrers.get(target, set())
            referrers.discard((context.name, version.id))
            if not referrers:
                self._referrers.pop(target, None)

    def soft_delete(self, subject: str, up_to: int) -> None:
        self._context(context_of(subject)).soft_delete(subject, up_to)

    def clear(self, scope: str | None) -> None:
        """Forget what is deleted in a scope that was emptied for an import."""
        for subject in list(self.subjects_in(scope, deleted=True)):
            for version in list(self.versions(subject)):
                if version.deleted:
                    self.remove(subject, version.number)

    def know_context(self, name: str) -> None:
        self.known_contexts[name] = None

    def forget_context(self, name: str) -> None:
        self.known_contexts.pop(name, None)

    # --- schemas ---

    def context(self, name: str) -> Context:
        """The schemas of a context; an unknown one has none."""
        return self.contexts.get(name) or Context(name)

    def context_names(self) -> list[str]:
        return [DEFAULT_CONTEXT, *sorted(self.known_contexts)]

    def versions(self, subject: str) -> Iterable[Version]:
        return self.context(context_of(subject)).versions(subject)

    def live_versions(self, subject: str) -> list[Version]:
        return [version for version in self.versions(subject) if not version.deleted]

    def version(self, subject: str, number: int, *, deleted: bool = False) -> Version | None:
        version = self.context(context_of(subject)).version(subject, number)
        return None if version is None or (version.deleted and not deleted) else version

    def latest(self, subject: str) -> Version | None:
        return max(self.live_versions(subject), key=lambda version: version.number, default=None)

    def subjects(self, prefix: str) -> Iterator[str]:
        """Subjects that begin with a prefix, deleted ones too, in no order; `:*:` stands for every context."""
        wanted = Subject.parse(prefix)
        for name, context in self.contexts.items():
            if wanted.context in (name, WILDCARD):
                start = Subject(name, wanted.name)
                yield from (subject for subject in context.subjects() if subject.startswith(str(start)))

    def subjects_in(self, scope: str | None, *, deleted: bool) -> Iterator[str]:
        """The subjects that a scope covers: itself, those of its context, or for the global one all."""
        wanted = Subject.parse(scope or "")
        for name, context in self.contexts.items():
            if wanted.context in (name, GLOBAL_CONTEXT, WILDCARD):
                for subject in context.subjects():
                    if (not wanted.name or subject == str(wanted)) and context.has_subject(subject, deleted=deleted):
                        yield subject

    def has_subjects(self, scope: str | None, *, deleted: bool) -> bool:
        return next(self.subjects_in(scope, deleted=deleted), None) is not None

    def referrers(self, subject: str, number: int, *, deleted: bool) -> list[tuple[str, int]]:
        """The contexts and ids of schemas that refer to a version; of deleted ones only when asked."""
        found = self._referrers.get((subject, number), set())
        return sorted(
            (context, schema_id)
            for context, schema_id in found
            if any(deleted or not version.deleted for version in self.context(context).versions_of_id(schema_id))
        )

    def referring_subjects(self, subject: str, number: int, *, deleted: bool) -> set[str]:
        return {
            version.subject
            for context, schema_id in self._referrers.get((subject, number), set())
            for version in self.context(context).versions_of_id(schema_id)
            if deleted or not version.deleted
        }

    def _context(self, name: str) -> Context:
        return self.contexts.setdefault(name, Context(name))

    @staticmethod
    def _targets(subject: str, schema: Schema) -> Iterator[tuple[str, int]]:
        parent = Subject.parse(subject)
        for reference in schema.references:
            yield str(parent.beside(reference.subject)), reference.version
