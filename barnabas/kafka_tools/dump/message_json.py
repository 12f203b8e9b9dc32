"""Messages as the JSON that Kafka's tools print: the fields of one version, in the order of their declaration.

A tagged field shows only when it differs from its default; bytes are base64, ids are Kafka's URL-safe base64 of 22 characters.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from typing import Any, Final

from barnabas.kernel.java.numbers import double_text
from barnabas.wire.fields import Field, Fresh
from barnabas.wire.struct import Struct

# Fields whose names in JSON do not follow from ours.
_IRREGULAR: Final = {"kraft_version": "kRaftVersion", "kraft_version_feature": "kRaftVersionFeature"}
# Java's library escapes what JSON requires and no more, with capital hexadecimal digits.
_ESCAPES: Final = {
    **{code: f"\\u{code:04X}" for code in range(0x20)},
    0x08: "\\b",
    0x09: "\\t",
    0x0A: "\\n",
    0x0C: "\\f",
    0x0D: "\\r",
    0x22: '\\"',
    0x5C: "\\\\",
}


class Node(dict[str, Any]):
    """A JSON object; a class of its own, so that objects and messages are not confused."""


def message_node(message: Struct, version: int) -> Node:
    """The object of a message or a part of one in `version`."""
    node = Node()
    for field in message.FIELDS:
        if not field.present_in(version):
            continue
        value = getattr(message, field.name)
        if field.tagged_in(version) and value == _default(field):
            continue
        node[camel_case(field.name)] = _field_node(field, value, version)
    return node


def text_of(node: object) -> str:
    """JSON without blanks, as Java's library writes it."""
    if node is None:
        return "null"
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, str):
        return f'"{node.translate(_ESCAPES)}"'
    if isinstance(node, float):
        return double_text(node)
    if isinstance(node, dict):
        return "{" + ",".join([f'"{name.translate(_ESCAPES)}":{text_of(value)}' for name, value in node.items()]) + "}"
    if isinstance(node, (list, tuple)):
        return "[" + ",".join([text_of(value) for value in node]) + "]"
    return str(node)


def id_text(raw: bytes) -> str:
    """An id of 16 bytes as Kafka writes it."""
    return urlsafe_b64encode(raw)[:22].decode()


def camel_case(name: str) -> str:
    """The name of a field in Kafka's JSON."""
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    first, *others = name.split("_")
    return first + "".join([word.capitalize() for word in others])


def _field_node(field: Field, value: Any, version: int) -> object:
    if value is None:
        return None
    if field.kind == "array":
        return [_element_node(field, element, version) for element in value]
    if field.kind == "struct":
        return message_node(value, version)
    return _plain(field.kind, value)


def _element_node(field: Field, element: Any, version: int) -> object:
    if isinstance(element, Struct):
        return message_node(element, version)
    # An element that is no struct is named by the constructor of its kind: array(uuid).
    return _plain(field.element.__name__.rstrip("_"), element)


def _plain(kind: str, value: Any) -> object:
    if kind == "uuid":
        return id_text(value)
    if kind in ("bytes", "records"):
        return b64encode(value).decode()
    return value


def _default(field: Field) -> object:
    return field.default.factory() if isinstance(field.default, Fresh) else field.default
