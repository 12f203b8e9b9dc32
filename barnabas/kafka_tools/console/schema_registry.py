"""The registry that the console tools of Confluent are told of by properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError

URL_DEFAULT: Final = "http://localhost:8081"
URL_PROPERTY: Final = "schema.registry.url"
_USER_PROPERTIES: Final = ("basic.auth.user.info", "schema.registry.basic.auth.user.info")


def client_of(properties: Mapping[str, str]) -> RegistryClient:
    user_info = next((properties[name] for name in _USER_PROPERTIES if name in properties), None)
    try:
        return RegistryClient(properties.get(URL_PROPERTY, URL_DEFAULT), user_info)
    except RegistryClientError as error:
        raise ToolError(error.message) from None


def explained(error: RegistryClientError, option: str) -> str:
    """The refusal of a registry, or how to name one that is there."""
    if error.status is not None:
        return error.message
    return f"{error.message}. Name the registry with --{option} {URL_PROPERTY}=http://HOST:PORT"
