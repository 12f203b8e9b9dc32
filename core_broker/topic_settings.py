"""What a topic's configuration comes to."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.wire.compression import Compression
from core_broker.configs.topic_config import TopicConfig
from core_broker.log.config import LogConfig
from core_broker.validation import TopicRules

LOG_APPEND_TIME = "LogAppendTime"
DEFAULT_LEVEL = -1
_CODECS = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Everything that a partition must know of it, resolved once per change."""

    log: LogConfig
    rules: TopicRules
    durable: bool
    flush_messages: int
    flush_ms: int

    @classmethod
    def of(cls, config: TopicConfig) -> TopicSettings:
        codec = config.text("compression.type")
        flush_messages = config.integer("flush.messages")
        return cls(
            log=config.log_config(),
            rules=TopicRules(
                max_message_bytes=config.integer("max.message.bytes"),
                log_append_time=config.text("message.timestamp.type") == LOG_APPEND_TIME,
                timestamp_before_max_ms=config.integer("message.timestamp.before.max.ms"),
                timestamp_after_max_ms=config.integer("message.timestamp.after.max.ms"),
                compression=_CODECS.get(codec),
                compression_level=_level(config, codec),
                compacted="compact" in config.items_of("cleanup.policy"),
                strict=config.text("validation") == "strict",
            ),
            # Kafka's own way to ask for the same promise.
            durable=config.text("durability") == "durable" or flush_messages == 1,
            flush_messages=flush_messages,
            flush_ms=config.integer("flush.ms"),
        )


def _level(config: TopicConfig, codec: str) -> int | None:
    if codec not in ("gzip", "lz4", "zstd"):
        return None
    level = config.integer(f"compression.{codec}.level")
    return None if level == DEFAULT_LEVEL and codec == "gzip" else level
