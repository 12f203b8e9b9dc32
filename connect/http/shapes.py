"""The JSON of answers, with Kafka Connect's members in its order."""

from __future__ import annotations

from typing import Any, Final

from barnabas.kernel.http.schema import (
    BOOLEAN,
    INT32,
    INTEGER,
    STRING,
    Schema,
    Shape,
    enum,
    list_of,
    map_of,
    nullable,
    open_object,
)
from barnabas.kernel.settings import Kind
from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import Importance, Key, Width
from connect.config.validation import Entry, Validation
from connect.herder.views import ConnectorInfo, ConnectorStatus
from connect.storage.status import Condition, Status
from connect.tasks.spec import TaskId

_TYPE: Final = enum("source", "sink", "unknown")
TASK_ID: Final = Shape("TaskId", open_object({"connector": STRING, "task": INT32}))
CONNECTOR: Final = Shape(
    "Connector",
    open_object({"name": STRING, "config": map_of(STRING), "tasks": list_of(TASK_ID), "type": _TYPE}),
)
_STATE: Final[dict[str, Schema]] = {"state": enum(*[each.value for each in Condition]), "worker_id": STRING}
_DETAILS: Final = {"version": STRING, "trace": STRING}
TASK_STATUS: Final = Shape("TaskStatus", open_object({"id": INT32, **_STATE}, _DETAILS))
STATUS: Final = Shape(
    "ConnectorStatus",
    open_object(
        {
            "name": STRING,
            "connector": open_object(_STATE, _DETAILS),
            "tasks": list_of(TASK_STATUS),
            "type": _TYPE,
        }
    ),
)
TASK: Final = Shape("Task", open_object({"id": TASK_ID, "config": map_of(STRING)}))
PLUGIN: Final = Shape(
    "Plugin", open_object({"class": STRING, "type": enum(*[kind.value for kind in PluginKind])}, {"version": STRING})
)
KEY: Final = Shape(
    "ConfigKey",
    open_object(
        {
            "name": STRING,
            "type": enum(*[kind.name for kind in Kind]),
            "required": BOOLEAN,
            "default_value": nullable(STRING),
            "importance": enum(*[each.value for each in Importance]),
            "documentation": STRING,
            "group": nullable(STRING),
            "order_in_group": INTEGER,
            "width": enum(*[each.value for each in Width]),
            "display_name": STRING,
            "dependents": list_of(STRING),
        }
    ),
)
_VALUE: Final = open_object(
    {
        "name": STRING,
        "value": nullable(STRING),
        "recommended_values": list_of(STRING),
        "errors": list_of(STRING),
        "visible": BOOLEAN,
    }
)
VALIDATION: Final = Shape(
    "Validation",
    open_object(
        {
            "name": STRING,
            "error_count": INTEGER,
            "groups": list_of(STRING),
            "configs": list_of(open_object({"definition": KEY, "value": _VALUE})),
        },
        {"warnings": list_of(STRING)},
    ),
)


def task_id(task: TaskId) -> dict[str, Any]:
    return {"connector": task.connector, "task": task.number}


def info(connector: ConnectorInfo) -> dict[str, Any]:
    return {
        "name": connector.name,
        "config": dict(connector.config),
        "tasks": [task_id(task) for task in connector.tasks],
        "type": connector.type,
    }


def status(connector: ConnectorStatus) -> dict[str, Any]:
    return {
        "name": connector.name,
        "connector": _status(connector.connector),
        "tasks": [task_status(number, each) for number, each in connector.tasks.items()],
        "type": connector.type,
    }


def task_status(number: int, task: Status) -> dict[str, Any]:
    return {"id": number, **_status(task)}


def _status(told: Status) -> dict[str, Any]:
    """A trace is there only when there is something to tell."""
    shape = {"state": told.condition.value, "worker_id": told.worker_id}
    if told.version is not None:
        shape["version"] = told.version
    if told.trace:
        shape["trace"] = told.trace
    return shape


def plugin(described: Plugin) -> dict[str, Any]:
    shape = {"class": described.class_name, "type": described.kind.value}
    if described.version is not None:
        shape["version"] = described.version
    return shape


def key_definition(key: Key) -> dict[str, Any]:
    return {
        "name": key.name,
        "type": key.kind.name,
        "required": key.required,
        "default_value": key.display(key.default_value()),
        "importance": key.importance.value,
        "documentation": key.meaning(),
        "group": key.group,
        "order_in_group": key.order,
        "width": key.width.value,
        "display_name": key.title or key.name,
        "dependents": list(key.dependents),
    }


def validation(result: Validation) -> dict[str, Any]:
    """Beside Kafka Connect's members there are `warnings`, if there is something to warn of."""
    shape: dict[str, Any] = {
        "name": result.connector_class,
        "error_count": result.error_count,
        "groups": result.groups,
        "configs": [_entry(entry) for entry in result.entries],
    }
    if result.warnings:
        shape["warnings"] = list(result.warnings)
    return shape


def _entry(entry: Entry) -> dict[str, Any]:
    value = {
        "name": entry.key.name,
        "value": entry.value,
        "recommended_values": entry.recommended,
        "errors": entry.errors,
        "visible": True,
    }
    return {"definition": key_definition(entry.key), "value": value}
