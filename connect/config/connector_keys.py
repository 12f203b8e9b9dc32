"""The settings that every connector has, whatever it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.kernel.settings import Kind
from connect.api.plugin import PluginKind
from connect.api.settings import Importance, Key, Width

COMMON: Final = "Common"
TRANSFORMS: Final = "Transforms"
PREDICATES: Final = "Predicates"
ERRORS: Final = "Error Handling"
TOPIC_CREATION: Final = "Topic Creation"
EXACTLY_ONCE: Final = "Exactly Once Support"
OFFSETS: Final = "offsets.topic"

PLAIN_JSON: Final = "JsonConverter with schemas.enable=false"
NONE: Final = "none"
ALL: Final = "all"

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW


def _key(name: str, kind: Kind, default: Any, doc: str, place: tuple[str, int, Width, str], **further: Any) -> Key:
    group, order, width, title = place
    return Key(
        name=name, kind=kind, default=default, doc=doc, group=group, order=order, width=width, title=title, **further
    )


def _version(of: str, title: str, order: int, importance: Importance = _LOW, width: Width = Width.SHORT) -> Key:
    name = f"{of}.plugin.version"
    doc = f"Version of the {title[0].lower()}{title[1:].removesuffix(' version')}; there is one of each here."
    return _key(name, Kind.STRING, None, doc, (COMMON, order, width, title), importance=importance)


def _converter(name: str, what: str, order: int, usual: str) -> Key:
    doc = (
        f"Class that turns {what} into the bytes of Kafka's records and back. Without it, the worker's is used, with the worker's settings "
        f"for it: {usual}, unless the worker has another."
    )
    title = f"{name.partition('.')[0].capitalize()} converter class"
    return _key(name, Kind.CLASS, None, doc, (COMMON, order, Width.SHORT, title), importance=_LOW)


_NAMES: Final = (
    _key("name", Kind.STRING, None, "Name of this connector; there is no other of the name.", (COMMON, 1, Width.MEDIUM, "Connector name"), required=True, importance=_HIGH),
    _key("connector.class", Kind.STRING, None, "Name or alias of the class of this connector, with or without its package and the word Connector.", (COMMON, 2, Width.LONG, "Connector class"), required=True, importance=_HIGH),
    _version("connector", "Connector version", 3, _MEDIUM, Width.MEDIUM),
    _key("tasks.max", Kind.INT, 1, "The most tasks that this connector is divided into.", (COMMON, 4, Width.SHORT, "Tasks max"), minimum=1, importance=_HIGH),
    _key("tasks.max.enforce", Kind.BOOLEAN, True, "Whether more tasks than tasks.max are an error.", (COMMON, 5, Width.SHORT, "Enforce tasks max"), importance=_LOW),
    _converter("key.converter", "keys", 6, PLAIN_JSON),
    _version("key.converter", "Key converter version", 7),
    _converter("value.converter", "values", 8, PLAIN_JSON),
    _version("value.converter", "Value converter version", 9),
    _converter("header.converter", "headers", 10, "SimpleHeaderConverter"),
    _version("header.converter", "Header converter version", 11),
    _key("transforms", Kind.LIST, "", "Names of the transforms that records go through, in order.", (TRANSFORMS, 12, Width.LONG, "Transforms"), importance=_LOW),
    _key("predicates", Kind.LIST, "", "Names of the predicates that transforms use.", (PREDICATES, 13, Width.LONG, "Predicates"), importance=_LOW),
    _key("config.action.reload", Kind.STRING, "restart", "What to do when a value that a config provider gave has changed: restart the connector, or nothing.", (COMMON, 14, Width.MEDIUM, "Reload Action"), choices=("none", "restart"), any_case=True, importance=_LOW),
)  # fmt: skip

_ERRORS: Final = (
    _key("errors.retry.timeout", Kind.LONG, 0, "How long a failed operation is tried again; -1: for ever. When the other side is away, a task tries on in any case.", (ERRORS, 1, Width.MEDIUM, "Retry Timeout for Errors"), unit="ms", minimum=-1),
    _key("errors.retry.delay.max.ms", Kind.LONG, 60_000, "The longest pause between two attempts; pauses double up to it.", (ERRORS, 2, Width.MEDIUM, "Maximum Delay Between Retries for Errors"), unit="ms", minimum=1),
    _key("errors.tolerance", Kind.STRING, NONE, "Whether a record that cannot be processed ends the task (none), or is left out and goes to the dead letters (all).", (ERRORS, 3, Width.SHORT, "Error Tolerance"), choices=(NONE, ALL), any_case=True),
    _key("errors.log.enable", Kind.BOOLEAN, False, "Whether each error that is tolerated is logged, with the topic, partition and offset of its record; otherwise the log tells of them together, at most each 30 s.", (ERRORS, 4, Width.SHORT, "Log Errors")),
    _key("errors.log.include.messages", Kind.BOOLEAN, False, "Whether such a line also has the timestamp of a sink's record, or the key and value of a source's.", (ERRORS, 5, Width.SHORT, "Log Error Details")),
)  # fmt: skip

_DEAD_LETTERS: Final = (
    _key("errors.deadletterqueue.topic.name", Kind.STRING, "", "The topic for records that could not be processed; none when empty.", (ERRORS, 6, Width.MEDIUM, "Dead Letter Queue Topic Name")),
    _key("errors.deadletterqueue.topic.replication.factor", Kind.SHORT, 3, "Replicas of that topic when it is created.", (ERRORS, 7, Width.MEDIUM, "Dead Letter Queue Topic Replication Factor"), minimum=-1),
    _key("errors.deadletterqueue.context.headers.enable", Kind.BOOLEAN, False, "Whether dead letters have headers that tell what failed, and where the record came from.", (ERRORS, 8, Width.MEDIUM, "Enable Error Context Headers")),
)  # fmt: skip

_SOURCE: Final = (
    _key("topic.creation.groups", Kind.LIST, "", "Names of groups of topics that are created with settings of their own; beside them there is default.", (TOPIC_CREATION, 1, Width.LONG, "Topic Creation Groups"), importance=_LOW),
    _key("exactly.once.support", Kind.STRING, "requested", "Whether the connector must not run unless each record is written once (required), or may (requested).", (EXACTLY_ONCE, 2, Width.SHORT, "Exactly once support"), choices=("requested", "required"), any_case=True),
    _key("transaction.boundary", Kind.STRING, "poll", "What a transaction is: each batch of the source (poll), or all within a time (interval).", (EXACTLY_ONCE, 3, Width.SHORT, "Transaction Boundary"), choices=("poll", "interval", "connector"), any_case=True),
    _key("transaction.boundary.interval.ms", Kind.LONG, None, "The time of a transaction whose boundary is interval; without it, the worker's offset.flush.interval.ms.", (EXACTLY_ONCE, 4, Width.SHORT, "Transaction boundary interval"), unit="ms", minimum=1, importance=_LOW),
    _key("offsets.storage.topic", Kind.STRING, None, "A topic of its own for the offsets of this connector.", (OFFSETS, 1, Width.LONG, "Offsets topic"), importance=_LOW),
)  # fmt: skip

_SINK: Final = (
    _key("topics", Kind.LIST, "", "The topics to read, separated by commas.", (COMMON, 4, Width.LONG, "Topics"), importance=_HIGH),
    _key("topics.regex", Kind.STRING, "", "A regular expression for the topics to read; instead of topics.", (COMMON, 4, Width.LONG, "Topics regex"), importance=_HIGH),
)  # fmt: skip

CONNECTOR_KEYS: Final[Mapping[PluginKind, tuple[Key, ...]]] = {
    PluginKind.SOURCE: (*_NAMES, *_ERRORS, *_DEAD_LETTERS, *_SOURCE),
    PluginKind.SINK: (*_NAMES, *_ERRORS, *_SINK, *_DEAD_LETTERS),
}
