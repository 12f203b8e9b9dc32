"""Connectors as ksqlDB's clients read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from barnabas.kernel.http.schema import INTEGER, OBJECT, STRING, Schema, list_of, map_of, nullable, open_object
from streams_sql.engine.statements.entities import (
    ConnectorCreation,
    ConnectorDeletion,
    ConnectorDescription,
    ConnectorList,
    ConnectorPluginList,
    ConnectorSummary,
)
from streams_sql.http.entity import entity
from streams_sql.http.source_shapes import SOURCE_DESCRIPTION, described_source

ConnectorAnswer: TypeAlias = (
    ConnectorCreation | ConnectorDeletion | ConnectorList | ConnectorPluginList | ConnectorDescription
)

_PART: Final[dict[str, Schema]] = {
    "state": nullable(STRING),
    "worker_id": nullable(STRING),
    "msg": nullable(STRING),
}
_STATUS: Final = open_object(
    {
        "name": nullable(STRING),
        "connector": open_object(_PART),
        "tasks": list_of(open_object({"id": nullable(INTEGER), **_PART})),
        "type": STRING,
    }
)
_INFO: Final = open_object({"name": STRING, "config": map_of(STRING), "tasks": list_of(OBJECT), "type": STRING})
_LISTED: Final = open_object({"name": STRING, "type": STRING, "className": nullable(STRING), "state": nullable(STRING)})
_PLUGIN: Final = open_object({"className": nullable(STRING), "type": nullable(STRING), "version": nullable(STRING)})
CONNECTOR_ENTITIES: Final = (
    entity("connector_info", {"info": _INFO}),
    entity("drop_connector", {"connectorName": STRING}),
    entity("connector_list", {"connectors": list_of(_LISTED)}),
    entity("connector_plugins_list", {"connectorsPlugins": list_of(_PLUGIN)}),
    entity(
        "connector_description",
        {
            "connectorClass": nullable(STRING),
            "status": _STATUS,
            "sources": list_of(SOURCE_DESCRIPTION),
            "topics": list_of(STRING),
        },
    ),
)


def connector_entity(answer: ConnectorAnswer) -> dict[str, Any]:
    match answer:
        case ConnectorCreation(name, kind, config, tasks):
            info = {"name": name, "config": dict(config), "tasks": list(tasks), "type": kind}
            return {"@type": "connector_info", "info": info}
        case ConnectorDeletion(name):
            return {"@type": "drop_connector", "connectorName": name}
        case ConnectorList(connectors):
            return {"@type": "connector_list", "connectors": [_listed(each) for each in connectors]}
        case ConnectorPluginList(plugins):
            return {"@type": "connector_plugins_list", "connectorsPlugins": [_plugin(each) for each in plugins]}
    return {
        "@type": "connector_description",
        "connectorClass": answer.class_name,
        "status": _status(answer.status),
        "sources": [described_source(each) for each in answer.sources],
        "topics": list(answer.topics),
    }


def _listed(connector: ConnectorSummary) -> dict[str, Any]:
    return {
        "name": connector.name,
        "type": connector.type or "unknown",
        "className": connector.class_name,
        "state": connector.state,
    }


def _plugin(plugin: Mapping[str, Any]) -> dict[str, Any]:
    return {"className": plugin.get("class"), "type": plugin.get("type"), "version": plugin.get("version")}


def _status(status: Mapping[str, Any]) -> dict[str, Any]:
    """Connect has the reason of a failure as `trace`; clients of ksqlDB look for `msg`."""
    return {
        "name": status.get("name"),
        "connector": _part(status.get("connector", {})),
        "tasks": [{"id": task.get("id"), **_part(task)} for task in status.get("tasks", ())],
        "type": status.get("type", "unknown"),
    }


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": part.get("state"), "worker_id": part.get("worker_id"), "msg": part.get("msg") or part.get("trace")}
