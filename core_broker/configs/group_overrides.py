"""What a single group may set for itself, each with the broker setting that stands in for it."""

from __future__ import annotations

import re
from functools import partial

from barnabas.kernel.settings import Catalogue, Kind, Value
from core_broker.configs.setting import Effect, GroupSetting

_DURATION = re.compile(r"P(?!$)([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?", re.IGNORECASE)

_setting = partial(GroupSetting, effect=Effect.INERT, why="streams and share groups are not served")


def _reset_policy(value: Value) -> str | None:
    policy, _, duration = str(value).partition(":")
    if str(value) in ("latest", "earliest") or (policy == "by_duration" and _DURATION.fullmatch(duration)):
        return None
    return "expected latest, earliest or by_duration:PnDTnHnMn.nS"


GROUP_CATALOGUE: Catalogue[GroupSetting] = Catalogue(
    [
        GroupSetting(
            "consumer.session.timeout.ms",
            Kind.INT,
            45000,
            "Silence after which a member is dropped.",
            "ms",
            minimum=1,
            synonym="group.consumer.session.timeout.ms",
        ),
        GroupSetting(
            "consumer.heartbeat.interval.ms",
            Kind.INT,
            5000,
            "Time between two heartbeats of a member.",
            "ms",
            minimum=1,
            synonym="group.consumer.heartbeat.interval.ms",
        ),
        GroupSetting(
            "consumer.assignment.interval.ms",
            Kind.INT,
            1000,
            "Least time between two assignments.",
            "ms",
            minimum=0,
            synonym="group.consumer.assignment.interval.ms",
        ),
        _setting(
            "streams.session.timeout.ms",
            Kind.INT,
            45000,
            "Silence after which a member is dropped.",
            "ms",
            minimum=1,
            synonym="group.streams.session.timeout.ms",
        ),
        _setting(
            "streams.heartbeat.interval.ms",
            Kind.INT,
            5000,
            "Time between two heartbeats of a member.",
            "ms",
            minimum=1,
            synonym="group.streams.heartbeat.interval.ms",
        ),
        _setting(
            "streams.assignment.interval.ms",
            Kind.INT,
            1000,
            "Least time between two assignments.",
            "ms",
            minimum=0,
            synonym="group.streams.assignment.interval.ms",
        ),
        _setting(
            "streams.initial.rebalance.delay.ms",
            Kind.INT,
            3000,
            "Time that a new group waits for more members.",
            "ms",
            minimum=0,
            synonym="group.streams.initial.rebalance.delay.ms",
        ),
        _setting(
            "streams.num.standby.replicas",
            Kind.INT,
            0,
            "Standby copies of each task.",
            minimum=0,
            synonym="group.streams.num.standby.replicas",
        ),
        _setting(
            "share.session.timeout.ms",
            Kind.INT,
            45000,
            "Silence after which a member is dropped.",
            "ms",
            minimum=1,
            synonym="group.share.session.timeout.ms",
        ),
        _setting(
            "share.heartbeat.interval.ms",
            Kind.INT,
            5000,
            "Time between two heartbeats of a member.",
            "ms",
            minimum=1,
            synonym="group.share.heartbeat.interval.ms",
        ),
        _setting(
            "share.assignment.interval.ms",
            Kind.INT,
            1000,
            "Least time between two assignments.",
            "ms",
            minimum=0,
            synonym="group.share.assignment.interval.ms",
        ),
        _setting(
            "share.delivery.count.limit",
            Kind.INT,
            5,
            "Attempts to deliver a record.",
            minimum=2,
            synonym="group.share.delivery.count.limit",
        ),
        _setting(
            "share.record.lock.duration.ms",
            Kind.INT,
            30000,
            "Time that a member holds a record.",
            "ms",
            minimum=1000,
            synonym="group.share.record.lock.duration.ms",
        ),
        _setting(
            "share.partition.max.record.locks",
            Kind.INT,
            2000,
            "Records of a partition held at a time.",
            minimum=100,
            synonym="group.share.partition.max.record.locks",
        ),
        _setting("share.auto.offset.reset", Kind.STRING, "latest", "Where a new group begins.", check=_reset_policy),
        _setting(
            "share.isolation.level",
            Kind.STRING,
            "read_uncommitted",
            "Whether members see records of open transactions.",
            choices=("read_committed", "read_uncommitted"),
        ),
        _setting("share.renew.acknowledge.enable", Kind.BOOLEAN, True, "Whether a member may hold a record longer."),
    ]
)
