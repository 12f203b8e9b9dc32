"""Texts. Positions count characters from 1; several functions work on bytes as well."""

from __future__ import annotations

import hashlib
import re
import uuid
from functools import partial
from typing import Any, Final, TypeVar

from streams_sql.evaluation.casts import BLANKS
from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

Text = TypeVar("Text", str, bytes)

PADDED_LENGTH_MAX: Final = 16 * 1024 * 1024
"""Characters or bytes that LPAD and RPAD make at most: a length that comes with a record must not fill the memory."""

UUID_BYTES: Final = 16
_WORD_WITH_BLANKS: Final = re.compile(r"\S+\s*")
_ESCAPED_UNIT: Final = re.compile(r"\\u+([0-9a-fA-F]{4})")
# What the text of a UTF-16 code must have at least: \u004b.
_UNIT_CHARACTERS_MIN: Final = 6
_CODE_POINT_MAX: Final = 0x10FFFF
_SPARK_BLANKS: Final = "".join(f"\\u{ord(blank):04x}" for blank in BLANKS)


@scalar(
    "Chr",
    "INTEGER -> STRING",
    group=Group.STRING,
    doc="The character of a code: a number, or a text such as '\\u004b'.",
    parameters=("decimalCode: the code point as a number",),
)
def character(code: int) -> str | None:
    if not 0 <= code <= _CODE_POINT_MAX:
        return None
    # Half of a pair is no character, and cannot be written in UTF-8.
    return chr(code).encode(errors="replace").decode()


@scalar(
    "Chr",
    "STRING -> STRING",
    group=Group.STRING,
    doc="The characters of a text with UTF-16 codes.",
    parameters=("utf16Code: the codes, such as '\\u004b'",),
)
def character_of_text(text: str) -> str | None:
    if len(text) < _UNIT_CHARACTERS_MIN or not text.startswith("\\u"):
        return None
    if not _ESCAPED_UNIT.match(text):
        raise ValueError(f"{text[:80]!r} does not begin with a code such as \\u004b")
    units = _ESCAPED_UNIT.sub(lambda match: chr(int(match[1], 16)), text)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_CONCAT_DOC: Final = "Joins any number of texts or bytes; NULL ones are left out."
_CONCAT_WS_DOC: Final = (
    "Joins texts or bytes with a separator, the first argument, between them; NULL ones are left out."
)


@scalar(
    "concat",
    "STRING... -> STRING",
    group=Group.STRING,
    doc=_CONCAT_DOC,
    parameters=("inputs: the texts to join",),
    takes_null=True,
    spark="array_join(array({*}), '')",
)
def concat(*inputs: str | None) -> str:
    return "".join(part for part in inputs if part is not None)


@scalar(
    "concat",
    "BYTES... -> BYTES",
    group=Group.STRING,
    doc=_CONCAT_DOC,
    parameters=("inputs: the bytes to join",),
    takes_null=True,
)
def concat_bytes(*inputs: bytes | None) -> bytes:
    return b"".join(part for part in inputs if part is not None)


@scalar(
    "concat_ws",
    "STRING... -> STRING",
    group=Group.STRING,
    doc=_CONCAT_WS_DOC,
    parameters=("inputs: the separator and the texts to join",),
    takes_null=True,
    spark="CASE WHEN size(array({*})) > 1 THEN concat_ws({*}) END",
)
@scalar(
    "concat_ws",
    "BYTES... -> BYTES",
    group=Group.STRING,
    doc=_CONCAT_WS_DOC,
    parameters=("inputs: the separator and the bytes to join",),
    takes_null=True,
)
def concat_with_separator(*inputs: Any) -> Any:
    if len(inputs) < 2:
        raise ValueError("Function Concat_WS expects at least two input arguments.")
    separator, *parts = inputs
    return None if separator is None else separator.join(part for part in parts if part is not None)


@scalar(
    "elt",
    "INTEGER, STRING... -> STRING",
    group=Group.STRING,
    doc="The text at place n of a list that counts from 1; NULL where there is none. The opposite of FIELD.",
    parameters=("n: the place", "args: the texts"),
    takes_null=True,
    spark="elt({*}, NULL)",
)
def element_of(place: int | None, *texts: str | None) -> str | None:
    return texts[place - 1] if place is not None and 0 < place <= len(texts) else None


@scalar(
    "field",
    "STRING, STRING... -> INTEGER",
    group=Group.STRING,
    doc="The place, from 1, of a text in a list, or 0 if it is not among them. NULL never is. The opposite of ELT.",
    parameters=("str: the text", "args: the list"),
    takes_null=True,
    spark="int(coalesce(array_position(slice(array({*}), 2, 2147483646), {0}), 0))",
)
def place_of(text: str | None, *texts: str | None) -> int:
    return 0 if text is None or text not in texts else texts.index(text) + 1


@scalar(
    "initcap",
    "STRING -> STRING",
    group=Group.STRING,
    doc="The first letter of each word in upper case and the others in lower case. Blanks stand between words.",
    parameters=("str: the text",),
)
def capitalised(text: str) -> str:
    words = _WORD_WITH_BLANKS.findall(text.lower())
    return "".join(word[0].upper() + word[1:] for word in words)


@scalar(
    "instr",
    "STRING, STRING -> INTEGER",
    group=Group.STRING,
    doc="The place, from 1, of a text in another; 0 if it is not there.",
    parameters=("str: where to look", "substring: what to look for"),
    takes_null=True,
    spark="if(coalesce(length({0}), 0) = 0, 0, coalesce(instr({0}, {1}), 0))",
)
@scalar(
    "instr",
    "STRING, STRING, INTEGER -> INTEGER",
    "STRING, STRING, INTEGER, INTEGER -> INTEGER",
    group=Group.STRING,
    doc="The place, from 1, of an occurrence of a text in another, from a position on (backwards from the end if it is negative).",
    parameters=(
        "str: where to look",
        "substring: what to look for",
        "position: where to begin",
        "occurrence: which one, 1 for the first",
    ),
    takes_null=True,
)
def place_in(
    text: str | None, searched: str | None, position: int | None = 1, occurrence: int | None = 1
) -> int | None:
    if position is None or occurrence is None:
        return None
    if text is None or searched is None or abs(position) > len(text):
        return 0
    if position > 0:
        found = _occurrence(text[position - 1 :], searched, occurrence)
        return 0 if found < 0 else found + position
    if position == 0:
        return max(0, _occurrence(text[-1:], searched, occurrence))
    found = _occurrence(text[::-1][-position - 1 :], searched[::-1], occurrence)
    return 0 if found < 0 else len(text) + position - found - len(searched) + 2


def _occurrence(text: str, searched: str, occurrence: int) -> int:
    """Where the nth occurrence begins, or -1. Occurrences may overlap; an empty text is at the beginning."""
    if occurrence < 1 or not searched:
        return 0 if occurrence > 0 else -1
    found = -1
    for _ in range(occurrence):
        found = text.find(searched, found + 1)
        if found < 0:
            break
    return found


@scalar(
    "lcase",
    "STRING -> STRING",
    group=Group.STRING,
    doc="The text in lower case.",
    parameters=("input",),
    spark="lower({0})",
)
def lower_case(text: str) -> str:
    return text.lower()


@scalar(
    "ucase",
    "STRING -> STRING",
    group=Group.STRING,
    doc="The text in upper case.",
    parameters=("input",),
    spark="upper({0})",
)
def upper_case(text: str) -> str:
    return text.upper()


@scalar(
    "len",
    "STRING -> INTEGER",
    group=Group.STRING,
    doc="How many UTF-16 codes a text has, as in ksqlDB: a character outside the basic plane, such as most emoji, counts as two.",
    parameters=("input",),
    spark="if(octet_length({0}) = length({0}), length({0}), length({0}) + length(regexp_replace({0}, '[^\U00010000-\U0010ffff]', '')))",
)
def length_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@scalar(
    "len",
    "BYTES -> INTEGER",
    group=Group.STRING,
    doc="How many bytes there are.",
    parameters=("input",),
    spark="length({0})",
)
def size_of(value: bytes) -> int:
    return len(value)


_PAD_PARAMETERS: Final = ("input: what to pad", "targetLen: the length of the result", "padding: what to pad with")
_LPAD_DOC: Final = (
    "Pads a text or bytes at the beginning until a length is reached; what is longer is cut off. NULL if the length is negative or the "
    "padding empty."
)
_RPAD_DOC: Final = _LPAD_DOC.replace("beginning", "end")


@scalar(
    "LPad",
    "STRING, INTEGER, STRING -> STRING",
    group=Group.STRING,
    doc=_LPAD_DOC,
    parameters=_PAD_PARAMETERS,
    spark=f"CASE WHEN {{1}} BETWEEN 0 AND {PADDED_LENGTH_MAX} AND {{2}} <> '' THEN lpad({{0}}, {{1}}, {{2}}) END",
)
@scalar("LPad", "BYTES, INTEGER, BYTES -> BYTES", group=Group.STRING, doc=_LPAD_DOC, parameters=_PAD_PARAMETERS)
def padded_left(value: Text, length: int, padding: Text) -> Text | None:
    missing = _padding(length, len(value), padding)
    return None if missing is None else (missing + value)[:length]


@scalar(
    "RPad",
    "STRING, INTEGER, STRING -> STRING",
    group=Group.STRING,
    doc=_RPAD_DOC,
    parameters=_PAD_PARAMETERS,
    spark=f"CASE WHEN {{1}} BETWEEN 0 AND {PADDED_LENGTH_MAX} AND {{2}} <> '' THEN rpad({{0}}, {{1}}, {{2}}) END",
)
@scalar("RPad", "BYTES, INTEGER, BYTES -> BYTES", group=Group.STRING, doc=_RPAD_DOC, parameters=_PAD_PARAMETERS)
def padded_right(value: Text, length: int, padding: Text) -> Text | None:
    missing = _padding(length, len(value), padding)
    return None if missing is None else (value + missing)[:length]


def _padding(length: int, present: int, padding: Text) -> Text | None:
    if length < 0 or not padding:
        return None
    if length > PADDED_LENGTH_MAX:
        raise ValueError(f"A text can be padded to {PADDED_LENGTH_MAX} characters at most, not to {length}")
    missing = max(0, length - present)
    return (padding * (missing // len(padding) + 1))[:missing]


@scalar(
    "md5",
    "STRING -> STRING",
    group=Group.STRING,
    doc="The MD5 hash of a text in UTF-8, in hexadecimal digits.",
    parameters=("s: the text",),
    spark="md5({0})",
)
def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@scalar(
    "replace",
    "STRING, STRING, STRING -> STRING",
    group=Group.STRING,
    doc="Replaces all occurrences of a text in another.",
    parameters=("str: the text", "oldStr: what to replace", "newStr: what to put there"),
    spark="CASE WHEN {1} <> '' THEN replace({0}, {1}, {2}) WHEN {1} = '' AND {0} = '' THEN {2} "
    "WHEN {1} = '' THEN concat({2}, array_join(split({0}, ''), {2}), {2}) END",
)
def replaced(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


_SPLIT_DOC: Final = "Splits a text or bytes at a delimiter, which is taken as it is. An empty delimiter splits into characters or bytes."
_SPLIT_PARAMETERS: Final = ("string: what to split", "delimiter")


@scalar(
    "split",
    "STRING, STRING -> ARRAY<STRING>",
    group=Group.STRING,
    doc=_SPLIT_DOC,
    parameters=_SPLIT_PARAMETERS,
    spark="CASE WHEN {1} = '' THEN split({0}, '') ELSE "
    r"split({0}, concat('\\Q', replace({1}, '\\E', '\\E\\\\E\\Q'), '\\E')) END",
)
def split(text: str, delimiter: str) -> list[str]:
    if delimiter:
        return text.split(delimiter)
    return list(text) or [text]


@scalar(
    "split",
    "BYTES, BYTES -> ARRAY<BYTES>",
    group=Group.STRING,
    doc=_SPLIT_DOC,
    parameters=("bytes: what to split", "delimiter"),
)
def split_bytes(value: bytes, delimiter: bytes) -> list[bytes]:
    if delimiter:
        return value.split(delimiter)
    return [value[index : index + 1] for index in range(len(value))] or [value]


@scalar(
    "split_to_map",
    "STRING, STRING, STRING -> MAP<STRING, STRING>",
    group=Group.STRING,
    doc="A map from a text of entries, split by one delimiter, and their keys and values, split by another. The last of equal keys stays.",
    parameters=(
        "input: the text",
        "entryDelimiter: what is between entries",
        "kvDelimiter: what is between key and value",
    ),
)
def split_to_map(text: str, entry_delimiter: str, value_delimiter: str) -> dict[str, str] | None:
    if not entry_delimiter or not value_delimiter or entry_delimiter == value_delimiter:
        return None
    entries = (entry.split(value_delimiter) for entry in text.split(entry_delimiter) if value_delimiter in entry)
    return {parts[0]: parts[1] for parts in entries}


_PLACES: Final = ("pos: where to begin, from 1, or from the end if it is negative", "length: how much at most")
_of_text = partial(scalar, "substring", group=Group.STRING, parameters=("str: the text", *_PLACES))
_of_bytes = partial(scalar, "substring", group=Group.STRING, parameters=("bytes: the bytes", *_PLACES))
_substring = partial(
    partial,
    doc="The part of a text or of bytes from a position on.",
    spark="substring({0}, if({1} < 0, greatest({1}, -length({0})), {1}))",
)
_substring_of_length = partial(
    partial,
    doc="The part of a text or of bytes from a position on, of a length.",
    spark="substring({0}, if({1} < 0, greatest({1}, -length({0})), {1}), if({2} < 0, 0, {2}))",
)


@_substring(_of_text)("STRING, INTEGER -> STRING")
@_substring(_of_bytes)("BYTES, INTEGER -> BYTES")
def substring(value: Text, position: int) -> Text:
    return value[_start(len(value), position) :]


@_substring_of_length(_of_text)("STRING, INTEGER, INTEGER -> STRING")
@_substring_of_length(_of_bytes)("BYTES, INTEGER, INTEGER -> BYTES")
def substring_of_length(value: Text, position: int, length: int) -> Text:
    start = _start(len(value), position)
    return value[start : start + max(0, length)]


def _start(length: int, position: int) -> int:
    return max(length + position, 0) if position < 0 else max(min(position - 1, length), 0)


@scalar(
    "trim",
    "STRING -> STRING",
    group=Group.STRING,
    doc="The text without blanks at its beginning and its end.",
    parameters=("input",),
    spark=f"trim(BOTH '{_SPARK_BLANKS}' FROM {{0}})",
)
def trimmed(text: str) -> str:
    return text.strip(BLANKS)


_UUID_DOC: Final = "A universally unique identifier: a random one (version 4), or the one that 16 bytes are."


@scalar("UUID", "-> STRING", group=Group.STRING, doc=_UUID_DOC, is_deterministic=False)
def random_uuid() -> str:
    return str(uuid.uuid4())


@scalar("UUID", "BYTES -> STRING", group=Group.STRING, doc=_UUID_DOC, parameters=("bytes",))
def uuid_of_bytes(value: bytes) -> str | None:
    return str(uuid.UUID(bytes=value)) if len(value) == UUID_BYTES else None
