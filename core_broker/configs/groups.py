"""Broker settings of consumer groups and streams groups, and of the topic that keeps their offsets."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind, Value
from core_broker.configs.checks import distinct_and_not_empty
from core_broker.configs.network import INT_MAX
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

_NO_STREAMS = "streams groups are not served"
_NO_THREADS = "groups are coordinated on the event loop, and what they write is written at once"
WHY_TREATED_AS_ONE = "internal topics have one replica, whatever this says: there is one node"
MIGRATION_POLICIES = ("disabled", "downgrade", "upgrade", "bidirectional")

_inert = partial(BrokerSetting, effect=Effect.INERT, why=_NO_STREAMS)
_dynamic = partial(_inert, mode=UpdateMode.CLUSTER_WIDE)


def _with_classic(value: Value) -> str | None:
    complaint = distinct_and_not_empty(value)
    if complaint is None and isinstance(value, tuple) and "classic" not in value:
        complaint = "the classic protocol cannot be disabled"
    return complaint


CLASSIC = (
    BrokerSetting(
        "group.initial.rebalance.delay.ms", Kind.INT, 3000, "Time that a new group waits for more members.", "ms"
    ),
    BrokerSetting(
        "group.min.session.timeout.ms", Kind.INT, 6000, "Shortest session timeout that a member may ask for.", "ms"
    ),
    BrokerSetting(
        "group.max.session.timeout.ms", Kind.INT, 1800000, "Longest session timeout that a member may ask for.", "ms"
    ),
    BrokerSetting("group.max.size", Kind.INT, INT_MAX, "Members of one group.", minimum=1),
    BrokerSetting(
        "group.max.members.and.pending",
        Kind.INT,
        10000,
        "Members of one classic group together with those that were given an id and have not joined with it yet.",
        minimum=1,
    ),
    BrokerSetting(
        "connection.max.group.members",
        Kind.INT,
        10000,
        "Members of classic groups that one connection made.",
        minimum=1,
    ),
    BrokerSetting(
        "group.max.metadata.bytes",
        Kind.INT,
        100 << 20,
        "What the members of one classic group tell of themselves, all together.",
        "bytes",
        minimum=1,
    ),
)

COORDINATOR = (
    BrokerSetting(
        "group.coordinator.rebalance.protocols",
        Kind.LIST,
        "classic,consumer,streams",
        "Group protocols that are served.",
        choices=("consumer", "classic", "share", "streams"),
        check=_with_classic,
    ),
    _inert("group.coordinator.threads", Kind.INT, 4, "Threads of the coordinator.", minimum=1, why=_NO_THREADS),
    _inert(
        "group.coordinator.background.threads",
        Kind.INT,
        2,
        "Threads for long work of the coordinator.",
        minimum=1,
        why=_NO_THREADS,
    ),
    _inert(
        "group.coordinator.append.linger.ms",
        Kind.INT,
        -1,
        "Time that a group's records wait for company; -1: adaptive.",
        "ms",
        minimum=-1,
        why=_NO_THREADS,
    ),
    _dynamic(
        "group.coordinator.cached.buffer.max.bytes",
        Kind.INT,
        1048588,
        "Largest write buffer to keep.",
        "bytes",
        minimum=524288,
        why=_NO_THREADS,
    ),
)

CONSUMER = (
    BrokerSetting(
        "group.consumer.assignors",
        Kind.LIST,
        "uniform,range",
        "Assignors of the broker; the first is the default.",
        choices=("uniform", "range"),
        check=distinct_and_not_empty,
    ),
    BrokerSetting(
        "group.consumer.assignment.interval.ms",
        Kind.INT,
        1000,
        "Least time between two assignments of a group.",
        "ms",
        minimum=0,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    BrokerSetting(
        "group.consumer.min.assignment.interval.ms",
        Kind.INT,
        0,
        "Least value that a group may choose for it.",
        "ms",
        minimum=0,
    ),
    BrokerSetting(
        "group.consumer.max.assignment.interval.ms", Kind.INT, 15000, "Greatest such value.", "ms", minimum=0
    ),
    BrokerSetting(
        "group.consumer.heartbeat.interval.ms",
        Kind.INT,
        5000,
        "Time between two heartbeats of a member.",
        "ms",
        minimum=1,
    ),
    BrokerSetting(
        "group.consumer.min.heartbeat.interval.ms",
        Kind.INT,
        5000,
        "Least value that a group may choose for it.",
        "ms",
        minimum=1,
    ),
    BrokerSetting("group.consumer.max.heartbeat.interval.ms", Kind.INT, 15000, "Greatest such value.", "ms", minimum=1),
    BrokerSetting(
        "group.consumer.session.timeout.ms",
        Kind.INT,
        45000,
        "Silence after which a member is dropped.",
        "ms",
        minimum=1,
    ),
    BrokerSetting(
        "group.consumer.min.session.timeout.ms",
        Kind.INT,
        45000,
        "Least value that a group may choose for it.",
        "ms",
        minimum=1,
    ),
    BrokerSetting("group.consumer.max.session.timeout.ms", Kind.INT, 60000, "Greatest such value.", "ms", minimum=1),
    BrokerSetting(
        "group.consumer.max.size", Kind.INT, INT_MAX, "Members of one group of the consumer protocol.", minimum=1
    ),
    BrokerSetting(
        "group.consumer.migration.policy",
        Kind.STRING,
        "bidirectional",
        "In which direction live groups may change between the classic and the consumer protocol.",
        choices=(*MIGRATION_POLICIES, *(policy.upper() for policy in MIGRATION_POLICIES)),
    ),
    BrokerSetting(
        "group.consumer.regex.refresh.interval.ms",
        Kind.INT,
        600000,
        "Time between two look-ups of subscribed patterns.",
        "ms",
        minimum=10000,
        internal=True,
    ),
)

STREAMS = (
    _dynamic(
        "group.streams.assignment.interval.ms",
        Kind.INT,
        1000,
        "Least time between two assignments of a group.",
        "ms",
        minimum=0,
    ),
    _inert(
        "group.streams.min.assignment.interval.ms",
        Kind.INT,
        0,
        "Least value that a group may choose for it.",
        "ms",
        minimum=0,
    ),
    _inert("group.streams.max.assignment.interval.ms", Kind.INT, 15000, "Greatest such value.", "ms", minimum=0),
    _inert(
        "group.streams.heartbeat.interval.ms",
        Kind.INT,
        5000,
        "Time between two heartbeats of a member.",
        "ms",
        minimum=1,
    ),
    _inert(
        "group.streams.min.heartbeat.interval.ms",
        Kind.INT,
        5000,
        "Least value that a group may choose for it.",
        "ms",
        minimum=1,
    ),
    _inert("group.streams.max.heartbeat.interval.ms", Kind.INT, 15000, "Greatest such value.", "ms", minimum=1),
    _inert(
        "group.streams.session.timeout.ms", Kind.INT, 45000, "Silence after which a member is dropped.", "ms", minimum=1
    ),
    _inert(
        "group.streams.min.session.timeout.ms",
        Kind.INT,
        45000,
        "Least value that a group may choose for it.",
        "ms",
        minimum=1,
    ),
    _inert("group.streams.max.session.timeout.ms", Kind.INT, 60000, "Greatest such value.", "ms", minimum=1),
    _inert(
        "group.streams.initial.rebalance.delay.ms",
        Kind.INT,
        3000,
        "Time that a new group waits for more members.",
        "ms",
        minimum=0,
    ),
    _inert("group.streams.max.size", Kind.INT, INT_MAX, "Members of one streams group.", minimum=1),
    _inert("group.streams.num.standby.replicas", Kind.INT, 0, "Standby copies of each task.", minimum=0),
    _inert(
        "group.streams.max.standby.replicas", Kind.INT, 2, "Greatest number that a group may choose for it.", minimum=0
    ),
)

OFFSETS = (
    BrokerSetting("offset.metadata.max.bytes", Kind.INT, 4096, "Longest note beside a committed offset.", "bytes"),
    _inert(
        "offsets.commit.timeout.ms",
        Kind.INT,
        5000,
        "Time that a commit may take.",
        "ms",
        minimum=1,
        why="there are no replicas to wait for: a commit is answered as soon as the disk has taken or refused it",
    ),
    BrokerSetting(
        "offsets.load.buffer.size",
        Kind.INT,
        5 << 20,
        "Data read at a time when offsets are loaded, at most.",
        "bytes",
        minimum=1,
    ),
    BrokerSetting(
        "offsets.retention.minutes",
        Kind.INT,
        10080,
        "Time that an empty group keeps its offsets.",
        "minutes",
        minimum=1,
    ),
    BrokerSetting(
        "offsets.retention.check.interval.ms",
        Kind.LONG,
        600000,
        "Time between two looks for old offsets.",
        "ms",
        minimum=1,
    ),
    _inert(
        "offsets.topic.compression.codec",
        Kind.INT,
        0,
        "Codec of the offsets topic, as a number.",
        why="records of offsets are small and are not compressed",
    ),
    BrokerSetting("offsets.topic.num.partitions", Kind.INT, 50, "Partitions of the offsets topic.", minimum=1),
    BrokerSetting(
        "offsets.topic.segment.bytes",
        Kind.INT,
        100 << 20,
        "Size of a segment of the offsets topic.",
        "bytes",
        minimum=1,
    ),
    _inert(
        "offsets.topic.replication.factor",
        Kind.SHORT,
        3,
        "Replicas of the offsets topic.",
        minimum=1,
        why=WHY_TREATED_AS_ONE,
    ),
)

SETTINGS = (*CLASSIC, *COORDINATOR, *CONSUMER, *STREAMS, *OFFSETS)
