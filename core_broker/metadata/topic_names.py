"""Which names a topic may have."""

from __future__ import annotations

import re
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError

NAME_MAX_CHARACTERS: Final = 249
METADATA_TOPIC: Final = "__cluster_metadata"
INTERNAL_TOPICS: Final = frozenset(("__consumer_offsets", "__transaction_state", "__share_group_state"))

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def check_topic_name(name: str) -> None:
    """INVALID_TOPIC_EXCEPTION if no topic may be called so."""
    if not name:
        raise _invalid("a topic's name cannot be empty")
    if name in (".", ".."):
        raise _invalid(f"a topic cannot be called {name!r}, which names a directory")
    if len(name) > NAME_MAX_CHARACTERS:
        raise _invalid(f"the name {name[:32]!r}... has {len(name)} characters; {NAME_MAX_CHARACTERS} are allowed")
    if not _LEGAL.fullmatch(name):
        raise _invalid(f"the name {name!r} has other characters than a-z, A-Z, 0-9, '.', '_' and '-'")


def collision_key(name: str) -> str:
    """Names with the same key cannot live side by side: metrics write a dot as an underscore."""
    return name.replace(".", "_")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
