"""Subscriptions by pattern."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import re2  # type: ignore[import-untyped]  # it has no stubs

from rest_proxy.v2.consuming.refusals import invalid
from rest_proxy.v2.topics import INTERNAL_TOPICS

PATTERN_MAX_CHARACTERS: Final = 1_000


class TopicPattern:
    """A regular expression that the whole name of a topic must match. Kafka's own topics are never meant.

    librdkafka would match patterns itself, with an engine that hostile ones can keep busy for ever. RE2 takes linear time.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > PATTERN_MAX_CHARACTERS:
            raise invalid(f"topic_pattern has more than {PATTERN_MAX_CHARACTERS} characters")
        options = re2.Options()
        options.log_errors = False
        try:
            self._expression = re2.compile(pattern, options)
        except re2.error as problem:
            reason = problem.args[0]
            said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
            raise invalid(f"topic_pattern {pattern!r} is not a regular expression of RE2: {said}") from None

    def matches(self, topics: Iterable[str]) -> list[str]:
        return sorted(name for name in topics if name not in INTERNAL_TOPICS and self._expression.fullmatch(name))
