"""Subscriptions by regular expression, in RE2's language: their time is linear in what they are matched against."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.wire.errors import ErrorCode, KafkaError

REGEX_MAX_CHARACTERS: Final = 32 << 10
PROGRAM_MAX_BYTES: Final = 8 << 20
"""Memory that RE2 may use for one pattern."""


class ResolvedRegex(NamedTuple):
    """The topics that a pattern matched, when, and in which state of the metadata."""

    topics: frozenset[str]
    version: int
    time_ms: int


def check_regex(regex: str) -> None:
    """KafkaError unless it can be compiled."""
    _compile(regex)


def matching_topics(regexes: Iterable[str], topics: Collection[str]) -> Mapping[str, frozenset[str]]:
    """What each pattern matches from its beginning to its end. Takes time: runs off the event loop."""
    found: dict[str, frozenset[str]] = {}
    for regex in regexes:
        try:
            pattern = _compile(regex)
        except KafkaError:
            # It came from a broker whose RE2 understood it; a group that asks for it gets nothing from it here.
            found[regex] = frozenset()
        else:
            found[regex] = frozenset(topic for topic in topics if pattern.fullmatch(topic))
    return found


def _compile(regex: str) -> Any:
    # Loaded when first needed: few groups subscribe by pattern.
    import re2  # type: ignore[import-untyped]  # it has no stubs

    if len(regex) > REGEX_MAX_CHARACTERS:
        raise _invalid(regex[:100] + "…", f"it has more than {REGEX_MAX_CHARACTERS} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PROGRAM_MAX_BYTES
    try:
        return re2.compile(regex, options)
    except re2.error as problem:
        reason = problem.args[0]
        raise _invalid(regex, reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None


def _invalid(regex: str, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {reason}.",
    )
