"""Broker settings of share groups and of the topic that keeps their state."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.checks import distinct_and_not_empty
from core_broker.configs.groups import WHY_TREATED_AS_ONE
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

_NOT_YET = "share groups are not served yet"

_inert = partial(BrokerSetting, effect=Effect.INERT, why=_NOT_YET)
_dynamic = partial(_inert, mode=UpdateMode.CLUSTER_WIDE)

MEMBERS = (
    _inert("group.share.assignors", Kind.LIST, "simple", "Assignor of the broker.", check=distinct_and_not_empty),
    _dynamic(
        "group.share.assignment.interval.ms",
        Kind.INT,
        1000,
        "Least time between two assignments of a group.",
        "ms",
        minimum=0,
    ),
    _inert(
        "group.share.min.assignment.interval.ms",
        Kind.INT,
        0,
        "Least value that a group may choose for it.",
        "ms",
        minimum=0,
    ),
    _inert("group.share.max.assignment.interval.ms", Kind.INT, 15000, "Greatest such value.", "ms", minimum=0),
    _inert(
        "group.share.heartbeat.interval.ms", Kind.INT, 5000, "Time between two heartbeats of a member.", "ms", minimum=1
    ),
    _inert(
        "group.share.min.heartbeat.interval.ms",
        Kind.INT,
        5000,
        "Least value that a group may choose for it.",
        "ms",
        minimum=1,
    ),
    _inert("group.share.max.heartbeat.interval.ms", Kind.INT, 15000, "Greatest such value.", "ms", minimum=1),
    _inert(
        "group.share.session.timeout.ms", Kind.INT, 45000, "Silence after which a member is dropped.", "ms", minimum=1
    ),
    _inert(
        "group.share.min.session.timeout.ms",
        Kind.INT,
        45000,
        "Least value that a group may choose for it.",
        "ms",
        minimum=1,
    ),
    _inert("group.share.max.session.timeout.ms", Kind.INT, 60000, "Greatest such value.", "ms", minimum=1),
    _inert("group.share.max.share.sessions", Kind.INT, 2000, "Share sessions of one broker.", minimum=1),
    _inert("group.share.max.size", Kind.INT, 200, "Members of one share group.", minimum=1, maximum=1000),
)

DELIVERY = (
    _inert("group.share.delivery.count.limit", Kind.INT, 5, "Attempts to deliver a record.", minimum=2, maximum=10),
    _inert(
        "group.share.min.delivery.count.limit",
        Kind.INT,
        2,
        "Least value that a group may choose for it.",
        minimum=2,
        maximum=5,
    ),
    _inert("group.share.max.delivery.count.limit", Kind.INT, 10, "Greatest such value.", minimum=5, maximum=25),
    _inert(
        "group.share.record.lock.duration.ms",
        Kind.INT,
        30000,
        "Time that a member holds a record.",
        "ms",
        minimum=1000,
        maximum=3600000,
    ),
    _inert(
        "group.share.min.record.lock.duration.ms",
        Kind.INT,
        15000,
        "Least value that a group may choose for it.",
        "ms",
        minimum=1000,
        maximum=30000,
    ),
    _inert(
        "group.share.max.record.lock.duration.ms",
        Kind.INT,
        60000,
        "Greatest such value.",
        "ms",
        minimum=30000,
        maximum=3600000,
    ),
    _inert(
        "group.share.partition.max.record.locks",
        Kind.INT,
        2000,
        "Records of a partition held at a time.",
        minimum=100,
        maximum=10000,
    ),
    _inert(
        "group.share.min.partition.max.record.locks",
        Kind.INT,
        100,
        "Least value that a group may choose for it.",
        minimum=100,
        maximum=2000,
    ),
    _inert(
        "group.share.max.partition.max.record.locks",
        Kind.INT,
        4000,
        "Greatest such value.",
        minimum=2000,
        maximum=10000,
    ),
    _inert(
        "share.fetch.purgatory.purge.interval.requests",
        Kind.INT,
        1000,
        "Share fetches after which finished waiters are swept.",
    ),
)

STATE = (
    _inert("share.coordinator.threads", Kind.INT, 1, "Threads of the share coordinator.", minimum=1),
    _inert(
        "share.coordinator.append.linger.ms",
        Kind.INT,
        -1,
        "Time that records wait for company; -1: adaptive.",
        "ms",
        minimum=-1,
    ),
    _dynamic(
        "share.coordinator.cached.buffer.max.bytes",
        Kind.INT,
        1048588,
        "Largest write buffer to keep.",
        "bytes",
        minimum=524288,
    ),
    _inert(
        "share.coordinator.load.buffer.size",
        Kind.INT,
        5 << 20,
        "Data read at a time when state is loaded.",
        "bytes",
        minimum=1,
    ),
    _inert(
        "share.coordinator.snapshot.update.records.per.snapshot",
        Kind.INT,
        500,
        "Updates between two snapshots of a partition's state.",
        minimum=0,
        maximum=500,
    ),
    _inert(
        "share.coordinator.write.timeout.ms", Kind.INT, 5000, "Time that a write of state may take.", "ms", minimum=1
    ),
    _inert("share.coordinator.state.topic.compression.codec", Kind.INT, 0, "Codec of the state topic, as a number."),
    _inert("share.coordinator.state.topic.num.partitions", Kind.INT, 50, "Partitions of the state topic.", minimum=1),
    _inert(
        "share.coordinator.state.topic.segment.bytes", Kind.INT, 100 << 20, "Size of its segments.", "bytes", minimum=1
    ),
    _inert(
        "share.coordinator.state.topic.replication.factor",
        Kind.SHORT,
        3,
        "Replicas of the state topic.",
        minimum=1,
        why=WHY_TREATED_AS_ONE,
    ),
    _inert(
        "share.coordinator.state.topic.min.isr",
        Kind.SHORT,
        2,
        "In-sync replicas of the state topic.",
        minimum=1,
        why=WHY_TREATED_AS_ONE,
    ),
    _inert(
        "share.coordinator.state.topic.prune.interval.ms",
        Kind.INT,
        300000,
        "Time between two prunings.",
        "ms",
        minimum=1,
        internal=True,
    ),
    _inert(
        "share.coordinator.cold.partition.snapshot.interval.ms",
        Kind.INT,
        300000,
        "Time between two snapshots of idle partitions.",
        "ms",
        minimum=1,
        internal=True,
    ),
    _inert(
        "group.share.initialize.retry.interval.ms",
        Kind.INT,
        30000,
        "Pause before state is set up again.",
        "ms",
        minimum=1,
        internal=True,
    ),
    _inert(
        "group.share.persister.class.name",
        Kind.STRING,
        "org.apache.kafka.server.share.persister.DefaultStatePersister",
        "Java class that keeps the state.",
        internal=True,
    ),
)

SETTINGS = (*MEMBERS, *DELIVERY, *STATE)
