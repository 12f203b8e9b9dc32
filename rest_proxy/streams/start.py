"""Where a live stream begins."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from barnabas.kernel.http.errors import HttpError
from rest_proxy.problems import BAD_REQUEST, NOT_FOUND, OFFSET_OUT_OF_RANGE, PARTITION_NOT_FOUND
from rest_proxy.streams.moment import moment_ms
from rest_proxy.streams.offsets import Offsets
from rest_proxy.streams.parameters import BEGINNING, END, number
from rest_proxy.streams.positions import Positions, parse_event_id


class Start:
    """What a client says of its place, in some partitions of a topic."""

    def __init__(self, offsets: Offsets, topic: str, partitions: Sequence[int]) -> None:
        self._offsets = offsets
        self._topic = topic
        self._partitions = partitions

    async def after(self, last_id: str) -> Positions:
        """After the last event that it has seen, of a topic that may have been made anew since: nobody could mend the id then."""
        seen = parse_event_id(last_id)
        if seen is None:
            raise HttpError(BAD_REQUEST, f"Last-Event-ID={last_id!r} is no id of an event, such as 0:17,1:4")
        return self._within(self._of_all(seen), await self._first(), await self._end())

    async def at(self, text: str, known: Collection[int]) -> Positions:
        """From there on; `known` are all partitions of the topic."""
        first, end = await self._first(), await self._end()
        seen = parse_event_id(text)
        if seen is not None:
            wanted = self._of_all(seen)
            self._check_partitions(seen, known)
            self._check_reached(text, any(wanted[each] > end[each] for each in self._partitions), end)
        elif text == BEGINNING:
            wanted = first
        elif text == END:
            wanted = end
        elif text.isdecimal():
            wanted = dict.fromkeys(self._partitions, number("from", text))
            # Partitions differ in length: those that do not reach so far are read from their ends on.
            self._check_reached(text, all(wanted[each] > end[each] for each in self._partitions), end)
        else:
            wanted = await self._offsets.at_time(self._topic, self._partitions, _moment(text))
        return self._within(wanted, first, end)

    async def _first(self) -> Positions:
        return await self._offsets.earliest(self._topic, self._partitions)

    async def _end(self) -> Positions:
        return await self._offsets.latest(self._topic, self._partitions)

    def _of_all(self, seen: Positions) -> Positions:
        """Partitions that an event does not name are newer than it."""
        return {partition: seen.get(partition, 0) for partition in self._partitions}

    def _within(self, wanted: Positions, first: Positions, end: Positions) -> Positions:
        return {each: min(max(wanted[each], first[each]), end[each]) for each in self._partitions}

    def _check_partitions(self, named: Collection[int], known: Collection[int]) -> None:
        missing = sorted(set(named) - set(known))
        if missing:
            raise partition_not_found(self._topic, missing[0])

    def _check_reached(self, text: str, is_beyond: bool, end: Positions) -> None:
        if is_beyond:
            ends = ", ".join(f"{offset} in partition {partition}" for partition, offset in end.items())
            raise HttpError(
                BAD_REQUEST,
                f"from={text} is out of range: the next record of {self._topic} will be {ends}",
                code=OFFSET_OUT_OF_RANGE,
            )


def partition_not_found(topic: str, partition: int) -> HttpError:
    return HttpError(NOT_FOUND, f"Partition {partition} of {topic} not found.", code=PARTITION_NOT_FOUND)


def _moment(text: str) -> int:
    moment = moment_ms(text)
    if moment is None:
        raise HttpError(
            BAD_REQUEST,
            f"from={text!r} is neither {BEGINNING} (earliest) nor {END} (latest), no offset, no date such as 2026-01-31T12:00:00Z, "
            "and no id of an event",
        )
    return moment
