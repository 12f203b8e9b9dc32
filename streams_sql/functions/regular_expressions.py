"""Regular expressions, in the language of RE2: matching takes linear time, so there are no back references and no looking around."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # it has no stubs

from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

# A pattern may come with each record.
_PATTERNS_KEPT: Final = 256
_EXTRACT_PARAMETERS: Final = (
    "pattern: the regular expression",
    "input: the text",
    "group: which group, 0 for the whole match",
)
_REFERENCE: Final = re.compile(r"\\(.)|\$([0-9])|\$\{([A-Za-z][A-Za-z0-9]*)\}|([\\$])", re.DOTALL)


@lru_cache(_PATTERNS_KEPT)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise ValueError(f"Invalid regular expression pattern: {pattern[:80]} ({error})") from error


@scalar(
    "regexp_extract",
    "STRING, STRING -> STRING",
    "STRING, STRING, INTEGER -> STRING",
    group=Group.REGEX,
    doc="The first part of a text that a regular expression matches, or one of its groups.",
    parameters=_EXTRACT_PARAMETERS,
)
def regexp_extract(pattern: str, text: str, group: int = 0) -> str | None:
    compiled = _compiled(pattern)
    if group > compiled.groups:
        return None
    match = compiled.search(text)
    found: str | None = match.group(group) if match else None
    return found


@scalar(
    "regexp_extract_all",
    "STRING, STRING -> ARRAY<STRING>",
    "STRING, STRING, INTEGER -> ARRAY<STRING>",
    group=Group.REGEX,
    doc="All parts of a text that a regular expression matches, or one of its groups in each.",
    parameters=_EXTRACT_PARAMETERS,
)
def regexp_extract_all(pattern: str, text: str, group: int = 0) -> list[str | None] | None:
    compiled = _compiled(pattern)
    if group > compiled.groups:
        return None
    return [match.group(group) for match in compiled.finditer(text)]


@scalar(
    "regexp_replace",
    "STRING, STRING, STRING -> STRING",
    group=Group.REGEX,
    doc="The text with all matches of a regular expression replaced. $1 stands for the first group, \\$ for the character.",
    parameters=("str: the text", "regexp: the regular expression", "newStr: what to put there"),
)
def regexp_replace(text: str, pattern: str, replacement: str) -> str:
    compiled = _compiled(pattern)
    replaced: str = compiled.sub(_replacement(replacement), text)
    return replaced


def _replacement(template: str) -> Callable[[Any], str]:
    """What a match is replaced with, from a template as Java reads it."""

    def filled(match: Any) -> str:
        return _REFERENCE.sub(lambda reference: _referred(reference, match), template)

    return filled


def _referred(reference: re.Match[str], match: Any) -> str:
    literal, number, name, alone = reference.groups()
    if alone:
        raise ValueError("A replacement needs a group after $ and a character after \\")
    if literal is not None:
        return str(literal)
    found = match.group(int(number) if number else name)
    return "" if found is None else str(found)


@scalar(
    "regexp_split_to_array",
    "STRING, STRING -> ARRAY<STRING>",
    group=Group.REGEX,
    doc="Splits a text where a regular expression matches; an empty one splits it into characters.",
    parameters=("string: the text", "regexp: the regular expression"),
)
def regexp_split_to_array(text: str, pattern: str) -> list[str]:
    compiled = _compiled(pattern)
    matches_nothing = compiled.fullmatch("") is not None
    parts: list[str] = []
    start = 0
    for match in compiled.finditer(text):
        if matches_nothing and match.end() == 0:
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    parts.append(text[start:])
    # An expression that matches nothing also does so at the end.
    while matches_nothing and len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts
