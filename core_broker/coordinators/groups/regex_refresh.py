"""Keeps what the patterns of a group match up to date: matching runs on another thread, and its outcome is a record."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final

from barnabas.wire.errors import KafkaError
from core_broker.context import RequestContext
from core_broker.coordinators.groups import consumer_records as records
from core_broker.coordinators.groups.cluster import Cluster
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.consumer_member import ConsumerMember
from core_broker.coordinators.groups.rebalances import Write
from core_broker.coordinators.groups.regular_expressions import ResolvedRegex, check_regex, matching_topics
from core_broker.coordinators.groups.subscriptions import metadata_hash, topics_of_all
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import CoordinatorRecord

logger = logging.getLogger(__name__)

REFRESH_MIN_INTERVAL_MS: Final = 10_000
"""However many topics come: a group's patterns are matched no more often than this."""


class RegexChange(Enum):
    """What a member did to its pattern."""

    NONE = "nothing"
    CHANGED = "changed"
    TO_RESOLVED = "changed to one whose topics are known"


class RegexRefresh:
    def __init__(
        self,
        surroundings: Surroundings,
        cluster: Cluster,
        write: Write,
        find: Callable[[str], ConsumerGroup | None],
    ) -> None:
        self._surroundings = surroundings
        self._cluster = cluster
        self._write = write
        self._find = find
        self._under_way: set[str] = set()

    def follow(
        self,
        context: RequestContext | None,
        group: ConsumerGroup,
        member: ConsumerMember,
        updated: ConsumerMember,
        written: list[CoordinatorRecord],
    ) -> RegexChange:
        """Notes a changed pattern, and has the group's patterns matched again when that is due.

        That is done in the name of the member that asks; without a context it is left to the next one.
        """
        change = _change(group, member.regex, updated.regex, written)
        if context is not None and (group.regex_counts or updated.regex):
            counts = Counter(group.regex_counts)
            if member.member_id in group.members and member.regex:
                counts[member.regex] -= 1
            if updated.regex:
                counts[updated.regex] += 1
            regexes = frozenset(+counts)
            if regexes and self._is_due(group, regexes):
                self._start(context, group.group_id, regexes)
        return change

    def _is_due(self, group: ConsumerGroup, regexes: frozenset[str]) -> bool:
        if group.group_id in self._under_way:
            return False
        if not group.regexes:
            return True
        now_ms = self._surroundings.clock_ms()
        last = next(iter(group.regexes.values()))
        age_ms = now_ms - last.time_ms
        if 0 <= age_ms <= REFRESH_MIN_INTERVAL_MS:
            return False
        interval_ms = self._cluster.settings_of(group.group_id).regex_refresh_interval_ms
        return (
            regexes != group.regexes.keys()
            or last.version < self._cluster.new_topics_version
            or not 0 <= age_ms <= interval_ms
        )

    def _start(self, context: RequestContext, group_id: str, regexes: frozenset[str]) -> None:
        self._under_way.add(group_id)
        image = self._cluster.image
        time_ms = self._surroundings.clock_ms()

        def done(result: Mapping[str, frozenset[str]] | Exception) -> None:
            if group_id not in self._under_way:
                return
            self._under_way.discard(group_id)
            if isinstance(result, Exception):
                logger.error("group %s: its patterns could not be matched: %s", group_id, result)
                return
            resolved = {
                regex: ResolvedRegex(
                    frozenset(topic for topic in topics if self._cluster.may_describe(context, topic)),
                    image.offset,
                    time_ms,
                )
                for regex, topics in result.items()
            }
            self._take(group_id, resolved)

        self._cluster.in_background(lambda: matching_topics(regexes, list(image.topics)), done)

    def forget(self, group_id: str) -> None:
        """The group goes away, or its shard: what is being matched for it is not waited for."""
        self._under_way.discard(group_id)

    def _take(self, group_id: str, resolved: Mapping[str, ResolvedRegex]) -> None:
        group = self._find(group_id)
        if group is None:
            return
        wanted = {regex: result for regex, result in resolved.items() if regex in group.regex_counts}
        if not wanted:
            return
        written = [records.resolved_regex(group_id, regex, result) for regex, result in wanted.items()]
        changed = any(_topics(group, regex) != result.topics for regex, result in wanted.items())
        names = topics_of_all(group.members.values(), {**group.regexes, **wanted})
        new_hash = metadata_hash(names, self._cluster.image)
        if changed or new_hash != group.metadata_hash:
            epoch = group.group_epoch + 1
            written.append(records.group_epoch(group_id, epoch, new_hash))
            group.refreshed(epoch)

        def then(error: KafkaError | None) -> None:
            if error is not None:
                logger.warning("group %s: matched patterns could not be written down: %s", group_id, error)

        self._write(written, then)


def _change(group: ConsumerGroup, old: str, new: str, written: list[CoordinatorRecord]) -> RegexChange:
    if old == new:
        return RegexChange.NONE
    if old and group.regex_counts[old] == 1:
        written.append(records.no_regex(group.group_id, old))
    if not new:
        return RegexChange.TO_RESOLVED
    if not group.regex_counts[new]:
        check_regex(new)
        return RegexChange.CHANGED
    return RegexChange.TO_RESOLVED if new in group.regexes else RegexChange.CHANGED


def _topics(group: ConsumerGroup, regex: str) -> frozenset[str]:
    """What a pattern was last known to match."""
    known = group.regexes.get(regex)
    return frozenset() if known is None else known.topics
