"""Broker settings of transactions and of the topic that keeps their state."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.groups import WHY_TREATED_AS_ONE
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

_inert = partial(BrokerSetting, effect=Effect.INERT, why=WHY_TREATED_AS_ONE)

SETTINGS = (
    BrokerSetting(
        "transaction.max.timeout.ms",
        Kind.INT,
        900000,
        "Longest transaction that a producer may ask for.",
        "ms",
        minimum=1,
    ),
    BrokerSetting(
        "transactional.id.expiration.ms",
        Kind.INT,
        604800000,
        "Time after which an unused transactional id goes.",
        "ms",
        minimum=1,
    ),
    BrokerSetting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        Kind.INT,
        10000,
        "Time between two looks for transactions that took too long.",
        "ms",
        minimum=1,
    ),
    BrokerSetting(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        Kind.INT,
        3600000,
        "Time between two looks for unused transactional ids.",
        "ms",
        minimum=1,
    ),
    BrokerSetting(
        "transaction.partition.verification.enable",
        Kind.BOOLEAN,
        True,
        "Check that a partition belongs to the transaction before writing to it.",
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    BrokerSetting(
        "transaction.two.phase.commit.enable",
        Kind.BOOLEAN,
        False,
        "Let an outside coordinator decide about transactions.",
        effect=Effect.REFUSED,
        why="two-phase commit is not served",
    ),
    BrokerSetting(
        "transaction.state.log.load.buffer.size",
        Kind.INT,
        5 << 20,
        "Data read at a time when state is loaded.",
        "bytes",
        minimum=1,
    ),
    BrokerSetting("transaction.state.log.num.partitions", Kind.INT, 50, "Partitions of the state topic.", minimum=1),
    BrokerSetting(
        "transaction.state.log.segment.bytes", Kind.INT, 100 << 20, "Size of its segments.", "bytes", minimum=1
    ),
    _inert(
        "transaction.state.log.replication.factor",
        Kind.SHORT,
        3,
        "Replicas of the state topic.",
        minimum=1,
    ),
    _inert(
        "transaction.state.log.min.isr",
        Kind.INT,
        2,
        "In-sync replicas of the state topic.",
        minimum=1,
    ),
    BrokerSetting(
        "add.partitions.to.txn.retry.backoff.ms",
        Kind.INT,
        20,
        "Pause before a partition is added again.",
        "ms",
        minimum=1,
    ),
    BrokerSetting("add.partitions.to.txn.retry.backoff.max.ms", Kind.INT, 100, "Longest such pause.", "ms", minimum=0),
)
