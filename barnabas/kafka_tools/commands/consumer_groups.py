"""kafka-consumer-groups: lists, describes and deletes consumer groups, resets and deletes their offsets."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from barnabas.client.admin import session as sessions
from barnabas.client.admin.group_admin import GroupAdmin, ListedGroup, reach
from barnabas.client.admin.group_descriptions import GroupDescription, Member, describe_group
from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.groups.consumer_group_options import parse
from barnabas.kafka_tools.groups.consumer_group_resets import Resets
from barnabas.kafka_tools.groups.consumer_group_tables import (
    OffsetRow,
    print_deleted_offsets,
    print_listing,
    print_members,
    print_offsets,
    print_reset,
    print_state,
)
from barnabas.kafka_tools.groups.reset_lookups import LATEST, log_offsets, parse_partitions
from barnabas.kafka_tools.groups.reset_plan import format_plan
from barnabas.kafka_tools.shell.exits import SUCCESS
from barnabas.kafka_tools.shell.options import OptionError, Parsed
from barnabas.kernel.java.hash_map import hash_map_order
from barnabas.kernel.java.java_exceptions import JavaFailure, execution_failure, future_failure
from barnabas.kernel.java.kafka_exceptions import described, error_of, message_of
from barnabas.wire.errors import ErrorCode, KafkaError

STATES: Final = (
    "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning", "Reconciling",
)  # fmt: skip
TYPES: Final = ("Consumer", "Classic")
_PARTITION_ERRORS: Final = frozenset(
    {
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
_GROUP_ERRORS: Final = frozenset(
    {
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.NON_EMPTY_GROUP,
    }
)


def main(arguments: Sequence[str]) -> int:
    parsed = parse(arguments)
    if parsed.has("validate-regex"):
        return _validate(parsed.text("validate-regex"))
    try:
        sessions.run(_run(parsed))
    except (KafkaError, OptionError, JavaFailure) as error:
        # Kafka's tool, too, reports failures on standard output and ends well.
        failure = _as_java(error)
        print(f"\nError: Executing consumer group command failed due to {failure.message}")
        print(failure, file=sys.stderr)
    except ValueError as error:
        parsed.fail(str(error))
    return SUCCESS


def _as_java(error: KafkaError | OptionError | JavaFailure) -> JavaFailure:
    if isinstance(error, OptionError):
        return JavaFailure("joptsimple.OptionArgumentConversionException", str(error))
    return execution_failure(error) if isinstance(error, KafkaError) else error


def _validate(pattern: str) -> int:
    from barnabas.kafka_tools.groups.re2_syntax import complaint

    found = complaint(pattern)
    print(f"The regular expression `{pattern}` is {'valid' if found is None else f'invalid: {found}'}.")
    return SUCCESS


async def _run(parsed: Parsed) -> None:
    timeout_ms = parsed.integer("timeout")
    extra = {"default.api.timeout.ms": str(timeout_ms)}
    async with Session.open(parsed.text("bootstrap-server"), parsed.value("command-config"), extra) as session:
        command = _Command(parsed, session)
        if parsed.has("list"):
            await command.list()
        elif parsed.has("describe"):
            await command.describe()
        elif parsed.has("delete"):
            await command.delete()
        elif parsed.has("reset-offsets"):
            await command.reset()
        else:
            await command.delete_offsets()


class _Command:
    """One run of the tool."""

    def __init__(self, parsed: Parsed, session: Session) -> None:
        self._parsed = parsed
        self._session = session
        self._admin = GroupAdmin(session)

    async def list(self) -> None:
        with_type, with_state = self._parsed.has("type"), self._parsed.has("state")
        if not with_type and not with_state:
            for group_id in await self._all_groups():
                print(group_id)
            return
        types = _chosen(self._parsed.value("type"), TYPES, "types")
        states = _chosen(self._parsed.value("state"), STATES, "state")
        try:
            groups = await self._consumer_groups(states, types or TYPES)
        except JavaFailure as failure:
            raise execution_failure(failure) from None
        print_listing(groups, with_type=with_type, with_state=with_state)

    async def describe(self) -> None:
        parsed = self._parsed
        groups = [await describe_group(self._session, self._admin, group_id) for group_id in await self._group_ids()]
        for group in sorted(groups, key=lambda one: one.group_id):
            if parsed.has("members"):
                print_members(group, verbose=parsed.has("verbose"))
            elif parsed.has("state"):
                print_state(group, verbose=parsed.has("verbose"))
            else:
                print_offsets(group, await self._offset_rows(group), verbose=parsed.has("verbose"))

    async def delete(self) -> None:
        deleted: list[str] = []
        failed: dict[str, KafkaError] = {}
        for group_id in hash_map_order(await self._group_ids()):
            try:
                await self._admin.delete_group(group_id)
                deleted.append(group_id)
            except KafkaError as error:
                failed[group_id] = error
        shown = ", ".join(f"'{group_id}'" for group_id in deleted)
        if not failed:
            print(f"Deletion of requested consumer groups ({shown}) was successful.")
            return
        print("\nError: Deletion of some consumer groups failed:")
        for group_id, reason in failed.items():
            print(f"* Group '{group_id}' could not be deleted due to: {described(reason)}")
        if deleted:
            print(f"\nThese consumer groups were deleted successfully: {shown}")

    async def reset(self) -> None:
        groups = hash_map_order(await self._group_ids())
        plans = await Resets(self._parsed, self._session, self._admin).prepare(groups)
        if self._parsed.has("export"):
            rows = ((group, place, offset) for group, plan in plans.items() for place, offset in plan.items())
            print(format_plan(rows, with_group=len(self._parsed.values("group")) != 1))
        else:
            print_reset(plans)

    async def delete_offsets(self) -> None:
        group_id, topics = self._parsed.text("group"), self._parsed.values("topic")
        results, partitions = await self._partitions_to_delete(topics)
        code, failure = ErrorCode.NONE, None
        try:
            found = await self._admin.delete_offsets(group_id, partitions)
            results |= {place: None if wrong is None else described(wrong) for place, wrong in found.items()}
            code = next((wrong.code for wrong in found.values() if wrong is not None), ErrorCode.NONE)
        except KafkaError as error:
            code, failure = error.code, error
            results |= dict.fromkeys(partitions, described(error))
        _print_deletion(group_id, code, failure)
        ordered = sorted(results.items(), key=lambda item: f"{item[0].topic}{item[0].partition}")
        print_deleted_offsets([(place, "Successful" if text is None else f"Error: {text}") for place, text in ordered])

    async def _partitions_to_delete(
        self, topics: Iterable[str]
    ) -> tuple[dict[TopicPartition, str | None], Sequence[TopicPartition]]:
        """Topics that cannot be looked up, and the partitions of the others."""
        given = [place for topic in topics if ":" in topic for place in parse_partitions(topic)]
        whole = [topic for topic in topics if ":" not in topic]
        failed: dict[TopicPartition, str | None] = {}
        partitions = list(given)
        if whole:
            try:
                await reach(self._session, "listNodes")
            except KafkaError as error:
                return {TopicPartition(topic, -1): described(error) for topic in whole}, partitions
            for name, topic in (await self._session.topics(whole)).items():
                if topic.error_code:
                    failed[TopicPartition(name, -1)] = described(error_of(topic.error_code, None))
                partitions += [TopicPartition(name, one.partition_index) for one in topic.partitions]
        return failed, partitions

    async def _offset_rows(self, group: GroupDescription) -> Sequence[OffsetRow]:
        """The partitions of the members, those with most first, then those that nobody reads."""
        try:
            committed = await self._admin.committed(group.group_id)
        except KafkaError as error:
            raise future_failure(error) from None
        busy = sorted((member for member in group.members if member.assignment), key=lambda one: -len(one.assignment))
        assigned = {place for member in busy for place in member.assignment}
        readers: list[tuple[Member | None, Iterable[TopicPartition]]] = [(one, one.assignment) for one in busy]
        readers.append((None, [place for place in committed if place not in assigned]))
        ends = await log_offsets(self._session, [*assigned, *committed], LATEST) if assigned or committed else {}
        return [
            OffsetRow(place, committed.get(place), ends.get(place), member)
            for member, places in readers
            for place in sorted(places)
        ]

    async def _group_ids(self) -> Sequence[str]:
        if self._parsed.has("all-groups"):
            return await self._all_groups()
        return list(dict.fromkeys(self._parsed.values("group")))

    async def _all_groups(self) -> Sequence[str]:
        try:
            return [group.group_id for group in await self._consumer_groups((), TYPES)]
        except (KafkaError, JavaFailure) as error:
            raise future_failure(error) from None

    async def _consumer_groups(self, states: Sequence[str], types: Sequence[str]) -> Sequence[ListedGroup]:
        """In the order in which Java's client hands them out."""
        found = await self._admin.list_groups(states, types)
        groups = {one.group_id: one for one in found if one.protocol_type in ("", "consumer")}
        return [groups[group_id] for group_id in hash_map_order(groups)]


def _chosen(text: str | None, known: Sequence[str], what: str) -> Sequence[str]:
    """The names in a list, which may be written in any case; ValueError in Kafka's words."""
    if not text:
        return ()
    names = {name.lower(): name for name in known}
    wanted = [part.strip().lower() for part in text.split(",")]
    if any(part not in names for part in wanted):
        listed = "types" if what == "types" else "states"
        raise ValueError(f"Invalid {what} list '{text}'. Valid {listed} are: {', '.join(known)}")
    return [names[part] for part in wanted]


def _print_deletion(group_id: str, code: ErrorCode, failure: KafkaError | None) -> None:
    if code is ErrorCode.NONE:
        print(f"Request succeeded for deleting offsets from group {group_id}.")
    elif code in _PARTITION_ERRORS:
        print("\nError: Encountered some partition-level error, see the follow-up details.")
    elif failure is not None and code in _GROUP_ERRORS:
        print(f"\nError: {message_of(failure)}")
    else:
        print(f"\nError: Encountered some unknown error: {code.name}")
