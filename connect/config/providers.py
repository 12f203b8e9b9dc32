"""Config providers: values that a configuration refers to and that stand elsewhere, such as passwords."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from barnabas.kernel import properties
from barnabas.kernel.properties import PropertiesError
from connect.errors import ConnectError

FILE_MAX_BYTES: Final = 1024 * 1024

_REFERENCE: Final = re.compile(r"\$\{([^}:]{1,200}):(?:([^}]{0,4000}?):)?([^}]{1,1000})\}")
_PREFIX: Final = "config.providers"


class Provider(ABC):
    """Knows values by a path, which may be empty, and a key."""

    @abstractmethod
    def value(self, path: str, key: str) -> str:
        """ConnectError when there is none, or when it must not be read."""


class _Files(Provider):
    """What providers of files share: they read below certain folders only, if any are named."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        allowed = parameters.get("allowed.paths", "")
        self._allowed = [Path(part.strip()).resolve() for part in allowed.split(",") if part.strip()]

    def _content(self, path: Path) -> bytes:
        resolved = path.resolve()
        if self._allowed and not any(resolved.is_relative_to(folder) for folder in self._allowed):
            raise ConnectError(f"{path} lies outside of the folders of allowed.paths")
        try:
            with resolved.open("rb") as file:
                content = file.read(FILE_MAX_BYTES + 1)
        except OSError as error:
            raise ConnectError(f"{path} cannot be read: {error.strerror}") from None
        # The beginning of a secret is none.
        if len(content) > FILE_MAX_BYTES:
            raise ConnectError(f"{path} has more than {FILE_MAX_BYTES} bytes; a file of secrets may have no more")
        return content


class FileProvider(_Files):
    """`${file:/path/to.properties:name}`: a value of a properties file."""

    def value(self, path: str, key: str) -> str:
        try:
            found = properties.parse(self._content(Path(path)))
        except PropertiesError:
            raise ConnectError(f"{path} is no properties file") from None
        for item in reversed(found):
            if item.name == key:
                return item.text
        raise ConnectError(f"{path} has no {key}")


class DirectoryProvider(_Files):
    """`${directory:/path/to/folder:name}`: the content of a file."""

    def value(self, path: str, key: str) -> str:
        if Path(key).name != key:
            raise ConnectError(f"{key!r} must be the name of a file in {path}")
        try:
            return self._content(Path(path) / key).decode()
        except UnicodeDecodeError:
            raise ConnectError(f"{Path(path) / key} is no text") from None


class EnvironmentProvider(Provider):
    """`${env:NAME}`: a variable of the worker's environment, if its name is allowed."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        allowed = parameters.get("allowlist.pattern")
        try:
            self._allowed = None if allowed is None else re.compile(allowed)
        except re.error as error:
            raise ConnectError(f"allowlist.pattern={allowed}: {error}") from None

    def value(self, path: str, key: str) -> str:
        found = os.environ.get(key)
        if path or found is None or (self._allowed is not None and not self._allowed.fullmatch(key)):
            raise ConnectError(f"there is no environment variable {key} that may be read")
        return found


_CLASSES: Final[Mapping[str, Callable[[Mapping[str, str]], Provider]]] = {
    "FileConfigProvider": FileProvider,
    "DirectoryConfigProvider": DirectoryProvider,
    "EnvVarConfigProvider": EnvironmentProvider,
}


class Providers:
    """The providers that the worker's `config.providers` names."""

    def __init__(self, properties_of_worker: Mapping[str, str]) -> None:
        self._providers = {
            name: _provider(name, properties_of_worker)
            for part in properties_of_worker.get(_PREFIX, "").split(",")
            if (name := part.strip())
        }

    def resolve(self, config: Mapping[str, str]) -> dict[str, str]:
        """The configuration with its references replaced; what names no provider stays as it is. ConnectError names what failed, never a value."""
        return {name: self._resolved(name, text) for name, text in config.items()}

    def _resolved(self, name: str, text: str) -> str:
        def value(reference: re.Match[str]) -> str:
            provider = self._providers.get(reference[1])
            if provider is None:
                return reference[0]
            try:
                return provider.value(reference[2] or "", reference[3])
            except ConnectError as error:
                raise ConnectError(f"{name}={text}: {error}") from None

        return _REFERENCE.sub(value, text)


def refers(text: str) -> bool:
    """Whether a value stands elsewhere, so that it is no secret itself."""
    return _REFERENCE.fullmatch(text) is not None


def _provider(name: str, worker: Mapping[str, str]) -> Provider:
    prefix = f"{_PREFIX}.{name}."
    class_name = worker.get(f"{prefix}class", "")
    found = _CLASSES.get(class_name.rpartition(".")[2])
    if found is None:
        raise ConnectError(f"{prefix}class={class_name}: expected one of {', '.join(_CLASSES)}")
    parameters = f"{prefix}param."
    return found({key[len(parameters) :]: text for key, text in worker.items() if key.startswith(parameters)})
