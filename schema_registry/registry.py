"""The registry: every operation that clients have, over the state and the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from schema_registry.config import Config
from schema_registry.errors import InvalidSubject, SchemaRefused, StoreError, VersionNotFound
from schema_registry.mode import Mode
from schema_registry.operations.compatibility import Compatibility, Report
from schema_registry.operations.deletion import Deletion
from schema_registry.operations.identifiers import Identifiers
from schema_registry.operations.lookup import Lookup
from schema_registry.operations.register import NewVersion, Record, Registrar
from schema_registry.operations.request import SchemaRequest, check_rules
from schema_registry.operations.settings import ScopeSettings
from schema_registry.parsing import LATEST, Parser
from schema_registry.scopes import Defaults, Scopes
from schema_registry.state.state import State
from schema_registry.state.version import Version
from schema_registry.subject import context_of, is_valid
from schema_registry.write_order import WriteOrder

ID_ATTEMPTS_MAX = 5


class Writer(Protocol):
    """Where records go. `write` returns when they are durable and replayed; it refuses when another instance leads.

    A write that came too late for its caller may still arrive: `settle` returns when there is no such write.
    """

    async def settle(self) -> None: ...

    async def write(self, records: Sequence[Record]) -> None: ...


class Registry:
    """What clients may do. Reads look at the state; writes decide on it, write records and wait until these are replayed."""

    def __init__(self, state: State, writer: Writer, defaults: Defaults, *, modes_may_change: bool = True) -> None:
        self.state = state
        self.scopes = Scopes(state, defaults)
        self.parser = Parser(state)
        self.lookup = Lookup(state, self.scopes, self.parser)
        self._writer = writer
        self._compatibility = Compatibility(self.scopes, self.parser)
        self._registrar = Registrar(state, self.scopes, self.lookup, self._compatibility)
        self._deletion = Deletion(state, self.scopes)
        self._settings = ScopeSettings(state, self.scopes, modes_may_change=modes_may_change)
        self._identifiers = Identifiers()
        self._order = WriteOrder(writer.settle)

    # --- schemas ---

    async def prepare(self, subject: str, request: SchemaRequest, *, normalise: bool, new: bool) -> None:
        """Understand large schemas before an operation looks at them, without holding up everybody else."""
        imported = self.scopes.mode(subject).takes_ids
        await self.parser.prepare(
            request.schema,
            subject,
            new=new and not imported and self.scopes.validates_new_schemas(subject),
            normalise=self._normalises(subject, normalise) and not imported,
        )
        for version in self.state.live_versions(subject):
            # One that cannot be understood is told of by whoever looks at it.
            with suppress(SchemaRefused):
                await self.parser.prepare(version.schema, subject, new=False, normalise=False)

    async def known(self, subject: str, request: SchemaRequest, *, normalise: bool) -> Version | None:
        """The version that registering would return without writing anything."""
        _check_request(subject, request)
        if not self.state.live_versions(subject):
            return None
        await self.prepare(subject, request, normalise=normalise, new=False)
        return self._registrar.known(subject, request, normalise=self._normalises(subject, normalise))

    async def register(self, subject: str, request: SchemaRequest, *, normalise: bool, force: bool) -> Version:
        """The version that holds the schema, a new one if there is none yet."""
        _check_request(subject, request)
        normalise = self._normalises(subject, normalise)
        if not force and not self.scopes.mode(subject).takes_ids:
            await self._compare_ahead(subject, request, normalise=normalise)
        async with self._order.subject(subject):
            for _ in range(ID_ATTEMPTS_MAX):
                decided = self._registrar.decide(subject, request, normalise=normalise, force=force)
                if isinstance(decided, Version):
                    return decided
                version = await self._write_version(decided)
                if version is not None:
                    return version
        raise StoreError("Error while registering the schema due to generating an ID that is already in use.")

    async def check(self, subject: str, request: SchemaRequest, number: int | None, *, normalise: bool) -> Report:
        """Whether a schema may follow one version of a subject (None: all of them, as the level says)."""
        previous: Sequence[Version]
        if number is None:
            previous = self.state.live_versions(subject)
        else:
            version = self.state.latest(subject) if number == LATEST else self.state.version(subject, number)
            if version is None and number != LATEST:
                raise VersionNotFound(number)
            previous = [] if version is None else [version]
        if not request.schema.text.strip():
            raise SchemaRefused("Empty schema")
        understood = self.lookup.understand(
            request.schema,
            subject,
            new=self.scopes.validates_new_schemas(subject),
            normalise=self._normalises(subject, normalise),
        )
        await self._compatibility.prepare(subject, understood, previous)
        return self._compatibility.check(subject, understood, previous)

    async def delete_version(self, subject: str, number: int, *, permanent: bool) -> int:
        async with self._order.alone():
            deleted, records = self._deletion.version(subject, number, permanent=permanent)
            await self._writer.write(records)
        return deleted

    async def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        async with self._order.alone():
            deleted, records = self._deletion.subject(subject, permanent=permanent)
            await self._writer.write(records)
        return deleted

    async def delete_context(self, prefix: str) -> None:
        async with self._order.alone():
            await self._writer.write(self._deletion.context(prefix))

    # --- scopes ---

    async def update_config(self, scope: str | None, request: Mapping[str, Any]) -> Config:
        _check_scope(scope)
        async with self._order.alone():
            config, records = self._settings.update_config(scope, request)
            await self._writer.write(records)
        return config

    async def delete_config(self, scope: str | None) -> Config:
        async with self._order.alone():
            config, records = self._settings.delete_config(scope)
            await self._writer.write(records)
        return config

    async def set_mode(self, scope: str | None, text: str | None, *, force: bool) -> None:
        _check_scope(scope)
        async with self._order.alone():
            await self._writer.write(self._settings.set_mode(scope, text, force=force))

    async def delete_mode(self, scope: str | None, *, recursive: bool) -> Mode | None:
        async with self._order.alone():
            mode, records = self._settings.delete_mode(scope, recursive=recursive)
            await self._writer.write(records)
        return mode

    async def _compare_ahead(self, subject: str, request: SchemaRequest, *, normalise: bool) -> None:
        """Compare with the versions that are there, before the turn to write: others need not wait for it."""
        if not request.schema.text.strip():
            return
        # What is refused is refused again by the decision, in its own order.
        with suppress(SchemaRefused):
            new = self.scopes.validates_new_schemas(subject)
            understood = self.lookup.understand(request.schema, subject, new=new, normalise=normalise)
            await self._compatibility.prepare(subject, understood, self.state.live_versions(subject))

    def _normalises(self, subject: str, asked: bool) -> bool:
        return asked or bool(self.scopes.config(subject).normalize)

    async def _write_version(self, new: NewVersion) -> Version | None:
        """Write a version and return it; None when its record was passed over, since the id was taken meanwhile."""
        if new.id is not None:
            await self._writer.write(new.records(new.id))
            return self._written(new, new.id)
        with self._identifiers.reserved(self.state.context(context_of(new.subject)), new.schema) as schema_id:
            await self._writer.write(new.records(schema_id))
            return self._written(new, schema_id)

    def _written(self, new: NewVersion, schema_id: int) -> Version | None:
        version = self.state.version(new.subject, new.number)
        return version if version is not None and version.id == schema_id and version.schema == new.schema else None


def _check_request(subject: str, request: SchemaRequest) -> None:
    check_rules(request.schema.rule_set)
    if not is_valid(subject):
        raise InvalidSubject(subject)


def _check_scope(scope: str | None) -> None:
    if scope is not None and not is_valid(scope, scope=True):
        raise InvalidSubject(scope)
