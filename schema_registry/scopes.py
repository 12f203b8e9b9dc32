"""What holds for a subject: the mode and the configuration that its scopes come to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from schema_registry.config import Config, Level
from schema_registry.errors import NotPermitted
from schema_registry.mode import Mode
from schema_registry.state.state import State
from schema_registry.subject import GLOBAL_CONTEXT, Subject, context_of


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where no scope says otherwise."""

    level: str = Level.BACKWARD.value
    validate_fields: bool = False
    validate_new_schemas: bool = True


class Scopes:
    """Reads the modes and configurations of the state, over the defaults of this registry."""

    def __init__(self, state: State, defaults: Defaults) -> None:
        self._state = state
        self._defaults = defaults
        self._default = Config(level=defaults.level)

    def mode(self, subject: str | None) -> Mode:
        return self._state.modes.effective(subject) or Mode.READWRITE

    def mode_at(self, scope: str | None) -> Mode | None:
        """The mode of exactly this scope; the widest ones always have one."""
        return self._state.modes.at(scope) or (Mode.READWRITE if _is_widest(scope) else None)

    def config(self, subject: str | None) -> Config:
        """What holds for a subject; the level, at least, is always there."""
        own = None if subject is None else self.config_at(subject)
        if own is None:
            return self._with_level(self._state.configs.effective(subject) or self._default)
        return own.over(self.config_at(None) or self._default)

    def config_at(self, scope: str | None) -> Config | None:
        """The configuration of exactly this scope; the widest ones always have one."""
        config = self._state.configs.at(scope)
        if config is not None:
            return self._with_level(config)
        return self._default if _is_widest(scope) else None

    def validates_fields(self, subject: str) -> bool:
        validates = self.config(subject).validate_fields
        return self._defaults.validate_fields if validates is None else validates

    def validates_new_schemas(self, subject: str) -> bool:
        validates = self.config(subject).validate_new_schemas
        return self._defaults.validate_new_schemas if validates is None else validates

    def check_writable(self, subject: str | None) -> None:
        if self.mode(subject).is_read_only:
            raise NotPermitted(f"{place(subject)} is in read-only mode")

    def _with_level(self, config: Config) -> Config:
        return config if config.level is not None else replace(config, level=self._default.level)


def place(subject: str | None) -> str:
    """How messages name a scope."""
    context = Subject.parse(subject or "").context_prefix
    return f"Subject {'null' if subject is None else subject} in context {context}"


def _is_widest(scope: str | None) -> bool:
    return scope is None or context_of(scope) == GLOBAL_CONTEXT
