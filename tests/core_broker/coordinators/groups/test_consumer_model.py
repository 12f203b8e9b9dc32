"""Members that join, leave, fall silent, lose answers and change their minds, brokers that crash: whatever the order, no partition
is with two members at once, and when everything is quiet again everybody has its share."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from tests.core_broker.coordinators.groups.consumer_context import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    ConsumerShard,
    HandMadeCluster,
)
from tests.core_broker.coordinators.groups.test_consumer_protocol import contents
from tests.core_broker.coordinators.virtual_time import VirtualTime

TOPICS = ("t", "u", "v")
MEMBERS = ("a", "b", "c", "d")
PARTITIONS_MAX = 5
QUIET_ROUNDS_MAX = 15

Partition = tuple[bytes, int]


class ModelMember:
    """As a consumer: new partitions it takes at once, others it gives up when it gets round to it, and then it says so."""

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.epoch = 0
        self.is_in = False
        self.topics: list[str] = ["t"]
        self.regex = ""
        self.owned: set[Partition] = set()
        self.assigned: set[Partition] = set()

    def request(self) -> ConsumerGroupHeartbeatRequest:
        """Everything, as after a lost answer: it is what a consumer sends when it is not sure."""
        topics: dict[bytes, list[int]] = {}
        for topic_id, number in sorted(self.owned if self.is_in else ()):
            topics.setdefault(topic_id, []).append(number)
        return ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.epoch if self.is_in else 0,
            rebalance_timeout_ms=REBALANCE_MS,
            subscribed_topic_names=self.topics,
            subscribed_topic_regex=self.regex,
            topic_partitions=[TopicPartitions(topic_id=key, partitions=value) for key, value in topics.items()],
        )

    def hear(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        if answer.error_code != ErrorCode.NONE:
            assert answer.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH)
            self.forget()
            return
        self.is_in = True
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.assigned = {
                (topic.topic_id, number) for topic in answer.assignment.topic_partitions for number in topic.partitions
            }
            self.owned |= self.assigned

    def give_up(self) -> None:
        self.owned &= self.assigned

    def forget(self) -> None:
        self.is_in = False
        self.epoch = 0
        self.owned = set()
        self.assigned = set()


class ConsumerGroupModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cluster = HandMadeCluster()
        self.time = VirtualTime()
        self.shard = ConsumerShard(self.time, self.cluster)
        self.shard.set_topic("t", 3)
        self.members = {member_id: ModelMember(member_id) for member_id in MEMBERS}

    def group(self) -> ConsumerGroup | None:
        group = self.shard.state.groups.get(GROUP)
        assert group is None or isinstance(group, ConsumerGroup)
        return group

    # What happens.

    @rule(member_id=st.sampled_from(MEMBERS))
    def beat(self, member_id: str) -> None:
        member = self.members[member_id]
        member.hear(self.shard.heartbeat(member.request()))

    @rule(member_id=st.sampled_from(MEMBERS))
    def give_up(self, member_id: str) -> None:
        self.members[member_id].give_up()

    @rule(member_id=st.sampled_from(MEMBERS), topics=st.sets(st.sampled_from(TOPICS)))
    def subscribe(self, member_id: str, topics: set[str]) -> None:
        self.members[member_id].topics = sorted(topics)
        self.members[member_id].regex = ""

    @rule(member_id=st.sampled_from(MEMBERS), regex=st.sampled_from(["[tu]", "[uv]", "."]))
    def subscribe_by_pattern(self, member_id: str, regex: str) -> None:
        self.members[member_id].topics = []
        self.members[member_id].regex = regex

    @rule()
    def match_patterns(self) -> None:
        self.cluster.work()

    @rule(member_id=st.sampled_from(MEMBERS))
    def leave(self, member_id: str) -> None:
        member = self.members[member_id]
        if member.is_in:
            request = ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id=member_id, member_epoch=-1)
            assert self.shard.heartbeat(request).error_code in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID)
        member.forget()

    @rule(topic=st.sampled_from(TOPICS), count=st.integers(1, PARTITIONS_MAX))
    def create_or_grow(self, topic: str, count: int) -> None:
        known = self.cluster.image.topics.get(topic)
        if known is None or len(known.partitions) < count:
            self.shard.set_topic(topic, count)

    @precondition(lambda self: "v" in self.cluster.image.topics)
    @rule()
    def delete_topic(self) -> None:
        self.shard.set_topic("v", 0)

    @rule(duration_ms=st.sampled_from([1, 1000, 11_000, SESSION_MS // 2, SESSION_MS, REBALANCE_MS]))
    def pass_time(self, duration_ms: int) -> None:
        self.time.pass_ms(duration_ms)

    @rule()
    def crash(self) -> None:
        """Everything that was written is there."""
        self.the_log_says_the_same()
        self.shard.reload()

    @rule(member_id=st.sampled_from(MEMBERS), survives=st.booleans())
    def crash_before_the_answer(self, member_id: str, survives: bool) -> None:
        """The last batch may have become durable or not; the member hears nothing either way."""
        length = len(self.shard.log)
        self._beat_unheard(member_id)
        if not survives:
            del self.shard.log[length:]
        self.shard.reload()

    @rule(member_id=st.sampled_from(MEMBERS))
    def lose_answer(self, member_id: str) -> None:
        self._beat_unheard(member_id)

    def _beat_unheard(self, member_id: str) -> None:
        answer = self.shard.heartbeat(self.members[member_id].request())
        if answer.error_code != ErrorCode.NONE:
            self.members[member_id].hear(answer)

    # What must always be true.

    @invariant()
    def nobody_shares_a_partition(self) -> None:
        group = self.group()
        holders: dict[Partition, str] = {}
        for member_id, member in self.members.items():
            # Who was removed meanwhile does not know yet; that is what sessions and rebalance time-outs are for.
            if group is None or member_id not in group.members or not member.is_in:
                continue
            known = group.members[member_id]
            if member.epoch not in (known.member_epoch, known.previous_epoch):
                continue
            for partition in member.owned:
                assert partition not in holders, f"{partition} is with {holders[partition]} and {member_id}"
                holders[partition] = member_id

    def the_log_says_the_same(self) -> None:
        group = self.group()
        rebuilt = self.shard.rebuilt().groups.get(GROUP)
        if group is None:
            assert rebuilt is None
        else:
            assert isinstance(rebuilt, ConsumerGroup)
            assert contents(rebuilt) == contents(group)

    @invariant()
    def epochs_are_in_order(self) -> None:
        group = self.group()
        if group is not None:
            assert group.assignment_epoch <= group.group_epoch
            for member in group.members.values():
                assert member.member_epoch <= group.group_epoch

    def teardown(self) -> None:
        """When nothing more happens, all members get to the target, and every partition has an owner."""
        self.the_log_says_the_same()
        active = [member for member in self.members.values() if member.is_in]
        for _ in range(QUIET_ROUNDS_MAX):
            self.time.pass_ms(11_000)
            for member in active:
                member.hear(self.shard.heartbeat(member.request()))
                member.give_up()
            self.cluster.work()
        group = self.group()
        if not active or group is None:
            return
        assert group.state_name == "Stable"
        self.nobody_shares_a_partition()
        names = self.cluster.image.topics
        wanted = {
            (names[topic].topic_id, number)
            for member in active
            for topic in TOPICS
            if topic in names
            and (topic in member.topics or (member.regex and (topic in member.regex or member.regex == ".")))
            for number in range(len(names[topic].partitions))
        }
        assert set().union(*(member.owned for member in active)) == wanted


ConsumerGroupModel.TestCase.settings = settings(
    max_examples=50,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
TestConsumerGroupModel = ConsumerGroupModel.TestCase
