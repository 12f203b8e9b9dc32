"""Broker settings of quotas: the windows in which rates are measured, and limits on replication."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.log import LONG_MAX
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

_NO_FOLLOWER = "there is one replica, so that nothing is replicated"

_window = partial(BrokerSetting, minimum=1)
_replication = partial(BrokerSetting, effect=Effect.INERT, minimum=1, why=_NO_FOLLOWER)
_throttle = partial(BrokerSetting, mode=UpdateMode.CLUSTER_WIDE, effect=Effect.INERT, minimum=0, why=_NO_FOLLOWER)

WINDOWS = (
    _window("quota.window.num", Kind.INT, 11, "Windows over which a client's rate is measured."),
    _window("quota.window.size.seconds", Kind.INT, 1, "Length of such a window.", "s"),
    _window("controller.quota.window.num", Kind.INT, 11, "Windows for the rate of changes to topics."),
    _window("controller.quota.window.size.seconds", Kind.INT, 1, "Length of such a window.", "s"),
    _replication("replication.quota.window.num", Kind.INT, 11, "Windows for the rate of replication."),
    _replication("replication.quota.window.size.seconds", Kind.INT, 1, "Length of such a window.", "s"),
    _replication("alter.log.dirs.replication.quota.window.num", Kind.INT, 11, "Windows for moves between directories."),
    _replication("alter.log.dirs.replication.quota.window.size.seconds", Kind.INT, 1, "Length of such a window.", "s"),
)

CALLBACK = (
    BrokerSetting(
        "client.quota.callback.class",
        Kind.CLASS,
        None,
        "Java class that computes quotas.",
        effect=Effect.REFUSED,
        why="this broker runs no Java classes, so that no quota would come from it",
    ),
)

# These exist only as dynamic settings: Kafka knows them in no file.
DYNAMIC_ONLY = (
    _throttle(
        "leader.replication.throttled.rate", Kind.LONG, LONG_MAX, "Bytes that leaders may send to followers.", "bytes/s"
    ),
    _throttle("follower.replication.throttled.rate", Kind.LONG, LONG_MAX, "Bytes that followers may fetch.", "bytes/s"),
    _throttle(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        Kind.LONG,
        LONG_MAX,
        "Bytes that moves between directories may use.",
        "bytes/s",
    ),
)

SETTINGS = (*WINDOWS, *CALLBACK)
