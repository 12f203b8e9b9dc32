"""Broker settings of replication. There is one replica of everything: this node's."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

WHY_ONE_REPLICA = (
    "this broker keeps one replica of each partition, so that a larger number would promise copies that do not exist; "
    "run the services against an Apache Kafka cluster where several copies are needed"
)
_NO_FOLLOWER = "there is one replica, so that nothing follows a leader"

_inert = partial(BrokerSetting, effect=Effect.INERT, why=_NO_FOLLOWER)
_refused = partial(BrokerSetting, effect=Effect.REFUSED, why=WHY_ONE_REPLICA)

SETTINGS = (
    _refused("default.replication.factor", Kind.INT, 1, "Replicas of a topic whose creator names no number."),
    _refused(
        "min.insync.replicas",
        Kind.INT,
        1,
        "Replicas that must have a record before acks=all is answered.",
        minimum=1,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    _inert(
        "unclean.leader.election.enable",
        Kind.BOOLEAN,
        False,
        "Let a replica lead that lacks records.",
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    _inert(
        "unclean.leader.election.interval.ms",
        Kind.LONG,
        300000,
        "Time between two such elections.",
        "ms",
        minimum=1,
        internal=True,
    ),
    _inert("auto.leader.rebalance.enable", Kind.BOOLEAN, True, "Give leadership back to the preferred replica."),
    _inert(
        "leader.imbalance.check.interval.seconds", Kind.LONG, 300, "Time between two looks for that.", "s", minimum=1
    ),
    _inert(
        "num.replica.fetchers", Kind.INT, 1, "Threads that follow each leader.", minimum=1, mode=UpdateMode.CLUSTER_WIDE
    ),
    _inert("num.replica.alter.log.dirs.threads", Kind.INT, None, "Threads that move replicas between directories."),
    _inert("replica.fetch.backoff.ms", Kind.INT, 1000, "Pause of a follower after an error.", "ms", minimum=0),
    _inert(
        "replica.fetch.max.bytes", Kind.INT, 1 << 20, "Data of one partition in a follower's fetch.", "bytes", minimum=0
    ),
    _inert("replica.fetch.min.bytes", Kind.INT, 1, "Data that a follower's fetch waits for.", "bytes"),
    _inert("replica.fetch.response.max.bytes", Kind.INT, 10 << 20, "Data in a follower's fetch.", "bytes", minimum=0),
    _inert("replica.fetch.wait.max.ms", Kind.INT, 500, "Time that a follower's fetch waits.", "ms"),
    _inert(
        "replica.high.watermark.checkpoint.interval.ms",
        Kind.LONG,
        5000,
        "Time between two writes of the high watermarks.",
        "ms",
        why="they are written with the recovery points, at log.flush.offset.checkpoint.interval.ms",
    ),
    _inert("replica.lag.time.max.ms", Kind.LONG, 30000, "Lag at which a follower leaves the in-sync replicas.", "ms"),
    _inert("replica.selector.class", Kind.STRING, None, "Java class that sends readers to a near replica."),
    _inert("replica.socket.receive.buffer.bytes", Kind.INT, 65536, "Receive buffer of a follower.", "bytes"),
    _inert("replica.socket.timeout.ms", Kind.INT, 30000, "Time for a follower's socket.", "ms"),
    _inert(
        "follower.fetch.last.tiered.offset.enable",
        Kind.BOOLEAN,
        False,
        "Let an empty follower begin after remote data.",
        mode=UpdateMode.CLUSTER_WIDE,
    ),
)
