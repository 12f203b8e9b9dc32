"""The configurations of a topic, each with the broker settings that stand in for it."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Catalogue, Kind
from core_broker.configs.checks import no_empty_item, throttled_replicas
from core_broker.configs.log import CLEANUP_POLICIES, CODECS, LONG_MAX, MIN_SEGMENT_BYTES, TIMESTAMP_TYPES
from core_broker.configs.node import DURABILITIES, VALIDATIONS
from core_broker.configs.remote_storage import WHY_NO_REMOTE_STORAGE
from core_broker.configs.replication import WHY_ONE_REPLICA
from core_broker.configs.setting import Effect, Synonym, TopicSetting

_MS_PER_MINUTE = 60_000
_MS_PER_HOUR = 3_600_000
_NO_FOLLOWER = "there is one replica, so that nothing follows a leader"


def _from(name: str) -> tuple[Synonym, ...]:
    return (Synonym(name),)


SEGMENTS = (
    TopicSetting(
        "segment.bytes",
        Kind.INT,
        1 << 30,
        "Size at which a segment ends.",
        "bytes",
        minimum=MIN_SEGMENT_BYTES,
        synonyms=_from("log.segment.bytes"),
    ),
    TopicSetting(
        "segment.ms",
        Kind.LONG,
        604800000,
        "Age at which a segment ends.",
        "ms",
        minimum=1,
        synonyms=(Synonym("log.roll.ms"), Synonym("log.roll.hours", _MS_PER_HOUR)),
    ),
    TopicSetting(
        "segment.jitter.ms",
        Kind.LONG,
        0,
        "Random part taken off the age at which a segment ends.",
        "ms",
        minimum=0,
        synonyms=(Synonym("log.roll.jitter.ms"), Synonym("log.roll.jitter.hours", _MS_PER_HOUR)),
    ),
    TopicSetting(
        "segment.index.bytes",
        Kind.INT,
        10 << 20,
        "Size of an offset index at which its segment ends.",
        "bytes",
        minimum=4,
        synonyms=_from("log.index.size.max.bytes"),
    ),
    TopicSetting(
        "index.interval.bytes",
        Kind.INT,
        4096,
        "Data between two entries of an index.",
        "bytes",
        minimum=0,
        synonyms=_from("log.index.interval.bytes"),
    ),
    TopicSetting(
        "file.delete.delay.ms",
        Kind.LONG,
        60000,
        "Time that a deleted segment's files stay.",
        "ms",
        minimum=0,
        synonyms=_from("log.segment.delete.delay.ms"),
    ),
    TopicSetting(
        "preallocate",
        Kind.BOOLEAN,
        False,
        "Reserve the space of a segment when it begins.",
        effect=Effect.INERT,
        why="file systems of today extend files without the cost that this avoids",
        synonyms=_from("log.preallocate"),
    ),
    TopicSetting(
        "internal.segment.bytes",
        Kind.INT,
        None,
        "Size at which a segment ends, without a minimum, for tests.",
        "bytes",
        internal=True,
    ),
)

RETENTION = (
    TopicSetting(
        "retention.ms",
        Kind.LONG,
        604800000,
        "Age at which records go; -1: never.",
        "ms",
        minimum=-1,
        synonyms=(
            Synonym("log.retention.ms"),
            Synonym("log.retention.minutes", _MS_PER_MINUTE),
            Synonym("log.retention.hours", _MS_PER_HOUR),
        ),
    ),
    TopicSetting(
        "retention.bytes",
        Kind.LONG,
        -1,
        "Size of a partition above which its oldest segments go; -1: no limit.",
        "bytes",
        synonyms=_from("log.retention.bytes"),
    ),
    TopicSetting(
        "cleanup.policy",
        Kind.LIST,
        "delete",
        "Whether old segments are deleted, or compacted to the last record of each key.",
        choices=CLEANUP_POLICIES,
        check=no_empty_item,
        synonyms=_from("log.cleanup.policy"),
    ),
)

RECORDS = (
    TopicSetting(
        "max.message.bytes",
        Kind.INT,
        1048588,
        "Largest record batch that a producer may send.",
        "bytes",
        minimum=0,
        synonyms=_from("message.max.bytes"),
    ),
    TopicSetting(
        "compression.type",
        Kind.STRING,
        "producer",
        "Codec of batches on disk; producer: as sent.",
        choices=CODECS,
        synonyms=_from("compression.type"),
    ),
    TopicSetting(
        "compression.gzip.level",
        Kind.INT,
        -1,
        "Level for gzip; -1: the library's own.",
        minimum=1,
        maximum=9,
        also=-1,
        synonyms=_from("compression.gzip.level"),
    ),
    TopicSetting(
        "compression.lz4.level",
        Kind.INT,
        9,
        "Level for lz4.",
        minimum=1,
        maximum=17,
        synonyms=_from("compression.lz4.level"),
    ),
    TopicSetting(
        "compression.zstd.level",
        Kind.INT,
        3,
        "Level for zstd.",
        minimum=-131072,
        maximum=22,
        synonyms=_from("compression.zstd.level"),
    ),
    TopicSetting(
        "message.timestamp.type",
        Kind.STRING,
        "CreateTime",
        "Whether a record keeps the producer's time or gets the broker's.",
        choices=TIMESTAMP_TYPES,
        synonyms=_from("log.message.timestamp.type"),
    ),
    TopicSetting(
        "message.timestamp.before.max.ms",
        Kind.LONG,
        LONG_MAX,
        "How far a record's time may lie in the past.",
        "ms",
        minimum=0,
        synonyms=_from("log.message.timestamp.before.max.ms"),
    ),
    TopicSetting(
        "message.timestamp.after.max.ms",
        Kind.LONG,
        3600000,
        "How far a record's time may lie in the future.",
        "ms",
        minimum=0,
        synonyms=_from("log.message.timestamp.after.max.ms"),
    ),
)

PROMISES = (
    TopicSetting(
        "durability",
        Kind.STRING,
        "durable",
        "When acks=all is answered: durable: after the data is on the disk; relaxed: when the operating system has it.",
        choices=DURABILITIES,
        synonyms=_from("durability"),
    ),
    TopicSetting(
        "validation",
        Kind.STRING,
        "header",
        "What is checked of a batch: header: its header and checksum; strict: each record too.",
        choices=VALIDATIONS,
        synonyms=_from("validation"),
    ),
    TopicSetting(
        "flush.messages",
        Kind.LONG,
        LONG_MAX,
        "Records after which a partition is flushed to the disk.",
        minimum=1,
        synonyms=_from("log.flush.interval.messages"),
    ),
    TopicSetting(
        "flush.ms",
        Kind.LONG,
        LONG_MAX,
        "Longest time that a record waits for a flush.",
        "ms",
        minimum=0,
        synonyms=(Synonym("log.flush.interval.ms"), Synonym("log.flush.scheduler.interval.ms")),
    ),
)

COMPACTION = (
    TopicSetting(
        "delete.retention.ms",
        Kind.LONG,
        86400000,
        "How long a tombstone stays readable.",
        "ms",
        minimum=0,
        synonyms=_from("log.cleaner.delete.retention.ms"),
    ),
    TopicSetting(
        "min.compaction.lag.ms",
        Kind.LONG,
        0,
        "Shortest time that a record stays uncompacted.",
        "ms",
        minimum=0,
        synonyms=_from("log.cleaner.min.compaction.lag.ms"),
    ),
    TopicSetting(
        "max.compaction.lag.ms",
        Kind.LONG,
        LONG_MAX,
        "Longest time that a record stays uncompacted.",
        "ms",
        minimum=1,
        synonyms=_from("log.cleaner.max.compaction.lag.ms"),
    ),
    TopicSetting(
        "min.cleanable.dirty.ratio",
        Kind.DOUBLE,
        0.5,
        "Dirty share of a log from which it is cleaned.",
        minimum=0,
        maximum=1,
        synonyms=_from("log.cleaner.min.cleanable.ratio"),
    ),
)

REPLICATION = (
    TopicSetting(
        "min.insync.replicas",
        Kind.INT,
        1,
        "Replicas that must have a record before acks=all is answered.",
        minimum=1,
        effect=Effect.REFUSED,
        why=WHY_ONE_REPLICA,
        synonyms=_from("min.insync.replicas"),
    ),
    TopicSetting(
        "unclean.leader.election.enable",
        Kind.BOOLEAN,
        False,
        "Let a replica lead that lacks records.",
        effect=Effect.INERT,
        why=_NO_FOLLOWER,
        synonyms=_from("unclean.leader.election.enable"),
    ),
    TopicSetting(
        "leader.replication.throttled.replicas",
        Kind.LIST,
        "",
        "Replicas whose leader sends slowly.",
        check=throttled_replicas,
        effect=Effect.INERT,
        why=_NO_FOLLOWER,
    ),
    TopicSetting(
        "follower.replication.throttled.replicas",
        Kind.LIST,
        "",
        "Replicas that follow slowly.",
        check=throttled_replicas,
        effect=Effect.INERT,
        why=_NO_FOLLOWER,
    ),
)

_remote = partial(TopicSetting, effect=Effect.REFUSED, why=WHY_NO_REMOTE_STORAGE)

REMOTE_STORAGE = (
    _remote("remote.storage.enable", Kind.BOOLEAN, False, "Move old segments to remote storage."),
    _remote("remote.log.copy.disable", Kind.BOOLEAN, False, "Stop moving segments there."),
    _remote(
        "remote.log.delete.on.disable", Kind.BOOLEAN, False, "Delete them there when remote storage is switched off."
    ),
    _remote(
        "local.retention.ms",
        Kind.LONG,
        -2,
        "Age at which local copies go; -2: as retention.ms.",
        "ms",
        minimum=-2,
        effect=Effect.INERT,
        synonyms=_from("log.local.retention.ms"),
    ),
    _remote(
        "local.retention.bytes",
        Kind.LONG,
        -2,
        "Size of local copies; -2: as retention.bytes.",
        "bytes",
        minimum=-2,
        effect=Effect.INERT,
        synonyms=_from("log.local.retention.bytes"),
    ),
)

TOPIC_CATALOGUE: Catalogue[TopicSetting] = Catalogue(
    [*SEGMENTS, *RETENTION, *RECORDS, *PROMISES, *COMPACTION, *REPLICATION, *REMOTE_STORAGE]
)
