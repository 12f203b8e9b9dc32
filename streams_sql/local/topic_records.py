"""The records of a topic as rows: settings of the consumer that reads them, and their decoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Decode, Layout, RegistryAccess
from streams_sql.plan.nodes import Read
from streams_sql.plan.records import OnProblem, RecordReader, Records
from streams_sql.sources import Source

QUEUE_KB: Final = 16_384
"""What librdkafka fetches ahead for one view; it bounds the memory of a batch too."""
FETCH_AGAIN_MS: Final = 5
"""How soon librdkafka looks again whether there is room for more."""
BOUNDED_FETCH_MS: Final = 10


def consumer_settings(settings: Mapping[str, Any], topic: str) -> dict[str, Any]:
    """Settings of a consumer that manages its offsets itself and reports the end of a partition."""
    return {
        **settings,
        # It never joins the group, which librdkafka wants to know all the same.
        "group.id": f"barnabas-view-{topic}",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "queued.max.messages.kbytes": QUEUE_KB,
        "fetch.queue.backoff.ms": FETCH_AGAIN_MS,
        "allow.auto.create.topics": False,
    }


def bounded_consumer_settings(settings: Mapping[str, Any], topic: str) -> dict[str, Any]:
    """The same for a look at what there is: a fetch that waits for more would hold up the next one of the same connection."""
    return {**consumer_settings(settings, topic), "fetch.wait.max.ms": BOUNDED_FETCH_MS}


def record_reader(read: Read, registry: RegistryAccess | None, on_problem: OnProblem) -> RecordReader:
    source = read.source
    return RecordReader(
        read, _decoder(source, registry, is_key=True), _decoder(source, registry, is_key=False), on_problem
    )


def _decoder(source: Source, registry: RegistryAccess | None, *, is_key: bool) -> Decode:
    use = source.key_format if is_key else source.value_format
    columns = source.schema.key if is_key else source.schema.value
    return format_of(use.name).decoder(Layout(use, columns, source.topic, is_key, registry))


def records_of(messages: Sequence[Any], source: Source) -> Records:
    """Messages without errors, field by field."""
    headers = [message.headers() or () for message in messages] if source.has_headers else ()
    return Records(
        [message.key() for message in messages],
        [message.value() for message in messages],
        [max(0, message.timestamp()[1]) for message in messages],
        [message.partition() for message in messages],
        [message.offset() for message in messages],
        headers,
    )
