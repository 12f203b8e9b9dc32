"""Command lines that a tool of ours and Kafka's own run alike, what they print, and what of that is compared."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from barnabas.kafka_tools import main as commands
from tests.clients.java_client import JavaTools

RECORDED = Path(__file__).with_name("recorded")
# The main class of each tool.
CLASSES = {
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-streams-application-reset": "org.apache.kafka.tools.StreamsResetter",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """Command lines for one fresh broker, in this order. `{broker}` stands for its address, `{folder}` for a folder with `files`.

    A line that begins with `produce TOPIC PARTITION COUNT` writes records instead.
    """

    name: str
    lines: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def recording(self) -> Path:
        return RECORDED / f"{self.name}.json"

    def recorded(self) -> list[Outcome]:
        """What Kafka's tools did on Apache Kafka."""
        return [Outcome(**entry) for entry in json.loads(self.recording.read_text())]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command line ended. `trace` is true if Java printed where in its code it failed: then ours says more than `err`."""

    line: str
    status: int
    out: str
    err: str
    trace: bool = False


def words_of(line: str, places: Mapping[str, str]) -> list[str]:
    """The words of a command line; in single quotes blanks do not part."""
    found = re.findall(r"'([^']*)'|(\S+)", line)
    words = [quoted or plain for quoted, plain in found]
    for name, value in places.items():
        words = [word.replace("{" + name + "}", value) for word in words]
    return words


def run_ours(line: str, places: Mapping[str, str]) -> Outcome:
    name, *arguments = words_of(line, places)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = commands.call(name, arguments)
    return _outcome(line, status, out.getvalue(), err.getvalue(), places)


def run_java(tools: JavaTools, line: str, places: Mapping[str, str]) -> Outcome:
    name, *arguments = words_of(line, places)
    done = tools.attempt(CLASSES[name], *arguments)
    return _outcome(line, done.returncode, done.stdout, done.stderr, places)


def differences(ours: Sequence[Outcome], java: Sequence[Outcome]) -> list[str]:
    """What ours does otherwise than Kafka's tools: nothing, if all is well."""
    found = []
    for mine, theirs in zip(ours, java, strict=True):
        alike = mine.err.startswith(theirs.err.rstrip("\n")) if theirs.trace else mine.err == theirs.err
        if (mine.line, mine.status, mine.out) != (theirs.line, theirs.status, theirs.out) or not alike:
            found.append(
                f"{mine.line}\n  ours:    {mine.status} {mine.out!r} {mine.err!r}\n  Kafka's: {theirs.status} {theirs.out!r} {theirs.err!r}"
            )
    return found


def _outcome(line: str, status: int, out: str, err: str, places: Mapping[str, str]) -> Outcome:
    printed, _ = _without_trace(_masked(line, out, places))
    complaint, trace = _without_trace(_masked(line, err, places))
    return Outcome(line, status, printed, complaint, trace)


_TRACE = re.compile(r"^\tat |^\tSuppressed: |^\t\.\.\. \d+ more|^Caused by: |^[\w.]+\.\w*(Exception|Error)(: .*)?$")
_LOG = re.compile(r"^\d{4}-\d\d-\d\dT\S+Z .* (ERROR|WARN) .*")


def _without_trace(text: str) -> tuple[str, bool]:
    """The text without stack traces and lines of Java's log; true if there was a trace."""
    lines = text.split("\n")
    kept: list[str] = []
    traced = False
    for line in lines:
        if _LOG.match(line) or _TRACE.match(line):
            traced = traced or bool(re.match(r"^\tat ", line))
        else:
            kept.append(line)
    result = "\n".join(kept)
    return (
        result.rstrip("\n") + "\n" if traced and result.strip() else result.lstrip("\n") if traced else result
    ), traced


_MASKS = (
    # A broker's own words.
    (
        re.compile(r"(UnknownTopicOrPartitionException: )(The topic '\w+' does not exist\.|there is no topic \w+)"),
        r"\1<words>",
    ),
    # Java says where it gave up reading a plan as one of a single group.
    (re.compile(r"^com\.fasterxml\.jackson\..*\n( at \[Source: .*\n)?", re.MULTILINE), ""),
    (re.compile(r'^Exception in thread "main" [\w.]+: ', re.MULTILINE), ""),
    (re.compile(r'^Exception in thread "main" [\w.]+: ', re.MULTILINE), ""),
    # Names that share a bucket of Java's hash table are printed in the order in which the broker told them.
    (re.compile(r"(Configs: )(\S*),(min\.insync\.replicas=1)"), r"\1\3,\2"),
    (re.compile(r"(salt|storedKey|serverKey)=\[[^\]]*\]"), r"\1=[hidden]"),
    (re.compile(r"(?<![\w.-])(?=[\w-]*[A-Z0-9])[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])"), "<id>"),
    (re.compile(r"\b1[6-8]\d{11}\b"), "<ms>"),
    # Java's immutable sets have another order in each run.
    (
        re.compile(r"(Valid states are|of these options|following options|following scenarios): .*"),
        r"\1: <in any order>",
    ),
    # Whether Java's tools print their log depends on how they are started.
    (re.compile(r"^\[\d{4}-.*\] WARN .*\n", re.MULTILINE), ""),
)
_TABLE = re.compile(r"^Option(?: \(\* = required\))? +Description *\n(.*)", re.MULTILINE | re.DOTALL)


def _masked(line: str, text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(value, "{" + name + "}")
    text = _TABLE.sub(_options if "--help" in line else "<options>\n", text)
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return _with_sorted_quotas(text)


def _with_sorted_quotas(text: str) -> str:
    """Where Java's maps collide, it is the broker that decides the order."""
    lines = text.split("\n")
    quotas = [line for line in lines if line.startswith("Quota configs for ")]
    ordered = iter(sorted(_sorted_values(line) for line in quotas))
    return "\n".join(next(ordered) if line in quotas else line for line in lines)


def _sorted_values(line: str) -> str:
    head, are, values = line.partition(" are ")
    return head + are + ", ".join(sorted(values.split(", ")))


def _options(table: re.Match[str]) -> str:
    """The options of the table with their arguments; the sentences about them are each tool's own."""
    column = table[0].index("Description")
    found: list[str] = []
    for row in table[1].split("\n")[1:]:
        left = row[:column].strip()
        if row.startswith("-"):
            found.append(left)
        elif left:
            found[-1] += left
    # Where a caption breaks is the table's affair.
    return "".join(option.replace(" ", "") + "\n" for option in found)
