"""Broker settings of the logs: where they lie, how they roll, how long records stay, how they reach the disk."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Kind, Settings
from core_broker.configs.checks import no_empty_item, one_directory
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

LONG_MAX = (1 << 63) - 1
MIN_SEGMENT_BYTES = 1 << 20

CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
CLEANUP_POLICIES = ("compact", "delete")
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")

_dynamic = partial(BrokerSetting, mode=UpdateMode.CLUSTER_WIDE)

DIRECTORIES = (
    BrokerSetting(
        "log.dir", Kind.LIST, None, "Directory of the partition logs if log.dirs is not set.", check=one_directory
    ),
    BrokerSetting("log.dirs", Kind.LIST, None, "Directory of the partition logs; exactly one.", check=one_directory),
    BrokerSetting(
        "cordoned.log.dirs",
        Kind.LIST,
        "",
        "Log directories that get no new partitions.",
        mode=UpdateMode.PER_BROKER,
        effect=Effect.REFUSED,
        why="there is one log directory, so that nothing could be created any more",
    ),
    BrokerSetting(
        "log.dir.failure.timeout.ms",
        Kind.LONG,
        30000,
        "Time to tell a controller about a failed log directory.",
        "ms",
        minimum=1,
        effect=Effect.INERT,
        why="there is no other controller to tell; a failing disk is answered with KAFKA_STORAGE_ERROR until it heals",
    ),
    BrokerSetting(
        "num.recovery.threads.per.data.dir",
        Kind.INT,
        2,
        "Threads that recover logs at start.",
        minimum=1,
        mode=UpdateMode.CLUSTER_WIDE,
        effect=Effect.INERT,
        why="recovery starts at the recovery point and needs no threads",
    ),
)

SEGMENTS = (
    _dynamic(
        "log.segment.bytes", Kind.INT, 1 << 30, "Size at which a segment ends.", "bytes", minimum=MIN_SEGMENT_BYTES
    ),
    _dynamic("log.roll.ms", Kind.LONG, None, "Age at which a segment ends; wins over log.roll.hours.", "ms"),
    BrokerSetting("log.roll.hours", Kind.INT, 168, "Age at which a segment ends.", "hours", minimum=1),
    _dynamic(
        "log.roll.jitter.ms", Kind.LONG, None, "Random part taken off the age; wins over log.roll.jitter.hours.", "ms"
    ),
    BrokerSetting("log.roll.jitter.hours", Kind.INT, 0, "Random part taken off a segment's age.", "hours", minimum=0),
    _dynamic("log.index.interval.bytes", Kind.INT, 4096, "Data between two entries of an index.", "bytes", minimum=0),
    _dynamic(
        "log.index.size.max.bytes",
        Kind.INT,
        10 << 20,
        "Size of an offset index at which its segment ends.",
        "bytes",
        minimum=4,
    ),
    _dynamic(
        "log.preallocate",
        Kind.BOOLEAN,
        False,
        "Reserve the space of a segment when it begins.",
        effect=Effect.INERT,
        why="file systems of today extend files without the cost that this avoids",
    ),
    _dynamic(
        "log.segment.delete.delay.ms", Kind.LONG, 60000, "Time that a deleted segment's files stay.", "ms", minimum=0
    ),
)

RETENTION = (
    _dynamic(
        "log.retention.ms", Kind.LONG, None, "Age at which records go; -1: never. Wins over minutes and hours.", "ms"
    ),
    BrokerSetting(
        "log.retention.minutes", Kind.INT, None, "Age at which records go; wins over log.retention.hours.", "minutes"
    ),
    BrokerSetting("log.retention.hours", Kind.INT, 168, "Age at which records go.", "hours"),
    _dynamic(
        "log.retention.bytes",
        Kind.LONG,
        -1,
        "Size of a partition above which its oldest segments go; -1: no limit.",
        "bytes",
    ),
    BrokerSetting(
        "log.retention.check.interval.ms",
        Kind.LONG,
        300000,
        "Time between two looks for old segments.",
        "ms",
        minimum=1,
    ),
    BrokerSetting(
        "log.initial.task.delay.ms",
        Kind.LONG,
        30000,
        "Time from start to the first such look.",
        "ms",
        minimum=0,
        internal=True,
        effect=Effect.INERT,
        why="the first look comes one interval after the start, as the others after each other",
    ),
    _dynamic(
        "log.cleanup.policy",
        Kind.LIST,
        "delete",
        "Whether old segments are deleted, or compacted to the last record of each key.",
        choices=CLEANUP_POLICIES,
        check=no_empty_item,
    ),
)

FLUSHING = (
    _dynamic(
        "log.flush.interval.messages",
        Kind.LONG,
        LONG_MAX,
        "Records after which a partition is flushed to the disk.",
        minimum=1,
    ),
    _dynamic("log.flush.interval.ms", Kind.LONG, None, "Longest time that a record waits for a flush.", "ms"),
    BrokerSetting(
        "log.flush.scheduler.interval.ms", Kind.LONG, LONG_MAX, "Time between two looks for partitions to flush.", "ms"
    ),
    BrokerSetting(
        "log.flush.offset.checkpoint.interval.ms",
        Kind.INT,
        60000,
        "Time between two writes of the recovery points.",
        "ms",
        minimum=0,
    ),
    BrokerSetting(
        "log.flush.start.offset.checkpoint.interval.ms",
        Kind.INT,
        60000,
        "Time between two writes of the log start offsets.",
        "ms",
        minimum=0,
        effect=Effect.INERT,
        why="they are written with the recovery points, at log.flush.offset.checkpoint.interval.ms",
    ),
)

RECORDS = (
    _dynamic(
        "message.max.bytes", Kind.INT, 1048588, "Largest record batch that a producer may send.", "bytes", minimum=0
    ),
    _dynamic(
        "compression.type", Kind.STRING, "producer", "Codec of batches on disk; producer: as sent.", choices=CODECS
    ),
    _dynamic(
        "compression.gzip.level", Kind.INT, -1, "Level for gzip; -1: the library's own.", minimum=1, maximum=9, also=-1
    ),
    _dynamic("compression.lz4.level", Kind.INT, 9, "Level for lz4.", minimum=1, maximum=17),
    _dynamic("compression.zstd.level", Kind.INT, 3, "Level for zstd.", minimum=-131072, maximum=22),
    _dynamic(
        "log.message.timestamp.type",
        Kind.STRING,
        "CreateTime",
        "Whether a record keeps the producer's time or gets the broker's.",
        choices=TIMESTAMP_TYPES,
    ),
    _dynamic(
        "log.message.timestamp.before.max.ms",
        Kind.LONG,
        LONG_MAX,
        "How far a record's time may lie in the past.",
        "ms",
        minimum=0,
    ),
    _dynamic(
        "log.message.timestamp.after.max.ms",
        Kind.LONG,
        3600000,
        "How far a record's time may lie in the future.",
        "ms",
        minimum=0,
    ),
)

CLEANER = (
    _dynamic(
        "log.cleaner.backoff.ms", Kind.LONG, 15000, "Pause of the cleaner when nothing is dirty.", "ms", minimum=0
    ),
    _dynamic(
        "log.cleaner.dedupe.buffer.size", Kind.LONG, 134217728, "Memory for the map from keys to offsets.", "bytes"
    ),
    _dynamic(
        "log.cleaner.delete.retention.ms", Kind.LONG, 86400000, "How long a tombstone stays readable.", "ms", minimum=0
    ),
    BrokerSetting("log.cleaner.enable", Kind.BOOLEAN, True, "Whether compaction runs at all."),
    _dynamic("log.cleaner.io.buffer.load.factor", Kind.DOUBLE, 0.9, "How full the map from keys to offsets may get."),
    _dynamic(
        "log.cleaner.io.buffer.size", Kind.INT, 524288, "Memory for reading and writing segments.", "bytes", minimum=0
    ),
    _dynamic(
        "log.cleaner.io.max.bytes.per.second",
        Kind.DOUBLE,
        1.7976931348623157e308,
        "Bytes that cleaning may move.",
        "bytes/s",
    ),
    _dynamic(
        "log.cleaner.max.compaction.lag.ms",
        Kind.LONG,
        LONG_MAX,
        "Longest time that a record stays uncompacted.",
        "ms",
        minimum=1,
    ),
    _dynamic(
        "log.cleaner.min.cleanable.ratio",
        Kind.DOUBLE,
        0.5,
        "Dirty share of a log from which it is cleaned.",
        minimum=0,
        maximum=1,
    ),
    _dynamic(
        "log.cleaner.min.compaction.lag.ms",
        Kind.LONG,
        0,
        "Shortest time that a record stays uncompacted.",
        "ms",
        minimum=0,
    ),
    _dynamic("log.cleaner.threads", Kind.INT, 1, "Threads that clean.", minimum=0),
)

SETTINGS = (*DIRECTORIES, *SEGMENTS, *RETENTION, *FLUSHING, *RECORDS, *CLEANER)


def log_directory(settings: Settings) -> Path:
    """The one directory of the partition logs: log.dirs, else log.dir."""
    for name in ("log.dirs", "log.dir"):
        given = settings[name]
        if isinstance(given, tuple) and given:
            return Path(given[0]).absolute()
    raise SettingError("log.dirs", None, "there is no log directory; set log.dirs, or start with --data-dir")
