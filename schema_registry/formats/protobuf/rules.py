"""The differences that two versions of a Protobuf schema can have, and what those that break readers mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Rule(Enum):
    """A kind of difference, from the schema that wrote to the schema that reads; the names are Confluent's."""

    PACKAGE_CHANGED = auto()
    MESSAGE_ADDED = auto()
    MESSAGE_REMOVED = auto()
    MESSAGE_MOVED = auto()
    ENUM_ADDED = auto()
    ENUM_REMOVED = auto()
    ENUM_CONST_ADDED = auto()
    ENUM_CONST_CHANGED = auto()
    ENUM_CONST_REMOVED = auto()
    FIELD_ADDED = auto()
    FIELD_REMOVED = auto()
    FIELD_NAME_CHANGED = auto()
    FIELD_KIND_CHANGED = auto()
    FIELD_SCALAR_KIND_CHANGED = auto()
    FIELD_NAMED_TYPE_CHANGED = auto()
    FIELD_NUMERIC_LABEL_CHANGED = auto()
    FIELD_STRING_OR_BYTES_LABEL_CHANGED = auto()
    REQUIRED_FIELD_ADDED = auto()
    REQUIRED_FIELD_REMOVED = auto()
    ONEOF_ADDED = auto()
    ONEOF_REMOVED = auto()
    ONEOF_FIELD_ADDED = auto()
    ONEOF_FIELD_REMOVED = auto()
    ONEOF_FIELD_MOVED_TO_TOP_LEVEL = auto()
    MULTIPLE_FIELDS_MOVED_TO_ONEOF = auto()
    FIELD_MOVED_TO_EXISTING_ONEOF = auto()

    @property
    def breaks_readers(self) -> bool:
        return self in BREACHES


@dataclass(frozen=True, slots=True)
class Breach:
    """What a rule that breaks readers says.

    `sentence` is Confluent's, to the letter, with places for the path and for the names of both schemas. The others are for people,
    with places for what stands on both sides. A fix always changes the new schema, which reads in one direction and writes in the
    other: so there are two.
    """

    sentence: str
    why: str
    fix_reader: str
    fix_writer: str


_SEPARATE_FIELD: Final = "Leave `{old}` as it was, and add the other form as one more field with a number never used."

BREACHES: Final = {
    Rule.PACKAGE_CHANGED: Breach(
        "The package at '{path}' in the {reader_role} schema does not match the package in the {writer_role} schema",
        "The package is a part of every message's full name, by which clients and other schemas find it.",
        "Keep the package of the old schema ({old}); register under another subject what belongs to another package.",
        "Keep the package of the old schema ({old}); register under another subject what belongs to another package.",
    ),
    Rule.MESSAGE_REMOVED: Breach(
        "The {reader_role} schema is missing a MESSAGE type at path '{path}' in the {writer_role} schema",
        "Records may hold this message, and without its definition a reader cannot decode them.",
        "Put `{writer}` back, marked as deprecated if nobody should write it any more.",
        "Declare `{writer}` in a schema of its own and import that, or let the readers have it before the writers.",
    ),
    Rule.FIELD_KIND_CHANGED: Breach(
        "The type of a field at path '{path}' in the {reader_role} schema does not match the {writer_role} schema",
        "Scalars, messages and maps are encoded in different ways: the bytes of `{writer}` say nothing to `{reader}`.",
        _SEPARATE_FIELD,
        _SEPARATE_FIELD,
    ),
    Rule.FIELD_SCALAR_KIND_CHANGED: Breach(
        "The kind of a SCALAR field at path '{path}' in the {reader_role} schema"
        " does not match its kind in the {writer_role} schema",
        "`{writer}` and `{reader}` have no encoding in common. Types may only change within a family: int32, int64, uint32, uint64,"
        " bool and enums; sint32 and sint64; string and bytes; fixed32 and sfixed32; fixed64 and sfixed64.",
        _SEPARATE_FIELD,
        _SEPARATE_FIELD,
    ),
    Rule.FIELD_NAMED_TYPE_CHANGED: Breach(
        "The type of a MESSAGE field at path '{path}' in the {reader_role} schema"
        " does not match its type in the {writer_role} schema",
        "The field holds another message now, or its message stands in an import that changed incompatibly: `{reader}` cannot read"
        " what `{writer}` wrote.",
        "Let the field hold the message that it held, as it was; add the other one as a field with a number never used.",
        "Let the field hold the message that it held, as it was; add the other one as a field with a number never used.",
    ),
    Rule.FIELD_NUMERIC_LABEL_CHANGED: Breach(
        "The label for a NUMERIC field at path '{path}' in the {reader_role} schema"
        " does not match its label in the {writer_role} schema",
        "A repeated field packs its numbers into one value that a single field cannot read, and a required one must be there always.",
        _SEPARATE_FIELD,
        _SEPARATE_FIELD,
    ),
    Rule.REQUIRED_FIELD_ADDED: Breach(
        "A required field  at path '{path}' in the {reader_role} schema is missing in the {writer_role} schema",
        "Records of the {writer_role} schema lack this field, and a reader refuses a message without its required fields.",
        "Declare `{reader}` as optional.",
        "Keep `{reader}`: readers of the old schema refuse messages without it.",
    ),
    Rule.REQUIRED_FIELD_REMOVED: Breach(
        "The {reader_role} schema is missing a required field at path: '{path}' in the {writer_role} schema",
        "Whoever uses the {writer_role} schema refuses messages without this field, and the {reader_role} schema would drop it.",
        "Keep `{writer}` for as long as the old schema is in use.",
        "Declare `{writer}` as optional.",
    ),
    Rule.ONEOF_FIELD_REMOVED: Breach(
        "The {reader_role} schema is missing a oneof field at path '{path}' in the {writer_role} schema",
        "Records may have set this member of the oneof, and the reader would find nothing set.",
        "Put `{writer}` back into its oneof, or remove the oneof with all its members.",
        "Declare `{writer}` outside the oneof, or let the readers have it before the writers.",
    ),
    Rule.MULTIPLE_FIELDS_MOVED_TO_ONEOF: Breach(
        "Multiple fields in the oneof at path '{path}' in the {reader_role} schema"
        " are outside a oneof in the {writer_role} schema",
        "Records may set several of these fields, and of those in one oneof a reader keeps only the last.",
        "Leave the fields outside the oneof; at most one may move into a new oneof.",
        "Keep the oneof: readers of the old schema would lose all but one of its members.",
    ),
    Rule.FIELD_MOVED_TO_EXISTING_ONEOF: Breach(
        "A field in the oneof at path '{path}' in the {reader_role} schema"
        " is outside an existing oneof in the {writer_role} schema",
        "Records may set this field and a member of the oneof, and of those in one oneof a reader keeps only the last.",
        "Leave the field outside the oneof.",
        "Keep the field in its oneof: readers of the old schema would lose it or the other member.",
    ),
}
"""Every rule that is not here is compatible."""
