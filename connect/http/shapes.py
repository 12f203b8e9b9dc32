"""The JSON of answers, with Kafka Connect's members in its order."""

from __future__ import annotations

from typing import Any

from connect.api.plugin import Plugin
from connect.api.settings import Key
from connect.config.validation import Entry, Validation
from connect.herder.views import ConnectorInfo, ConnectorStatus
from connect.storage.status import Status
from connect.tasks.spec import TaskId


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
