"""Constraints on single values that a range or a list of choices does not express. Each returns what is wrong, or None."""

from __future__ import annotations

import re

from barnabas.kernel.settings import Value

_THROTTLED_REPLICA = re.compile(r"[0-9]+:[0-9]+")


def _items(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def not_empty(value: Value) -> str | None:
    return None if value else "an empty value is not allowed"


def no_empty_item(value: Value) -> str | None:
    return "an empty item is not allowed in the list" if "" in _items(value) else None


def distinct(value: Value) -> str | None:
    """No item twice and none empty, as Kafka asks of most lists."""
    items = _items(value)
    if len(set(items)) < len(items):
        return "the list names the same item twice"
    return no_empty_item(value)


def distinct_and_not_empty(value: Value) -> str | None:
    return not_empty(value) or distinct(value)


def throttled_replicas(value: Value) -> str | None:
    items = _items(value)
    if items in ((), ("*",)) or all(_THROTTLED_REPLICA.fullmatch(item) for item in items):
        return None
    return "expected * or a list of PARTITION:BROKER, such as 0:1,1:1"


def one_directory(value: Value) -> str | None:
    if len(_items(value)) > 1:
        return (
            "several log directories are not supported: all partitions live in one; name one directory, or join several disks "
            "below it with the file system (LVM, btrfs, ZFS)"
        )
    return distinct(value)


def roles_of_one_node(value: Value) -> str | None:
    if "broker" not in _items(value):
        return "this process is broker and controller in one; name both roles: broker,controller"
    return distinct(value)


def one_voter(value: Value) -> str | None:
    if len(_items(value)) > 1:
        return "a quorum of several controllers is not supported: this node is the only one; name it alone"
    return distinct(value)


def protocol_map(value: Value) -> str | None:
    for entry in str(value).split(","):
        name, colon, protocol = entry.strip().partition(":")
        if not name or not colon or protocol.upper() not in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"):
            return f"{entry.strip()!r} is no pair NAME:PROTOCOL with one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
    return None


def address_limits(value: Value) -> str | None:
    """`max.connections.per.ip.overrides`: HOST:NUMBER pairs."""
    for entry in str(value).split(",") if value else ():
        host, _, limit = entry.strip().rpartition(":")
        if not host or not limit.isdecimal():
            return f"{entry.strip()!r} is no pair ADDRESS:NUMBER, such as 127.0.0.1:200"
    return None
