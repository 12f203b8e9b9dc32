"""From a record of the topic to a change of the state. Starting and running are the same replay."""

from __future__ import annotations

import logging

from schema_registry.state.state import State
from schema_registry.store.keys import (
    AssociationKey,
    ClearSubjectKey,
    ConfigKey,
    ContextKey,
    DeleteSubjectKey,
    Key,
    ModeKey,
    NoopKey,
    SchemaKey,
)
from schema_registry.store.values import (
    AssociationValue,
    ConfigValue,
    ContextValue,
    DeleteSubjectValue,
    ModeValue,
    SchemaValue,
    Value,
)

logger = logging.getLogger(__name__)


def replay(state: State, key: Key, value: Value | None, written_ms: int) -> None:
    """Apply one record; what contradicts an earlier record is passed over, as every reader of the topic does."""
    match key, value:
        case SchemaKey(), SchemaValue():
            if not state.put(value, written_ms):
                logger.error(
                    "version %d of subject %r is passed over: its id %d already stands for another schema",
                    value.version,
                    value.subject,
                    value.id,
                )
        case SchemaKey(subject, version), None:
            state.remove(subject, version)
        case DeleteSubjectKey(subject), DeleteSubjectValue(_, version):
            state.soft_delete(subject, version)
        case ClearSubjectKey(scope), value if value is not None:
            state.clear(scope)
        case ConfigKey(scope), _:
            state.configs.set(scope, value.config if isinstance(value, ConfigValue) else None)
        case ModeKey(scope), _:
            state.modes.set(scope, value.mode if isinstance(value, ModeValue) else None)
        case ContextKey(_, name), ContextValue():
            state.know_context(name)
        case ContextKey(_, name), None:
            state.forget_context(name)
        case AssociationKey(), value if value is None or isinstance(value, AssociationValue):
            state.associations.set(key, value)
        case _:
            assert isinstance(key, (NoopKey, DeleteSubjectKey, ClearSubjectKey)), f"{key} with {value}"
