"""RegexRouter and TimestampRouter: other topics for records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from connect.api.pattern import InvalidPattern, compiled
from connect.api.record import Record
from connect.api.settings import Importance, setting
from connect.data.logical import timestamp_of
from connect.errors import DataError, Problem
from connect.transforms.date_pattern import DatePattern
from connect.transforms.transform import Transform

TOPICS_KEPT_MAX: Final = 10_000

_GROUP: Final = re.compile(r"\\(.)|\$(\d)|\$\{([a-zA-Z][a-zA-Z0-9]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexRouterSettings:
    regex: str = setting("regex", "Regular expression for the whole name of a topic.", importance=Importance.HIGH)
    replacement: str = setting(
        "replacement", "The new name; $1 and ${name} stand for groups of the expression.", importance=Importance.HIGH
    )

    def problems(self) -> Iterator[Problem]:
        try:
            compiled(self.regex)
        except InvalidPattern as problem:
            yield Problem("regex", f"Invalid value {self.regex} for configuration regex: Invalid regex: {problem}")


class RegexRouter(Transform):
    """Renames the topics that match."""

    settings_type = RegexRouterSettings

    def __init__(self, settings: RegexRouterSettings) -> None:
        super().__init__(settings)
        self._pattern = compiled(settings.regex)
        self._known: dict[str, str] = {}

    def apply(self, record: Record) -> Record:
        topic = self._known.get(record.topic)
        if topic is None:
            topic = self._renamed(record.topic)
            if len(self._known) < TOPICS_KEPT_MAX:
                self._known[record.topic] = topic
        return record if topic == record.topic else record._replace(topic=topic)

    def _renamed(self, topic: str) -> str:
        found = self._pattern.fullmatch(topic)
        if found is None:
            return topic

        def group(reference: re.Match[str]) -> str:
            escaped, number, name = reference.groups()
            if escaped is not None:
                return str(escaped)
            try:
                return found.group(int(number) if number is not None else name) or ""
            except (IndexError, KeyError):
                raise DataError(
                    f"replacement={self.settings.replacement}: the regex has no group {number or name}"
                ) from None

        return _GROUP.sub(group, self.settings.replacement)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampRouterSettings:
    topic_format: str = setting(
        "topic.format",
        "The new name, in which ${topic} and ${timestamp} are replaced.",
        "${topic}-${timestamp}",
        importance=Importance.HIGH,
    )
    timestamp_format: str = setting(
        "timestamp.format",
        "A pattern of Java's SimpleDateFormat for the timestamp.",
        "yyyyMMdd",
        importance=Importance.HIGH,
    )

    def problems(self) -> Iterator[Problem]:
        try:
            DatePattern(self.timestamp_format)
        except ValueError as error:
            yield Problem(
                "timestamp.format", f"Invalid value {self.timestamp_format} for configuration timestamp.format: {error}"
            )


class TimestampRouter(Transform):
    """Puts the record's time into the name of its topic."""

    settings_type = TimestampRouterSettings

    def __init__(self, settings: TimestampRouterSettings) -> None:
        super().__init__(settings)
        self._pattern = DatePattern(settings.timestamp_format)

    def apply(self, record: Record) -> Record:
        if record.timestamp_ms is None:
            raise DataError(f"Timestamp missing on record: topic {record.topic}")
        timestamp = self._pattern.format(timestamp_of(record.timestamp_ms))
        topic = self.settings.topic_format.replace("${topic}", record.topic).replace("${timestamp}", timestamp)
        return record._replace(topic=topic)
