"""The subject under which the schema of a topic's keys or values is registered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.kernel.serdes.schema_text import JSON, PROTOBUF, SchemaText
from barnabas.kernel.serdes.serdes_error import SerdesError

_PACKAGE: Final = "io.confluent.kafka.serializers.subject."
# Comments and texts in quotes, which may hold anything. What is not closed goes on to the end.
_PROTO_PROSE: Final = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)""", re.DOTALL)
_PROTO_PACKAGE: Final = re.compile(r"(?:^|[;\s])package\s+([\w.]+)\s*;")
_PROTO_MESSAGE: Final = re.compile(r"(?:^|[;}\s])message\s+(\w+)\s*\{")

# Topic, whether it is of keys, schema: the subject.
SubjectStrategy = Callable[[str, bool, SchemaText], str]


def topic_name(topic: str, is_key: bool, schema: SchemaText) -> str:
    return f"{topic}-{'key' if is_key else 'value'}"


def record_name(topic: str, is_key: bool, schema: SchemaText) -> str:
    name = _name_of(schema)
    if not name:
        raise SerdesError("the schema names no record, and the subject is to be called by it")
    return name


def topic_record_name(topic: str, is_key: bool, schema: SchemaText) -> str:
    return f"{topic}-{record_name(topic, is_key, schema)}"


STRATEGIES: Final[Mapping[str, SubjectStrategy]] = {
    "TopicNameStrategy": topic_name,
    "RecordNameStrategy": record_name,
    "TopicRecordNameStrategy": topic_record_name,
}


def strategy_named(name: str) -> SubjectStrategy:
    """The strategy of a class of Confluent's, with or without its package."""
    found = STRATEGIES.get(name.removeprefix(_PACKAGE))
    if found is None:
        raise SerdesError(f"{name} is no way to name subjects; there are {', '.join(STRATEGIES)}")
    return found


def _name_of(schema: SchemaText) -> str | None:
    """As Confluent has it: the full name of a record or of a file's first message, the title of a JSON schema."""
    if schema.type == PROTOBUF:
        text = _PROTO_PROSE.sub(" ", schema.text)
        package, message = _PROTO_PACKAGE.search(text), _PROTO_MESSAGE.search(text)
        if message is None:
            return None
        return f"{package[1]}.{message[1]}" if package else message[1]
    try:
        parsed = json.loads(schema.text)
    except ValueError:
        return None
    if not isinstance(parsed, dict):
        return None
    if schema.type == JSON:
        title = parsed.get("title")
        return title if isinstance(title, str) else None
    name, namespace = parsed.get("name"), parsed.get("namespace")
    if not isinstance(name, str):
        return None
    return f"{namespace}.{name}" if namespace and "." not in name else name
