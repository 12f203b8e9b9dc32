"""The properties that a tool gives its client: `--command-config FILE`, checked as far as they mean something here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.client.client_error import ClientError

COMMAND_CONFIG: Final = "--command-config"
DEFAULT_CLIENT_ID: Final = "adminclient-1"
REQUEST_TIMEOUT_MS: Final = 30_000
API_TIMEOUT_MS: Final = 60_000
RETRY_BACKOFF_MS: Final = 100
RETRY_BACKOFF_MAX_MS: Final = 1_000
FILE_MAX_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """What of a client's configuration acts."""

    client_id: str = DEFAULT_CLIENT_ID
    request_timeout_ms: int = REQUEST_TIMEOUT_MS
    api_timeout_ms: int = API_TIMEOUT_MS
    retry_backoff_ms: int = RETRY_BACKOFF_MS
    retry_backoff_max_ms: int = RETRY_BACKOFF_MAX_MS

    @classmethod
    def of(cls, given: Mapping[str, str]) -> ClientConfig:
        """ClientError for a value that is no number and for a security protocol that the tools do not speak."""
        protocol = given.get("security.protocol", "PLAINTEXT").upper()
        if protocol != "PLAINTEXT":
            raise ClientError(
                f"security.protocol={protocol} is not supported by these tools: they speak PLAINTEXT. "
                "Name a PLAINTEXT listener of the broker, or remove security.protocol from the configuration."
            )
        request_timeout_ms = _number(given, "request.timeout.ms", REQUEST_TIMEOUT_MS)
        return cls(
            client_id=given.get("client.id", DEFAULT_CLIENT_ID) or DEFAULT_CLIENT_ID,
            request_timeout_ms=request_timeout_ms,
            # Java, too, raises the default to at least one request's time.
            api_timeout_ms=_number(given, "default.api.timeout.ms", max(API_TIMEOUT_MS, request_timeout_ms)),
            retry_backoff_ms=_number(given, "retry.backoff.ms", RETRY_BACKOFF_MS),
            retry_backoff_max_ms=_number(given, "retry.backoff.max.ms", RETRY_BACKOFF_MAX_MS),
        )


def load_properties(path: str | None, option: str = COMMAND_CONFIG) -> dict[str, str]:
    """The entries of a Java properties file, which was given with `option`; none without a file."""
    if not path:
        return {}
    from barnabas.kernel import properties

    try:
        with open(path, "rb") as file:
            content = file.read(FILE_MAX_BYTES + 1)
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror}. Give {option} a properties file that can be read.") from None
    if len(content) > FILE_MAX_BYTES:
        raise ClientError(f"{path} has more than {FILE_MAX_BYTES} bytes, which no properties file needs")
    try:
        return {entry.name: entry.text for entry in properties.parse(content)}
    except properties.PropertiesError as error:
        raise ClientError(f"{path}: {error}") from None


def _number(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[+-]?\d+", text.strip()):
        raise ClientError(f"Invalid value {text} for configuration {name}: Not a number of type INT")
    if int(text) < 0:
        raise ClientError(f"Invalid value {text} for configuration {name}: Value must be at least 0")
    return int(text)
