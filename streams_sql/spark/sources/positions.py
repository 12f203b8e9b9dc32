"""How far queries have read their topics: what a checkpoint says of it, and what has become of the topics since."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from streams_sql.spark.sources.batch_plan import AWAITED

EARLIEST: Final = "earliest"
LATEST: Final = "latest"
# Lines of an entry of Spark's offset log: its version, what holds for the batch, then one for each source.
_SOURCES_BEGIN: Final = 2
_NO_OFFSETS: Final = "-"

Offsets: TypeAlias = dict[int, int]
"""The next offset of each partition of a topic."""


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as the broker has it. `ranges` are the first offset of each partition, and the one behind its last."""

    id: str
    ranges: Mapping[int, tuple[int, int]]

    @property
    def partitions(self) -> int:
        return len(self.ranges)


@dataclass(slots=True)
class Fitted:
    """Entries of the offset log that go with the topics as they are: that of the last batch that is done, and that of the batch that
    was begun after it, if there is one. `notes` say what was not read, and why."""

    done: str
    begun: str | None
    notes: list[str] = field(default_factory=list)


def starting_offsets(wanted: str, topic: str, state: TopicState) -> str:
    """What Spark's source is told of where to begin, for a query without a checkpoint. `wanted` is earliest, latest, or a text of
    `positions_text`; what that does not name, or what is another topic by now, is read from its beginning."""
    if wanted in (EARLIEST, LATEST):
        return wanted
    if _known(wanted, topic, state) is None:
        return EARLIEST
    return json.dumps({topic: _as_texts(resolved(wanted, topic, state))})


def resolved(wanted: str, topic: str, state: TopicState) -> Offsets:
    """The same as offsets, which are the ends of the partitions now where `wanted` is latest."""
    if wanted == LATEST:
        return {partition: last for partition, (_, last) in sorted(state.ranges.items())}
    positions = {} if wanted == EARLIEST else _known(wanted, topic, state) or {}
    return {
        partition: min(max(positions.get(str(partition), first), first), last)
        for partition, (first, last) in sorted(state.ranges.items())
    }


def _known(wanted: str, topic: str, state: TopicState) -> Mapping[str, int] | None:
    told: Mapping[str, Any] = json.loads(wanted).get(topic, {})
    return told["offsets"] if told.get("id") == state.id else None


def positions_text(positions: Mapping[str, tuple[str, Mapping[int, int]]]) -> str:
    """Positions by topic, each with the id that the topic has."""
    return json.dumps(
        {topic: {"id": id_, "offsets": _as_texts(offsets)} for topic, (id_, offsets) in sorted(positions.items())}
    )


def initial_entry(text: str) -> str:
    """What Spark noted of where one of its sources begins, as an entry of the offset log."""
    return f"\n\n{text.partition(chr(10))[2]}"


def initial_text(offsets: Mapping[str, Mapping[int, int]]) -> str:
    """The same, written: a version before it, as Spark's own connector has it."""
    return f"v1\n{json.dumps({topic: _as_texts(found) for topic, found in offsets.items()})}"


def initial_offsets(text: str) -> dict[str, Offsets]:
    return _offsets(text.partition("\n")[2])


def has_awaited(entry: str) -> bool:
    """Whether rows may be held after the batch of an entry, for partitions that it has not read to their ends."""
    return any(line != _NO_OFFSETS and AWAITED in json.loads(line) for line in entry.split("\n")[_SOURCES_BEGIN:])


def places_of(entry: str) -> list[dict[str, Offsets]]:
    """How far an entry of the offset log has got, place by place."""
    return [_offsets(line) for line in entry.split("\n")[_SOURCES_BEGIN:]]


def read_by_any(places: Iterable[Mapping[str, Mapping[int, int]]]) -> dict[str, Offsets]:
    """How far topics were read: where several places read one, by the place that is ahead."""
    found: dict[str, Offsets] = {}
    for place in places:
        for topic, offsets in place.items():
            known = found.setdefault(topic, {})
            known.update({partition: max(at, known.get(partition, at)) for partition, at in offsets.items()})
    return found


def read_by_all(places: Iterable[Mapping[str, Mapping[int, int]]]) -> dict[str, Offsets]:
    """The same by the place that is behind."""
    found: dict[str, Offsets] = {}
    for place in places:
        for topic, offsets in place.items():
            known = found.get(topic, offsets)
            found[topic] = {
                partition: min(at, known[partition]) for partition, at in offsets.items() if partition in known
            }
    return found


def fitted(done: str, begun: str | None, topics: Mapping[str, TopicState], remade: Iterable[str]) -> Fitted:
    """The entries with positions that can be read. `remade` are topics that were deleted and made again since: nothing of them has
    been read. Spark's own rule would be to fail for ever, or to say nothing."""
    made = set(remade)
    done_lines = done.split("\n")
    begun_lines = None if begun is None else begun.split("\n")
    result = Fitted(done, begun)
    for place in range(_SOURCES_BEGIN, len(done_lines)):
        read = _offsets(done_lines[place])
        ahead = None if begun_lines is None else _offsets(begun_lines[place])
        for topic in read:
            if topic not in topics:
                continue
            change = _Change(topic, topics[topic], is_remade=topic in made)
            read[topic] = change.read(read[topic])
            result.notes += change.notes
            if ahead is not None and topic in ahead:
                ahead[topic] = change.ahead(read[topic], ahead[topic])
        done_lines[place] = _line(read, done_lines[place])
        if begun_lines is not None and ahead is not None:
            begun_lines[place] = _line(ahead, begun_lines[place])
    result.done = "\n".join(done_lines)
    result.begun = None if begun_lines is None else "\n".join(begun_lines)
    return result


class _Change:
    """What is to change for one topic."""

    def __init__(self, topic: str, state: TopicState, *, is_remade: bool) -> None:
        self._topic = topic
        self._state = state
        self._is_remade = is_remade
        self._moved_back: set[int] = set()
        self.notes: list[str] = []
        if is_remade:
            self.notes.append(f"Topic {topic} was deleted and made again. It is read from its beginning.")

    def read(self, before: Offsets) -> Offsets:
        """The position in each partition from which to go on."""
        found: Offsets = {}
        for partition, (first, last) in self._state.ranges.items():
            at = None if self._is_remade else before.get(partition)
            if self._is_remade:
                found[partition] = first
            elif at is None:
                # Partitions that were added begin at 0 by themselves.
                if first > 0:
                    found[partition] = first
                    self._lost(partition, 0, first)
            elif at < first:
                found[partition] = first
                self._lost(partition, at, first)
            elif at > last:
                found[partition] = first
                self._moved_back.add(partition)
                self.notes.append(
                    f"Topic {self._topic}, partition {partition} ends at offset {last}, and was read up to {at}: records were "
                    "removed from its end. It is read from its beginning."
                )
            else:
                found[partition] = at
        return found

    def ahead(self, read: Offsets, before: Offsets) -> Offsets:
        """The end of a batch that was begun: as it was, where its records are still there."""
        found: Offsets = {}
        for partition, end in before.items():
            if partition not in self._state.ranges:
                continue
            _, last = self._state.ranges[partition]
            begin = read.get(partition, 0)
            is_anew = self._is_remade or partition in self._moved_back
            found[partition] = begin if is_anew else max(begin, min(end, last))
        return found

    def _lost(self, partition: int, begin: int, end: int) -> None:
        self.notes.append(
            f"Topic {self._topic}, partition {partition}: the records from offset {begin} to {end - 1} were removed by its retention "
            "before they were read. The query goes on behind them."
        )


def _offsets(line: str) -> dict[str, Offsets]:
    if line == _NO_OFFSETS:
        return {}
    offsets: Mapping[str, Mapping[str, Any]] = json.loads(line)
    return topic_offsets(offsets)


def topic_offsets(offsets: Mapping[str, Mapping[str, int]]) -> dict[str, Offsets]:
    """Those of topics, without what is kept beside them (see `batch_plan`)."""
    return {
        topic: {int(partition): at for partition, at in found.items()}
        for topic, found in offsets.items()
        if topic != AWAITED
    }


def _line(offsets: Mapping[str, Offsets], before: str) -> str:
    """As Spark writes it; a line that says the same stays as it is."""
    if offsets == _offsets(before):
        return before
    lines: dict[str, Mapping[str, int]] = {topic: _as_texts(found) for topic, found in offsets.items()}
    if before != _NO_OFFSETS and AWAITED in (former := json.loads(before)):
        lines[AWAITED] = former[AWAITED]
    return json.dumps(lines, separators=(",", ":"))


def _as_texts(offsets: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): offset for partition, offset in offsets.items()}
