"""The steps that heartbeats and joins have in common: a new group epoch, a new target, a member on its way to it."""

from __future__ import annotations

import logging
from collections.abc import Collection

from core_broker.coordinators.groups import consumer_records as records
from core_broker.coordinators.groups.cluster import Cluster
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.consumer_member import ConsumerMember, MemberState
from core_broker.coordinators.groups.member_watch import MemberWatch, Timeout, Watched
from core_broker.coordinators.groups.reconciliation import Owned, Reconciliation
from core_broker.coordinators.groups.subscriptions import metadata_hash, topic_ids_of, topics_of_all
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.groups.target_assignment import (
    Target,
    assignor_votes,
    compute_target,
    members_with,
    preferred_assignor,
    target_records,
)
from core_broker.coordinators.record import CoordinatorRecord

logger = logging.getLogger(__name__)


class GroupChanges:
    def __init__(self, surroundings: Surroundings, cluster: Cluster, watch: MemberWatch) -> None:
        self._surroundings = surroundings
        self._cluster = cluster
        self._watch = watch

    def update_epoch(
        self, group: ConsumerGroup, updated: ConsumerMember, written: list[CoordinatorRecord], *, bump: bool
    ) -> int:
        """The group epoch with a member as it is now; it rises when `bump` says so or subscribed topics have changed."""
        if not bump and not group.is_refresh_due:
            return group.group_epoch
        names = topics_of_all(members_with(group, updated).values(), group.regexes)
        new_hash = metadata_hash(names, self._cluster.image)
        epoch = group.group_epoch
        if bump or new_hash != group.metadata_hash:
            epoch += 1
            written.append(records.group_epoch(group.group_id, epoch, new_hash))
        group.refreshed(epoch)
        if group.has_partition_metadata:
            written.append(records.no_partition_metadata(group.group_id))
        return epoch

    def update_target(
        self, group: ConsumerGroup, updated: ConsumerMember, epoch: int, written: list[CoordinatorRecord]
    ) -> Target:
        """What the member shall have: computed anew if the group epoch has risen and the last time is long enough ago."""
        now_ms = self._surroundings.clock_ms()
        if epoch <= group.assignment_epoch or not self._may_assign(group, now_ms):
            return Target(group.assignment_epoch, group.target_of(updated))
        members = members_with(group, updated)
        default = self._cluster.settings_of(group.group_id).assignors[0]
        assignor = preferred_assignor(members, default, known=assignor_votes(group.members))
        target = compute_target(group, members, assignor, self._cluster.image)
        written.extend(target_records(group, target, epoch, now_ms))
        logger.debug("group %s: new target assignment for epoch %d with %s", group.group_id, epoch, assignor)
        return Target(epoch, target[updated.member_id])

    def _may_assign(self, group: ConsumerGroup, now_ms: int) -> bool:
        """A clock that was set back does not stop a group."""
        interval_ms = self._cluster.settings_of(group.group_id).assignment_interval_ms
        return not 0 <= now_ms - group.assignment_time_ms < interval_ms

    def reconcile(
        self,
        group: ConsumerGroup,
        member: ConsumerMember,
        target: Target,
        owned: Owned,
        written: list[CoordinatorRecord],
        *,
        subscription_changed: bool,
    ) -> ConsumerMember:
        if not subscription_changed and member.is_reconciled_to(target.epoch):
            return member
        subscribed = topic_ids_of(member, group.regexes, self._cluster.image)
        settled = Reconciliation(
            target.epoch, target.assignment, subscribed, subscription_changed, group.partition_epoch, owned
        ).step(member)
        if settled != member:
            written.append(records.current_assignment(group.group_id, settled))
            if settled.classic is None:
                self._watch_revocation(group, settled)
        return settled

    def _watch_revocation(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        watched = Watched(group.group_id, member.member_id)
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            self._watch.start(watched, Timeout.REBALANCE, max(member.rebalance_timeout_ms, 0))
        else:
            self._watch.stop(watched, Timeout.REBALANCE)

    def removal(self, group: ConsumerGroup, members: Collection[ConsumerMember]) -> list[CoordinatorRecord]:
        """Members go: tombstones for them and for patterns that nobody else subscribes to, and a new group epoch."""
        if not members:
            return []
        gone = {member.member_id for member in members}
        written = [record for member_id in gone for record in records.no_member(group.group_id, member_id)]
        staying = [member for member_id, member in group.members.items() if member_id not in gone]
        patterns = {member.regex for member in staying}
        written.extend(
            records.no_regex(group.group_id, regex)
            for regex in sorted({member.regex for member in members if member.regex} - patterns)
        )
        new_hash = metadata_hash(topics_of_all(staying, group.regexes), self._cluster.image)
        written.append(records.group_epoch(group.group_id, group.group_epoch + 1, new_hash))
        for member_id in gone:
            self._watch.end(Watched(group.group_id, member_id))
        return written
