"""What is in topics that nobody has declared: sources made from the registry's schemas, else from a sample of their records."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from barnabas.kernel.serdes.registry_transport import RegistryClientError
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.statements import Kind
from streams_sql.sources import PSEUDO_COLUMNS, Column, FormatUse, Schema, Source
from streams_sql.topics.payloads import PartSchema, guessed, unknown
from streams_sql.topics.registered import RegisteredParts
from streams_sql.topics.sampling import SAMPLE_RECORDS, Sample, read_sample

SCHEMAS_KEPT_MAX: Final = 500
SAMPLED_KEPT_S: Final = 10.0
"""How long a sample is good for: what is written next may have other fields."""


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A topic as a source, and what there is to say of how that was found."""

    source: Source
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    found: FoundTopic
    until_s: float | None
    """None: as long as the schemas are these."""


_Identity = tuple[str, str, int | None, int | None]
"""A topic's name and its own id, and the newest schemas of its values and keys."""


class TopicSchemas:
    """Used by several threads. `settings` are those of Kafka's clients."""

    def __init__(
        self, settings: Mapping[str, Any], registry: RegistryAccess | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._registered = None if registry is None else RegisteredParts(registry)
        self._clock = clock
        self._kept: OrderedDict[_Identity, _Kept] = OrderedDict()

    def find(self, topic: str, topic_id: str, partitions: int) -> FoundTopic:
        """SqlProblem when the topic cannot be read. It takes as long as Kafka and the registry need."""
        notes: list[str] = []
        value_id, key_id = self._latest(topic, notes)
        identity = (topic, topic_id, value_id, key_id)
        kept = self._kept.get(identity)
        if kept is not None and (kept.until_s is None or self._clock() < kept.until_s):
            return kept.found
        look = _Look(topic, partitions, self._settings, None if notes else self._registered)
        found = look.found(value_id, key_id, notes)
        if look.is_kept:
            until_s = self._clock() + SAMPLED_KEPT_S if look.has_guessed else None
            self._kept[identity] = _Kept(found, until_s)
            self._kept.move_to_end(identity)
            if len(self._kept) > SCHEMAS_KEPT_MAX:
                self._kept.popitem(last=False)
        return found

    def _latest(self, topic: str, notes: list[str]) -> tuple[int | None, int | None]:
        if self._registered is None:
            return None, None
        try:
            return (
                self._registered.latest_id(topic, is_key=False),
                self._registered.latest_id(topic, is_key=True),
            )
        except RegistryClientError as error:
            notes.append(f"the schema registry does not answer, so schemas of {topic} are not known: {error.message}")
            return None, None


class _Look:
    """At one topic. `has_guessed`: a sample was needed. `is_kept`: another look would find the same for a while."""

    def __init__(
        self, topic: str, partitions: int, settings: Mapping[str, Any], registered: RegisteredParts | None
    ) -> None:
        self._topic = topic
        self._partitions = partitions
        self._settings = settings
        self._registered = registered
        self._sample: Sample | None = None

    @property
    def has_guessed(self) -> bool:
        return self._sample is not None

    @property
    def is_kept(self) -> bool:
        """Of a short topic the next record may tell more."""
        return self._sample is None or self._sample.count >= SAMPLE_RECORDS // 2

    def found(self, value_id: int | None, key_id: int | None, notes: list[str]) -> FoundTopic:
        value = self._part(value_id, is_key=False) or unknown("bytes: there is no record to guess from", is_key=False)
        key = self._part(key_id, is_key=True)
        keys = () if key is None else key.columns
        columns, hidden = _shown(keys, value.columns)
        source = Source(
            name=self._topic,
            kind=Kind.STREAM,
            schema=Schema(keys, columns),
            topic=self._topic,
            key_format=FormatUse("NONE") if key is None else key.format,
            value_format=value.format,
            statement="",
            is_topic=True,
        )
        told = f"columns of {self._topic} from {value.origin}"
        if key is not None:
            told += f", its keys from {key.origin}"
        if hidden:
            notes.append(f"fields that have the name of another column are not shown: {', '.join(hidden)}")
        return FoundTopic(source, (told, *notes))

    def _part(self, schema_id: int | None, *, is_key: bool) -> PartSchema | None:
        if schema_id is not None and self._registered is not None:
            return self._registered.by_subject(self._topic, schema_id, is_key=is_key)
        if self._sample is None:
            self._sample = read_sample(self._settings, self._topic, self._partitions)
        payloads = self._sample.keys if is_key else self._sample.values
        if self._registered is not None:
            found = self._registered.by_frames(self._topic, payloads, is_key=is_key)
            if found is not None:
                return found
        return guessed(payloads, is_key=is_key)


def _shown(keys: tuple[Column, ...], columns: tuple[Column, ...]) -> tuple[tuple[Column, ...], list[str]]:
    """The columns of values that can be told apart, and the names of the others."""
    taken = {*PSEUDO_COLUMNS, *(column.name for column in keys)}
    shown = tuple(column for column in columns if column.name not in taken)
    return shown, [column.name for column in columns if column.name in taken]
