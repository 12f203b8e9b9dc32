"""Connectors in files, which a standalone worker starts with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from barnabas.kernel import properties
from barnabas.kernel.setting_errors import SettingError
from connect.storage.status import TargetState

_SETTING = "standalone.connectors"


@dataclass(frozen=True, slots=True)
class ConnectorFile:
    name: str
    config: Mapping[str, str] = field(repr=False)
    initial_state: TargetState | None = None


def read_connector(path: Path) -> ConnectorFile:
    """A properties file, a JSON object of settings, or what `POST /connectors` takes. SettingError."""
    try:
        content = path.read_bytes()
        found = _json(content) if path.suffix == ".json" else _properties(content)
    except OSError as error:
        raise SettingError(_SETTING, str(path), f"the file cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SettingError(_SETTING, str(path), f"the file holds no connector: {error}") from None
    if not found.name:
        raise SettingError(_SETTING, str(path), "the file gives the connector no name")
    return found


def _properties(content: bytes) -> ConnectorFile:
    config = {item.name: item.text for item in properties.parse(content)}
    return ConnectorFile(config.get("name", ""), config)


def _json(content: bytes) -> ConnectorFile:
    match orjson.loads(content):
        case {"name": str(name), "config": dict(config), **rest}:
            word = rest.get("initial_state")
            return ConnectorFile(name, _texts(config), None if word is None else _target(word))
        case dict(config):
            return ConnectorFile(str(config.get("name", "")), _texts(config))
    raise ValueError("expected an object")


def _texts(config: Mapping[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else orjson.dumps(value).decode() for name, value in config.items()}


def _target(word: object) -> TargetState:
    text = str(word).upper()
    return TargetState("STARTED" if text == "RUNNING" else text)
