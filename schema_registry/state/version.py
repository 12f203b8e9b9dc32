"""One registered version, and the content that it shares with every other version of the same id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schema_registry.schema import Schema


@dataclass(frozen=True, slots=True)
class Content:
    """What an id stands for in its context."""

    schema: Schema
    digest: bytes


@dataclass(frozen=True, slots=True)
class Version:
    """A schema under a subject. `subject` is qualified, `written_ms` is when its record reached the topic, and `further` holds
    members of the record that only its writer understands."""

    subject: str
    number: int
    id: int
    content: Content
    deleted: bool
    written_ms: int
    further: Mapping[str, Any]

    @property
    def schema(self) -> Schema:
        return self.content.schema
