"""Broker settings of remote (tiered) storage, which this broker does not have."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.checks import not_empty
from core_broker.configs.log import LONG_MAX
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

WHY_NO_REMOTE_STORAGE = "this broker has no remote storage: all data stays in the log directory"

_inert = partial(BrokerSetting, effect=Effect.INERT, why="remote storage cannot be switched on")
_dynamic = partial(_inert, mode=UpdateMode.CLUSTER_WIDE)

SETTINGS = (
    BrokerSetting(
        "remote.log.storage.system.enable",
        Kind.BOOLEAN,
        False,
        "Move old segments to remote storage.",
        effect=Effect.REFUSED,
        why=WHY_NO_REMOTE_STORAGE,
    ),
    _dynamic(
        "log.local.retention.ms", Kind.LONG, -2, "Age at which local copies go; -2: as the whole.", "ms", minimum=-2
    ),
    _dynamic(
        "log.local.retention.bytes", Kind.LONG, -2, "Size of local copies; -2: as the whole.", "bytes", minimum=-2
    ),
    _dynamic("remote.fetch.max.wait.ms", Kind.INT, 500, "Time that a fetch waits for remote data.", "ms", minimum=1),
    _dynamic(
        "remote.list.offsets.request.timeout.ms", Kind.LONG, 30000, "Time for a remote offset look-up.", "ms", minimum=1
    ),
    _dynamic(
        "remote.log.index.file.cache.total.size.bytes",
        Kind.LONG,
        1 << 30,
        "Cache of remote indexes.",
        "bytes",
        minimum=1,
    ),
    _inert(
        "remote.log.index.file.cache.ttl.ms",
        Kind.LONG,
        900000,
        "Time that an entry of it stays.",
        "ms",
        minimum=-1,
        internal=True,
    ),
    _dynamic("remote.log.manager.copier.thread.pool.size", Kind.INT, 10, "Threads that copy.", minimum=1),
    _dynamic("remote.log.manager.expiration.thread.pool.size", Kind.INT, 10, "Threads that delete.", minimum=1),
    _dynamic("remote.log.manager.follower.thread.pool.size", Kind.INT, 2, "Threads of followers.", minimum=1),
    _dynamic(
        "remote.log.manager.copy.max.bytes.per.second",
        Kind.LONG,
        LONG_MAX,
        "Bytes that copying may use.",
        "bytes/s",
        minimum=1,
    ),
    _inert("remote.log.manager.copy.quota.window.num", Kind.INT, 11, "Windows for that rate.", minimum=1),
    _inert(
        "remote.log.manager.copy.quota.window.size.seconds", Kind.INT, 1, "Length of such a window.", "s", minimum=1
    ),
    _dynamic(
        "remote.log.manager.fetch.max.bytes.per.second",
        Kind.LONG,
        LONG_MAX,
        "Bytes that fetching may use.",
        "bytes/s",
        minimum=1,
    ),
    _inert("remote.log.manager.fetch.quota.window.num", Kind.INT, 11, "Windows for that rate.", minimum=1),
    _inert(
        "remote.log.manager.fetch.quota.window.size.seconds", Kind.INT, 1, "Length of such a window.", "s", minimum=1
    ),
    _inert(
        "remote.log.manager.task.interval.ms", Kind.LONG, 30000, "Time between two rounds of copying.", "ms", minimum=1
    ),
    _inert(
        "remote.log.manager.task.retry.backoff.ms",
        Kind.LONG,
        500,
        "Pause after a failure.",
        "ms",
        minimum=1,
        internal=True,
    ),
    _inert(
        "remote.log.manager.task.retry.backoff.max.ms",
        Kind.LONG,
        30000,
        "Longest such pause.",
        "ms",
        minimum=1,
        internal=True,
    ),
    _inert(
        "remote.log.manager.task.retry.jitter",
        Kind.DOUBLE,
        0.2,
        "Random part of it.",
        minimum=0,
        maximum=0.5,
        internal=True,
    ),
    _inert("remote.log.manager.thread.pool.size", Kind.INT, 2, "Threads that schedule.", minimum=1),
    _inert(
        "remote.log.metadata.custom.metadata.max.bytes",
        Kind.INT,
        128,
        "Notes beside a remote segment.",
        "bytes",
        minimum=0,
    ),
    _inert(
        "remote.log.metadata.manager.class.name",
        Kind.STRING,
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        "Java class that knows the remote segments.",
        check=not_empty,
    ),
    _inert("remote.log.metadata.manager.class.path", Kind.STRING, None, "Where that class lies."),
    _inert(
        "remote.log.metadata.manager.impl.prefix",
        Kind.STRING,
        "rlmm.config.",
        "Prefix of its settings.",
        check=not_empty,
    ),
    _inert("remote.log.metadata.manager.listener.name", Kind.STRING, None, "Listener that it uses.", check=not_empty),
    _inert("remote.log.reader.max.pending.tasks", Kind.INT, 100, "Remote reads that may wait.", minimum=1),
    _dynamic("remote.log.reader.threads", Kind.INT, 10, "Threads that read.", minimum=1),
    _inert("remote.log.storage.manager.class.name", Kind.STRING, None, "Java class that stores.", check=not_empty),
    _inert("remote.log.storage.manager.class.path", Kind.STRING, None, "Where that class lies."),
    _inert(
        "remote.log.storage.manager.impl.prefix", Kind.STRING, "rsm.config.", "Prefix of its settings.", check=not_empty
    ),
    _inert("rlmm.config.*", Kind.STRING, None, "A setting of the class that knows the remote segments."),
    _inert("rsm.config.*", Kind.STRING, None, "A setting of the class that stores."),
)
