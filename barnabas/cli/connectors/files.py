"""Connectors as files describe them: JSON as for `POST /connectors`, a list of these, or a properties file."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

from barnabas.cli.command_error import CommandError
from barnabas.cli.key_values import parse_key_values
from barnabas.kernel import properties
from barnabas.kernel.properties import PropertiesError


class ConnectorConfig(NamedTuple):
    name: str
    config: dict[str, str]


def described(arguments: Namespace) -> ConnectorConfig:
    """The connector of a command line: a file, further settings, and perhaps a name."""
    config: dict[str, str] = {}
    name = arguments.name
    if arguments.file is not None:
        found = read(arguments.file, name)
        if len(found) != 1:
            raise CommandError(
                f"{arguments.file} describes {len(found)} connectors", "`barnabas connectors apply` takes many.", 2
            )
        name, config = found[0]
    elif name and not arguments.set and Path(name).is_file():
        raise CommandError(f"{name} is a file, and a connector is named here", f"Say --file {name} to read it.", 2)
    config |= parse_key_values(arguments.set)
    name = name or config.get("name")
    if not name:
        raise CommandError("the connector has no name", "Name it on the command line, or set name in the file.", 2)
    return ConnectorConfig(name, {**config, "name": name})


def read(path: str, name: str | None = None) -> list[ConnectorConfig]:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", "Name a file that can be read.", 2) from None
    if Path(path).suffix == ".properties":
        return [_one(path, _properties(path, content), name)]
    try:
        parsed = json.loads(content)
    except ValueError as error:
        raise CommandError(
            f"{path} is no valid JSON: {error}", "Properties are read from files that end in .properties.", 2
        ) from None
    return [_one(path, each, name) for each in (parsed if isinstance(parsed, list) else [parsed])]


def _properties(path: str, content: bytes) -> dict[str, Any]:
    try:
        return {item.name: item.text for item in properties.parse(content)}
    except PropertiesError as error:
        raise CommandError(f"{path}: {error}", status=2) from None


def _one(path: str, parsed: Any, name: str | None) -> ConnectorConfig:
    """With `config` inside, or the settings themselves."""
    if not isinstance(parsed, dict):
        raise CommandError(f"{path}: expected an object with the settings of a connector", status=2)
    config = parsed.get("config", parsed)
    if not isinstance(config, dict):
        raise CommandError(f"{path}: config must be an object of settings", status=2)
    found = name or parsed.get("name") or config.get("name") or Path(path).stem
    return ConnectorConfig(str(found), {key: _text(value) for key, value in config.items()} | {"name": str(found)})


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
