"""Configurations and modes of scopes, as clients change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schema_registry.config import Config, InvalidLevel
from schema_registry.errors import (
    InvalidCompatibility,
    InvalidMode,
    NotPermitted,
    StillReferenced,
    SubjectNotFound,
)
from schema_registry.mode import Mode
from schema_registry.operations.register import Record
from schema_registry.operations.request import check_rules
from schema_registry.scopes import Scopes
from schema_registry.state.state import State
from schema_registry.store.keys import ClearSubjectKey, ConfigKey, ModeKey, SchemaKey
from schema_registry.store.values import ClearSubjectValue, ConfigValue, ModeValue
from schema_registry.subject import Subject

MODES_TEXT = "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."


class ScopeSettings:
    """Decides about changes of configurations and modes; changes nothing."""

    def __init__(self, state: State, scopes: Scopes, *, modes_may_change: bool) -> None:
        self._state = state
        self._scopes = scopes
        self._modes_may_change = modes_may_change

    def update_config(self, scope: str | None, request: Mapping[str, Any]) -> tuple[Config, list[Record]]:
        try:
            config = (self._state.configs.at(scope) or Config()).updated(request)
        except InvalidLevel as problem:
            raise InvalidCompatibility(str(problem)) from None
        check_rules(config.default_rule_set)
        check_rules(config.override_rule_set)
        self._scopes.check_writable(scope)
        return config, [(ConfigKey(scope), ConfigValue(scope, config))]

    def delete_config(self, scope: str | None) -> tuple[Config, list[Record]]:
        config = self._scopes.config_at(scope)
        if config is None:
            raise SubjectNotFound(scope or "")
        self._scopes.check_writable(scope)
        return config, [(ConfigKey(scope), None)]

    def set_mode(self, scope: str | None, text: str | None, *, force: bool) -> list[Record]:
        """Set the mode of a scope; None takes it away."""
        mode = self._parsed_mode(scope, text)
        self._check_modes_may_change()
        records: list[Record] = []
        if mode is Mode.IMPORT and self._scopes.mode(scope) is not Mode.IMPORT and not force:
            records += self._emptied(scope)
        records.append((ModeKey(scope), None if mode is None else ModeValue(scope, mode)))
        return records

    def delete_mode(self, scope: str | None, *, recursive: bool) -> tuple[Mode | None, list[Record]]:
        mode = self._scopes.mode_at(scope)
        if mode is None and not recursive:
            raise SubjectNotFound(scope or "")
        self._check_modes_may_change()
        records: list[Record] = [(ModeKey(scope), None)]
        subject = Subject.parse(scope or "")
        if recursive and not subject.name:
            records += [(ModeKey(place), None) for place in self._modes_inside(subject)]
        return mode, records

    def _parsed_mode(self, scope: str | None, text: str | None) -> Mode | None:
        if text is None:
            return None
        try:
            mode = Mode(text.upper())
        except ValueError:
            raise InvalidMode(MODES_TEXT) from None
        if mode is Mode.FORWARD and not Subject.parse(scope or "").is_global_scope:
            raise InvalidMode("Forward mode only supported on global level")
        return mode

    def _check_modes_may_change(self) -> None:
        if not self._modes_may_change:
            raise NotPermitted("Mode changes are not allowed")

    def _emptied(self, scope: str | None) -> list[Record]:
        """What makes room for an import: the scope must hold no living schema, and the deleted ones go."""
        if self._state.has_subjects(scope, deleted=False):
            raise NotPermitted("Cannot import since found existing subjects")
        records: list[Record] = []
        for subject in self._state.subjects_in(scope, deleted=True):
            for version in self._state.versions(subject):
                if self._state.referrers(subject, version.number, deleted=True):
                    raise StillReferenced(subject, version.number)
                records.append((SchemaKey(subject, version.number), None))
        return [*records, (ClearSubjectKey(scope), ClearSubjectValue(scope))]

    def _modes_inside(self, context: Subject) -> list[str]:
        return sorted(
            place
            for place, _ in self._state.modes.items()
            if place is not None and Subject.parse(place).context == context.context and Subject.parse(place).name
        )
