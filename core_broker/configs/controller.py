"""Broker settings of the controller and of its metadata log. One node is its own quorum, so that few of them have work to do."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.checks import one_voter
from core_broker.configs.setting import BrokerSetting, Effect

_ALONE = "this node is the only controller"

_inert = partial(BrokerSetting, effect=Effect.INERT, why=_ALONE)

QUORUM = (
    _inert(
        "controller.quorum.voters", Kind.LIST, "", "Controllers as ID@HOST:PORT; at most this node.", check=one_voter
    ),
    _inert(
        "controller.quorum.bootstrap.servers", Kind.LIST, "", "Addresses of controllers; at most one.", check=one_voter
    ),
    _inert("controller.quorum.auto.join.enable", Kind.BOOLEAN, False, "Join the quorum without being told."),
    _inert(
        "controller.quorum.append.linger.ms", Kind.INT, 25, "Time that metadata waits for company.", "ms", minimum=0
    ),
    _inert(
        "controller.quorum.election.backoff.max.ms", Kind.INT, 1000, "Longest pause between elections.", "ms", minimum=0
    ),
    _inert("controller.quorum.election.timeout.ms", Kind.INT, 1000, "Time to an election.", "ms", minimum=0),
    _inert("controller.quorum.fetch.max.bytes", Kind.INT, 1 << 20, "Metadata in one fetch.", "bytes", minimum=1),
    _inert(
        "controller.quorum.fetch.snapshot.max.bytes", Kind.INT, 1 << 20, "Snapshot in one fetch.", "bytes", minimum=1
    ),
    _inert(
        "controller.quorum.fetch.timeout.ms",
        Kind.INT,
        2000,
        "Silence of a leader that starts an election.",
        "ms",
        minimum=0,
    ),
    _inert(
        "controller.quorum.request.timeout.ms", Kind.INT, 2000, "Time that a controller has to answer.", "ms", minimum=0
    ),
    _inert("controller.quorum.retry.backoff.ms", Kind.INT, 20, "Pause before a request is repeated.", "ms", minimum=0),
    _inert("controller.socket.timeout.ms", Kind.INT, 30000, "Time for a socket to a broker.", "ms"),
    _inert(
        "controller.performance.sample.period.ms",
        Kind.LONG,
        60000,
        "Time between two reports on controller speed.",
        "ms",
        minimum=100,
        internal=True,
    ),
    _inert(
        "controller.performance.always.log.threshold.ms",
        Kind.LONG,
        2000,
        "Length of a controller event that is always reported.",
        "ms",
        minimum=0,
        internal=True,
    ),
)

MEMBERSHIP = (
    _inert("broker.heartbeat.interval.ms", Kind.INT, 2000, "Time between two heartbeats to the controller.", "ms"),
    _inert("broker.session.timeout.ms", Kind.INT, 9000, "Silence after which a broker counts as dead.", "ms"),
    _inert("initial.broker.registration.timeout.ms", Kind.INT, 60000, "Time to register with the controller.", "ms"),
)

METADATA_LOG = (
    BrokerSetting(
        "metadata.log.dir",
        Kind.STRING,
        None,
        "Directory of the metadata log.",
        effect=Effect.REFUSED,
        why="the metadata log lies beside the other logs; set log.dirs",
    ),
    BrokerSetting(
        "metadata.log.max.record.bytes.between.snapshots",
        Kind.LONG,
        20 << 20,
        "Growth of the metadata log that brings a new snapshot.",
        "bytes",
        minimum=1,
    ),
    _inert(
        "metadata.log.max.snapshot.interval.ms",
        Kind.LONG,
        3600000,
        "Time to a new snapshot; 0: by size alone.",
        "ms",
        minimum=0,
        why="snapshots are taken by size alone: an idle log does not grow",
    ),
    _inert(
        "metadata.log.segment.bytes",
        Kind.INT,
        1 << 30,
        "Size at which a segment of the metadata log ends.",
        "bytes",
        minimum=8 << 20,
        why="a segment ends with each snapshot",
    ),
    _inert(
        "metadata.log.segment.ms",
        Kind.LONG,
        604800000,
        "Age at which a segment of the metadata log ends.",
        "ms",
        why="a segment ends with each snapshot",
    ),
    _inert(
        "metadata.max.retention.bytes",
        Kind.LONG,
        100 << 20,
        "Size of old metadata to keep.",
        "bytes",
        why="only the newest snapshot and what follows it is kept",
    ),
    _inert(
        "metadata.max.retention.ms",
        Kind.LONG,
        604800000,
        "Age of old metadata to keep.",
        "ms",
        why="only the newest snapshot and what follows it is kept",
    ),
    _inert(
        "metadata.max.idle.interval.ms",
        Kind.INT,
        500,
        "Time between two empty records in an idle metadata log; 0: none.",
        "ms",
        minimum=0,
        why="nobody follows the metadata log, so that it needs no sign of life",
    ),
    _inert("internal.metadata.log.segment.bytes", Kind.INT, None, "For tests of Kafka's own.", "bytes", internal=True),
    _inert(
        "internal.metadata.max.batch.size.in.bytes",
        Kind.INT,
        8 << 20,
        "For tests of Kafka's own.",
        "bytes",
        internal=True,
    ),
    _inert("internal.metadata.delete.delay.millis", Kind.LONG, 60000, "For tests of Kafka's own.", "ms", internal=True),
)

SETTINGS = (*QUORUM, *MEMBERSHIP, *METADATA_LOG)
