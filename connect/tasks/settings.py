"""What the engine itself reads from a connector's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from connect.api.plugin import PluginKind
from connect.config.connector_keys import ALL, CONNECTOR_KEYS
from connect.errors import ConnectError, InvalidSettings, Problem

MS_PER_S: Final = 1000
FOR_EVER: Final = -1
TASKS_MAX: Final = "tasks.max"
TASKS_MAX_DEFAULT: Final = "1"
RETRY_TIMEOUT: Final = "errors.retry.timeout"
DLQ_REPLICATION: Final = "errors.deadletterqueue.topic.replication.factor"


class TransactionBoundary(Enum):
    POLL = "poll"
    INTERVAL = "interval"


@dataclass(frozen=True, slots=True)
class ErrorSettings:
    """What becomes of errors. Sources and sinks have the same."""

    tolerates_all: bool
    retry_timeout_ms: int
    """How long to try again while the other side is away: for ever, unless somebody has set a limit."""
    retry_delay_max_ms: int
    is_logged: bool
    are_contents_logged: bool
    dlq_topic: str
    dlq_replication: int
    is_dlq_replication_given: bool
    dlq_has_context: bool


@dataclass(frozen=True, slots=True)
class SourceSettings:
    topic_creation_groups: tuple[str, ...]
    boundary: TransactionBoundary
    boundary_interval_ms: int | None
    offsets_topic: str | None


@dataclass(frozen=True, slots=True)
class SinkSettings:
    topics: tuple[str, ...]
    topics_regex: str


def error_settings(config: Mapping[str, str]) -> ErrorSettings:
    value = _Values(config, PluginKind.SINK)
    return ErrorSettings(
        tolerates_all=value["errors.tolerance"] == ALL,
        retry_timeout_ms=value[RETRY_TIMEOUT] if RETRY_TIMEOUT in config else FOR_EVER,
        retry_delay_max_ms=value["errors.retry.delay.max.ms"],
        is_logged=value["errors.log.enable"],
        are_contents_logged=value["errors.log.include.messages"],
        dlq_topic=value["errors.deadletterqueue.topic.name"],
        dlq_replication=value[DLQ_REPLICATION],
        is_dlq_replication_given=DLQ_REPLICATION in config,
        dlq_has_context=value["errors.deadletterqueue.context.headers.enable"],
    )


def source_settings(config: Mapping[str, str]) -> SourceSettings:
    value = _Values(config, PluginKind.SOURCE)
    try:
        boundary = TransactionBoundary(value["transaction.boundary"])
    except ValueError:
        reason = "connectors do not end transactions themselves here: use poll or interval"
        raise InvalidSettings([Problem("transaction.boundary", reason)]) from None
    return SourceSettings(
        value["topic.creation.groups"],
        boundary,
        value["transaction.boundary.interval.ms"],
        value["offsets.storage.topic"],
    )


def sink_settings(config: Mapping[str, str]) -> SinkSettings:
    value = _Values(config, PluginKind.SINK)
    settings = SinkSettings(value["topics"], value["topics.regex"])
    if bool(settings.topics) == bool(settings.topics_regex):
        raise InvalidSettings([Problem("topics", "a sink needs either topics or topics.regex")])
    return settings


class _Values:
    """Typed values by name, as every connector's keys declare them."""

    def __init__(self, config: Mapping[str, str], kind: PluginKind) -> None:
        self._config = config
        self._keys = {key.name: key for key in CONNECTOR_KEYS[kind]}

    def __getitem__(self, name: str) -> Any:
        text = self._config.get(name)
        return self._keys[name].default_value() if text is None else self._keys[name].parse(text)


def tasks_max(config: Mapping[str, str]) -> int:
    """ConnectError when it is no number."""
    text = config.get(TASKS_MAX, TASKS_MAX_DEFAULT)
    if not text.strip().isdecimal() or not int(text):
        raise ConnectError(f"{TASKS_MAX}={text}: expected a whole number from 1 on")
    return int(text)
