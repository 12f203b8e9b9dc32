"""kafka-streams-application-reset: sets a Streams application's input offsets back and deletes its internal topics."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from barnabas.client.admin import session as sessions
from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.group_descriptions import Member, describe_group
from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.groups.offset_resets import Offsets, clamp
from barnabas.kafka_tools.groups.reset_lookups import EARLIEST, LATEST, NO_OFFSET, log_offsets
from barnabas.kafka_tools.groups.reset_plan import read_plan
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.durations import parse_date_time_ms, parse_duration_ms
from barnabas.kernel.java.hash_map import hash_map_order, partition_map_order
from barnabas.kernel.java.java_exceptions import ILLEGAL_ARGUMENT, JavaFailure, execution_failure
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode, KafkaError

DEFAULT_SERVER: Final = "localhost:9092"
PURPOSE: Final = (
    "Resets a Kafka Streams application so that it starts from scratch: input topics to their beginning or to where you\n"
    'say, and its internal topics (those that begin with "<application.id>-") deleted. Output topics and local state stay:\n'
    "delete the folder below state.dir on every instance, or call KafkaStreams#cleanUp(), before you start it again.\n"
    "Stop every instance first; run with --dry-run to see what would be done.\n\n"
)

_SPECS: Final = ("to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "from-file", "shift-by")
_INTERNAL: Final = re.compile(
    r".*-(changelog|repartition|subscription-registration-topic|subscription-response-topic)"
    r"|.+-KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic",
    re.DOTALL,
)
_PLAN_COLUMNS: Final = 3
_PARSE_EXCEPTION: Final = "java.text.ParseException"
_IO_EXCEPTION: Final = "java.io.IOException"


def main(arguments: Sequence[str]) -> int:
    parsed = _parse(arguments)
    option = "command-config"
    if parsed.has("config-file"):
        print(
            "Option --config-file has been deprecated and will be removed in a future version. "
            "Use --command-config instead."
        )
        option = "config-file"

    async def run() -> int:
        server = parsed.value("bootstrap-server") or DEFAULT_SERVER
        async with Session.open(server, parsed.value(option), option=f"--{option}") as session:
            return await _Reset(parsed, session).run()

    try:
        return sessions.run(run())
    except (KafkaError, JavaFailure, OptionError) as error:
        failure: Exception = error
        if isinstance(error, KafkaError):
            failure = execution_failure(error)
        elif isinstance(error, OptionError):
            failure = JavaFailure("joptsimple.OptionArgumentConversionException", str(error))
        print(f"ERROR: {failure}", file=sys.stderr)
        return FAILURE


def _parse(arguments: Sequence[str]) -> Parsed:
    parser = OptionParser()
    parser.takes("application-id", "The application's id (application.id).", "id", required=True)
    parser.takes("bootstrap-server", f"Brokers to begin with. (default: {DEFAULT_SERVER})", "server to connect to")
    parser.takes(
        "input-topics", "Topics to reset, to their beginning unless another place is given.", "list", separator=","
    )
    parser.takes(
        "intermediate-topics",
        "[deprecated] Topics that are both output and input: they go to their end.",
        "list",
        separator=",",
    )
    parser.takes(
        "internal-topics", "Of the internal topics, which --dry-run shows, delete these only.", "list", separator=","
    )
    parser.takes("to-offset", "Reset to this offset.", kind="Long")
    parser.takes("to-datetime", "Reset to a point in time: 'YYYY-MM-DDThh:mm:ss.sss'.")
    parser.takes("by-duration", "Reset to so long ago: 'PnDTnHnMnS'.")
    parser.flag("to-earliest", "Reset to the beginning.")
    parser.flag("to-latest", "Reset to the end.")
    parser.takes("from-file", "Reset to the offsets of a CSV file: topic,partition,offset.")
    parser.takes(
        "shift-by", "Reset by so many records forward or, if negative, back.", "number-of-offsets", kind="Long"
    )
    parser.takes("config-file", "(DEPRECATED) The old name of --command-config.", "file name")
    parser.takes("command-config", "A properties file for the client.", "file name")
    parser.flag("force", "Remove members that are still in the group. Stop every instance first.")
    parser.flag("dry-run", "Show what would be done and change nothing.")
    parsed = parser.parse_or_fail(arguments)
    parsed.show_help_or_version(PURPOSE)
    for used in _SPECS:
        parsed.forbid(used, *(other for other in _SPECS if other != used))
    parsed.forbid("config-file", "command-config")
    return parsed


class _Reset:
    """One run of the tool."""

    def __init__(self, parsed: Parsed, session: Session) -> None:
        self._parsed = parsed
        self._session = session
        self._admin = GroupAdmin(session)
        self._application = parsed.text("application-id")
        self._inputs = parsed.values("input-topics")
        self._intermediates = parsed.values("intermediate-topics")

    async def run(self) -> int:
        await self._remove_members()
        topics = {
            topic.name or "": len(topic.partitions)
            for topic in (await self._session.metadata()).topics
            if not topic.is_internal
        }
        if self._parsed.has("dry-run"):
            print("----Dry run displays the actions which will be performed when running Streams Reset Tool----")
        status = await self._reset_topics(topics)
        await self._delete_internal(topics)
        return status

    async def _remove_members(self) -> None:
        try:
            group = await describe_group(self._session, self._admin, self._application)
        except KafkaError as error:
            if error.code is ErrorCode.GROUP_ID_NOT_FOUND:
                return
            raise
        if not group.members:
            return
        if not self._parsed.has("force"):
            members = ", ".join(_describe(member) for member in group.members)
            raise JavaFailure(
                "java.lang.IllegalStateException",
                f"Consumer group '{self._application}' is still active and has following members: [{members}]. "
                "Make sure to stop all running application instances before running the reset tool. "
                "You can use option '--force' to remove active members from the group.",
            )
        print(f"Force deleting all active members in the group: {self._application}")
        await self._admin.remove_members(self._application, [member.member_id for member in group.members])

    async def _reset_topics(self, topics: dict[str, int]) -> int:
        if self._parsed.has("intermediate-topics"):
            print("WARN: `--intermediate-topics` is deprecated and will be removed in a future release")
        if not self._inputs and not self._intermediates:
            print("No input or intermediate topics specified. Skipping seek.")
            return SUCCESS
        if self._inputs:
            print(f"Reset-offsets for input topics [{', '.join(self._inputs)}]")
        if self._intermediates:
            print(f"Seek-to-end for intermediate topics [{', '.join(self._intermediates)}]")
        missing = [_complain("input", self._inputs, topics, "Topic: ")]
        missing.append(_complain("intermediate", self._intermediates, topics, "Topic:"))
        status = FAILURE if any(missing) else SUCCESS
        known = [topic for topic in [*self._inputs, *self._intermediates] if topic in topics]
        if not known:
            return status
        places = [TopicPartition(topic, number) for topic in hash_map_order(known) for number in range(topics[topic])]
        inputs = _ordered(place for place in places if place.topic in self._inputs)
        ends = _ordered(place for place in places if place.topic not in self._inputs)
        try:
            offsets = await self._reset_inputs(inputs)
        except JavaFailure as failure:
            if failure.java_class in (_PARSE_EXCEPTION, _IO_EXCEPTION):
                print("ERROR: Resetting offsets failed.", file=sys.stderr)
            raise
        offsets |= await self._seek_to_end(ends)
        if not self._parsed.has("dry-run"):
            await self._admin.commit(self._application, offsets)
        print("Done.")
        return status

    async def _reset_inputs(self, inputs: Sequence[TopicPartition]) -> Offsets:
        if not inputs:
            return {}
        print(f"Following input topics offsets will be reset to (for consumer group {self._application})")
        offsets = await self._input_offsets(inputs)
        for place in inputs:
            print(f"Topic: {place.topic} Partition: {place.partition} Offset: {offsets[place]}")
        return offsets

    async def _seek_to_end(self, places: Sequence[TopicPartition]) -> Offsets:
        if not places:
            return {}
        print(f"Following intermediate topics offsets will be reset to end (for consumer group {self._application})")
        for place in places:
            print(f"Topic: {place.topic}")
        return await log_offsets(self._session, places, LATEST)

    async def _input_offsets(self, inputs: Sequence[TopicPartition]) -> Offsets:
        parsed, session = self._parsed, self._session
        if parsed.has("to-offset"):
            return await self._clamped(dict.fromkeys(inputs, parsed.integer("to-offset") or 0), inputs)
        if parsed.has("to-latest"):
            return await log_offsets(session, inputs, LATEST)
        if parsed.has("shift-by"):
            by = parsed.integer("shift-by") or 0
            current = await self._current(inputs)
            return await self._clamped({place: offset + by for place, offset in current.items()}, inputs)
        if parsed.has("to-datetime"):
            return await self._at(inputs, _date_time_ms(parsed.text("to-datetime")))
        if parsed.has("by-duration"):
            return await self._at(inputs, int(time.time() * 1000) - _duration_ms(parsed.text("by-duration")))
        if parsed.has("from-file"):
            return await self._from_plan(inputs)
        return await log_offsets(session, inputs, EARLIEST)

    async def _current(self, inputs: Sequence[TopicPartition]) -> Offsets:
        """What is committed; where nothing is, a consumer would begin at the end."""
        committed = await self._admin.committed(self._application)
        without = [place for place in inputs if place not in committed]
        ends = await log_offsets(self._session, without, LATEST) if without else {}
        return {place: committed[place].offset if place in committed else ends[place] for place in inputs}

    async def _at(self, inputs: Sequence[TopicPartition], moment_ms: int) -> Offsets:
        found = await log_offsets(self._session, inputs, moment_ms)
        behind = [place for place in inputs if found[place] == NO_OFFSET]
        for place in behind:
            print(
                f"Partition {place.partition} from topic {place.topic} is empty, without a committed record. "
                "Falling back to latest known offset."
            )
        return found | (await log_offsets(self._session, behind, LATEST) if behind else {})

    async def _from_plan(self, inputs: Sequence[TopicPartition]) -> Offsets:
        plan = _parse_plan(self._parsed.text("from-file"))
        offsets = await self._clamped(plan, _ordered(plan))
        missing = [str(place) for place in inputs if place not in offsets]
        if missing:
            raise JavaFailure(
                ILLEGAL_ARGUMENT, f"The plan has no offset for {', '.join(missing)}; add a line for each."
            )
        return {place: offsets[place] for place in inputs}

    async def _clamped(self, wanted: Offsets, order: Sequence[TopicPartition]) -> Offsets:
        starts = await log_offsets(self._session, order, EARLIEST)
        ends = await log_offsets(self._session, order, LATEST)
        offsets, _ = clamp(wanted, starts, ends)
        for place in order:
            # Unlike the other tools, Kafka's complains of an offset right at an end, too.
            if wanted[place] >= ends[place]:
                print(f"New offset ({wanted[place]}) is higher than latest offset. Value will be set to {ends[place]}")
            elif wanted[place] <= starts[place]:
                print(
                    f"New offset ({wanted[place]}) is lower than earliest offset. Value will be set to {starts[place]}"
                )
        return offsets

    async def _delete_internal(self, topics: Collection[str]) -> None:
        own = [topic for topic in hash_map_order(topics) if self._is_internal(topic)]
        specified = self._parsed.values("internal-topics")
        if specified and not set(specified) <= set(own):
            raise JavaFailure(
                ILLEGAL_ARGUMENT,
                "Invalid topic specified in the --internal-topics option. Ensure that the topics specified are all "
                "internal topics. Do a dry run without the --internal-topics option to see the list of all internal "
                "topics that can be deleted.",
            )
        chosen = specified or own
        print(f"Deleting {'specified' if specified else 'inferred'} internal topics [{', '.join(chosen)}]")
        if chosen and not self._parsed.has("dry-run"):
            await self._delete(chosen)
        print("Done.")

    def _is_internal(self, topic: str) -> bool:
        """Topics that the user named may look like internal ones by chance."""
        if topic in self._inputs or topic in self._intermediates:
            return False
        return topic.startswith(f"{self._application}-") and _INTERNAL.fullmatch(topic) is not None

    async def _delete(self, topics: Sequence[str]) -> None:
        from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState

        request = DeleteTopicsRequest(
            topics=[DeleteTopicState(name=topic) for topic in topics],
            topic_names=list(topics),
            timeout_ms=self._session.config.request_timeout_ms,
        )
        answer = await self._session.send_to_controller(request, DeleteTopicsResponse, call="deleteTopics")
        failed = [one for one in answer.responses if one.error_code]
        for one in failed:
            print(f"ERROR: deleting topic {one.name}", file=sys.stderr)
            print(execution_failure(error_of(one.error_code, one.error_message)), file=sys.stderr)
        if failed:
            raise JavaFailure("java.lang.RuntimeException", "Encountered an error deleting one or more topics")


def _complain(what: str, wanted: Sequence[str], topics: Collection[str], label: str) -> bool:
    missing = [topic for topic in wanted if topic not in topics]
    if missing:
        print(f"Following {what} topics are not found, skipping them")
        for topic in missing:
            print(f"{label}{topic}")
    return bool(missing)


def _ordered(places: Iterable[TopicPartition]) -> list[TopicPartition]:
    return [TopicPartition(*place) for place in partition_map_order(places)]


def _date_time_ms(text: str) -> int:
    try:
        return parse_date_time_ms(text)
    except ValueError as error:
        raise JavaFailure(_PARSE_EXCEPTION, str(error)) from None


def _duration_ms(text: str) -> int:
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        raise JavaFailure("java.time.format.DateTimeParseException", str(error)) from None


def _parse_plan(path: str) -> Offsets:
    """Lines of topic,partition,offset."""
    try:
        text = read_plan(path)
    except ValueError as error:
        raise JavaFailure(_IO_EXCEPTION, str(error)) from None
    if not text:
        raise JavaFailure(_PARSE_EXCEPTION, "Error parsing reset plan CSV file. It is empty,")
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    plan: Offsets = {}
    for line in lines:
        columns = [column.strip() for column in line.split(",")]
        if len(columns) != _PLAN_COLUMNS:
            raise JavaFailure(
                _PARSE_EXCEPTION, "Reset plan CSV file is not following the format `TOPIC,PARTITION,OFFSET`."
            )
        topic, partition, offset = columns
        try:
            plan[TopicPartition(topic, int(partition))] = int(offset)
        except ValueError:
            wrong = partition if not partition.lstrip("-").isdigit() else offset
            raise JavaFailure("java.lang.NumberFormatException", f'For input string: "{wrong}"') from None
    return plan


def _describe(member: Member) -> str:
    """As Java shows a member."""

    def shown(value: object) -> str:
        return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    partitions = ",".join(str(TopicPartition(*place)) for place in partition_map_order(sorted(member.assignment)))
    target = "Optional.empty"
    if member.target is not None:
        listed = ",".join(str(TopicPartition(*place)) for place in partition_map_order(sorted(member.target)))
        target = f"Optional[(topicPartitions={listed})]"
    return (
        f"(memberId={member.member_id}, groupInstanceId={shown(member.instance_id)}, rackId={shown(member.rack)}, "
        f"clientId={member.client_id}, host={member.host}, assignment=(topicPartitions={partitions}), "
        f"targetAssignment={target}, memberEpoch={shown(member.epoch)}, upgraded={shown(member.is_upgraded)})"
    )
