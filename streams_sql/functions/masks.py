"""Texts with their characters hidden: letters, digits and others are replaced by one character each."""

from __future__ import annotations

import unicodedata
from typing import Final

from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

_DEFAULTS: Final = ("X", "x", "n", "-")
_KINDS: Final = {"Lu": 0, "Ll": 1, "Nd": 2}
_OTHER: Final = 3
_MASK_PARAMETERS: Final = (
    "upper: for upper-case letters; NULL leaves them as they are",
    "lower: for lower-case letters",
    "digit: for digits",
    "other: for all others",
)
_RULES: Final = (
    " Without other masks, upper-case letters become 'X', lower-case ones 'x', digits 'n' and all others '-'."
)
_COUNT: Final = "numChars: how many characters"
_COUNTED_SIGNATURES: Final = (
    "STRING, INTEGER -> STRING",
    "STRING, INTEGER, STRING, STRING, STRING, STRING -> STRING",
)
_COUNTED_PARAMETERS: Final = ("input: the text", _COUNT, *_MASK_PARAMETERS)


def _masked(text: str, masks: tuple[str | None, ...]) -> str:
    for mask in masks:
        if mask is not None and len(mask) != 1:
            raise ValueError(f"Invalid mask character. Must be only single character, but was '{mask[:80]}'")
    masked = []
    for character in text:
        mask = masks[_KINDS.get(unicodedata.category(character), _OTHER)]
        masked.append(character if mask is None else mask)
    return "".join(masked)


def _split(text: str | None, count: int | None, from_end: bool) -> tuple[str, str] | None:
    """The text in two parts, one of them of so many characters; None where there is nothing to mask."""
    if count is not None and count < 0:
        raise ValueError("A non-negative number of characters to mask or skip is required")
    if text is None or count is None:
        return None
    place = max(0, len(text) - count) if from_end else count
    return text[:place], text[place:]


@scalar(
    "mask",
    "STRING -> STRING",
    "STRING, STRING, STRING, STRING, STRING -> STRING",
    group=Group.STRING,
    doc="The text with every character masked." + _RULES,
    parameters=("input: the text", *_MASK_PARAMETERS),
    takes_null=True,
)
def mask(text: str | None, *masks: str | None) -> str | None:
    return None if text is None else _masked(text, masks or _DEFAULTS)


@scalar(
    "mask_left",
    *_COUNTED_SIGNATURES,
    group=Group.STRING,
    doc="The text with so many characters at its beginning masked." + _RULES,
    parameters=_COUNTED_PARAMETERS,
    takes_null=True,
)
def mask_left(text: str | None, count: int | None, *masks: str | None) -> str | None:
    parts = _split(text, count, False)
    return parts and _masked(parts[0], masks or _DEFAULTS) + parts[1]


@scalar(
    "mask_right",
    *_COUNTED_SIGNATURES,
    group=Group.STRING,
    doc="The text with so many characters at its end masked." + _RULES,
    parameters=_COUNTED_PARAMETERS,
    takes_null=True,
)
def mask_right(text: str | None, count: int | None, *masks: str | None) -> str | None:
    parts = _split(text, count, True)
    return parts and parts[0] + _masked(parts[1], masks or _DEFAULTS)


@scalar(
    "mask_keep_left",
    *_COUNTED_SIGNATURES,
    group=Group.STRING,
    doc="The text with all but so many characters at its beginning masked." + _RULES,
    parameters=_COUNTED_PARAMETERS,
    takes_null=True,
)
def mask_keep_left(text: str | None, count: int | None, *masks: str | None) -> str | None:
    parts = _split(text, count, False)
    return parts and parts[0] + _masked(parts[1], masks or _DEFAULTS)


@scalar(
    "mask_keep_right",
    *_COUNTED_SIGNATURES,
    group=Group.STRING,
    doc="The text with all but so many characters at its end masked." + _RULES,
    parameters=_COUNTED_PARAMETERS,
    takes_null=True,
)
def mask_keep_right(text: str | None, count: int | None, *masks: str | None) -> str | None:
    parts = _split(text, count, True)
    return parts and _masked(parts[0], masks or _DEFAULTS) + parts[1]
