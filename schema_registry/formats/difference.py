"""What makes two schemas incompatible, told to programs and to people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Policy(Enum):
    """How strictly JSON schemas are compared; the other formats know one way alone."""

    STRICT = "STRICT"
    LENIENT = "LENIENT"


@dataclass(frozen=True, slots=True)
class Roles:
    """How messages call the schema that reads and the one whose data is read: `new` and `old`, or the reverse."""

    reader: str = "new"
    writer: str = "old"


@dataclass(frozen=True, slots=True)
class Difference:
    """One reason why the reader cannot read what the writer wrote.

    `rule` is Confluent's name of the difference and `message` its sentence, to the letter. The rest is for people: where it is, what
    stands there on both sides (None: nothing), why this breaks readers, and what would help.
    """

    rule: str
    path: str
    message: str
    reader: str | None
    writer: str | None
    why: str
    fix: str
