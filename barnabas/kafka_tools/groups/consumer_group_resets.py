"""The `--reset-offsets` of kafka-consumer-groups: prepares the new offsets of each group and sets them if asked to."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.group_descriptions import DEAD, EMPTY, describe_group
from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.groups.offset_resets import Clamped, Offsets, ResetKind, clamp, current, shift
from barnabas.kafka_tools.groups.reset_lookups import EARLIEST, LATEST, NO_OFFSET, log_offsets, named_partitions
from barnabas.kafka_tools.groups.reset_plan import parse_plan, read_plan
from barnabas.kafka_tools.shell.options import Parsed
from barnabas.kernel.java.durations import parse_date_time_ms, parse_duration_ms
from barnabas.kernel.java.hash_map import partition_map_order
from barnabas.kernel.java.java_exceptions import JavaFailure, future_failure, runtime_failure
from barnabas.wire.errors import ErrorCode, KafkaError

_LOGGER: Final = "org.apache.kafka.tools.OffsetsUtils"


class Resets:
    """One reset, of any number of groups."""

    def __init__(
        self, parsed: Parsed, session: Session, admin: GroupAdmin, *, clock_s: Callable[[], float] = time.time
    ) -> None:
        self._parsed = parsed
        self._session = session
        self._admin = admin
        self._clock_s = clock_s

    async def prepare(self, groups: Sequence[str]) -> dict[str, Offsets]:
        """The new offsets of each group, which `--execute` also sets. Groups with members are refused."""
        plans: dict[str, Offsets] = {}
        for group_id in groups:
            state = await self._state(group_id)
            if state not in (EMPTY, DEAD):
                print(
                    f"\nError: Assignments can only be reset if the group '{group_id}' is inactive, "
                    f"but the current state is {state}."
                )
                plans[group_id] = {}
                continue
            offsets = await self._new_offsets(group_id, await self._scope(group_id))
            plans[group_id] = {
                TopicPartition(*place): offsets[TopicPartition(*place)] for place in partition_map_order(offsets)
            }
            if self._parsed.has("execute"):
                try:
                    await self._admin.commit(group_id, plans[group_id])
                except KafkaError as error:
                    raise future_failure(error) from None
        return plans

    async def _state(self, group_id: str) -> str:
        try:
            return (await describe_group(self._session, self._admin, group_id)).state
        except KafkaError as error:
            if error.code is ErrorCode.GROUP_ID_NOT_FOUND:
                return DEAD
            raise future_failure(error) from None

    async def _scope(self, group_id: str) -> list[TopicPartition]:
        parsed = self._parsed
        if parsed.has("all-topics"):
            return list(await self._committed(group_id))
        if parsed.has("topic"):
            return await named_partitions(self._session, parsed.values("topic"))
        if not parsed.has(ResetKind.FROM_FILE.value):
            parsed.fail("One of the reset scopes should be defined: --all-topics, --topic.")
        return []

    async def _new_offsets(self, group_id: str, partitions: Sequence[TopicPartition]) -> Offsets:
        kinds = [kind for kind in ResetKind if self._parsed.has(kind.value)]
        if not kinds:
            known = ", ".join(f"[{kind.value}]" for kind in ResetKind)
            self._parsed.fail(f"Option '[reset-offsets]' requires one of the following scenarios: [{known}]")
        kind = kinds[0]
        if kind is ResetKind.TO_EARLIEST:
            return await self._logs(partitions, EARLIEST)
        if kind is ResetKind.TO_LATEST:
            return await self._logs(partitions, LATEST)
        if kind is ResetKind.TO_CURRENT:
            committed = await self._committed(group_id)
            missing = [partition for partition in partitions if partition not in committed]
            return current(partitions, committed, await self._logs(missing, LATEST))
        if kind in (ResetKind.TO_DATETIME, ResetKind.BY_DURATION):
            return await self._at(partitions, self._moment_ms(kind))
        return await self._clamped(await self._wanted(kind, group_id, partitions))

    async def _wanted(self, kind: ResetKind, group_id: str, partitions: Sequence[TopicPartition]) -> Offsets:
        """What is asked for by number, before it is fitted to the logs."""
        if kind is ResetKind.FROM_FILE:
            return self._planned(group_id)
        number = self._parsed.integer(kind.value)
        assert number is not None, "the option requires an argument"
        if kind is ResetKind.SHIFT_BY:
            return shift(partitions, await self._committed(group_id), number)
        return dict.fromkeys(partitions, number)

    def _planned(self, group_id: str) -> Offsets:
        path = self._parsed.text(ResetKind.FROM_FILE.value)
        try:
            plan = parse_plan(read_plan(path), self._parsed.values("group"))
        except ValueError as error:
            raise runtime_failure(JavaFailure("java.io.IOException", str(error))) from None
        if group_id not in plan:
            print(f"\nError: No reset plan for group {group_id} found")
        return plan.get(group_id, {})

    def _moment_ms(self, kind: ResetKind) -> int:
        text = self._parsed.text(kind.value)
        if kind is ResetKind.TO_DATETIME:
            try:
                return parse_date_time_ms(text)
            except ValueError as error:
                raise runtime_failure(JavaFailure("java.text.ParseException", str(error))) from None
        try:
            return int(self._clock_s() * 1000) - parse_duration_ms(text)
        except ValueError as error:
            raise JavaFailure("java.time.format.DateTimeParseException", str(error)) from None

    async def _at(self, partitions: Collection[TopicPartition], moment_ms: int) -> Offsets:
        found = await self._logs(partitions, moment_ms)
        behind = [place for place, offset in found.items() if offset == NO_OFFSET]
        for topic, number in partition_map_order(behind):
            print(f"\nWarn: Partition {number} from topic {topic} is empty. Falling back to latest known offset.")
        return found | await self._logs(behind, LATEST)

    async def _clamped(self, wanted: Mapping[TopicPartition, int]) -> Offsets:
        starts, ends = await self._logs(wanted, EARLIEST), await self._logs(wanted, LATEST)
        ordered = [TopicPartition(*place) for place in partition_map_order(wanted)]
        result, moved = clamp({place: wanted[place] for place in ordered}, starts, ends)
        for one in moved:
            _warn(one, self._clock_s())
        return result

    async def _logs(self, partitions: Collection[TopicPartition], moment: int) -> Offsets:
        return await log_offsets(self._session, partitions, moment) if partitions else {}

    async def _committed(self, group_id: str) -> Offsets:
        try:
            found = await self._admin.committed(group_id)
        except KafkaError as error:
            raise future_failure(error) from None
        return {place: committed.offset for place, committed in found.items()}


def _warn(moved: Clamped, now_s: float) -> None:
    """As a line of the log that Kafka's tools write to standard error."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now_s)) + f",{int(now_s * 1000) % 1000:03}"
    print(
        f"[{stamp}] WARN {moved.complaint} for topic partition {moved.partition}. "
        f"Value will be set to {moved.used} ({_LOGGER})",
        file=sys.stderr,
    )
