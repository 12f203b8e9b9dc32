"""The page about all functions, made from their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from streams_sql.function_declaration import (
    AggregateFunction,
    AggregateOverload,
    Function,
    Group,
    Overload,
    ParameterDoc,
)
from streams_sql.functions.library import Library
from streams_sql.functions.resolution import signature_text, type_text

AnyFunction: TypeAlias = Function | AggregateFunction

_INTRODUCTION = """# Functions of the streaming SQL

This page is made from the declarations in the code: `python -m barnabas.reference`.

`T...` stands for any number of arguments, a single capital letter for any type (the same one wherever it stands in a signature), and
`(T) => R` for a lambda. An argument that is NULL gives NULL, unless something else is said. A call that fails gives NULL as well, and
the failure is told by SHOW ERRORS. Functions of your own: see [SQL over topics](../sql.md#functions-of-your-own).
"""

_NOTES: Mapping[Group, str] = {
    Group.AGGREGATE: "All of them go over streams and over tables: where a row of a table changes or is deleted, what it had added to its group "
    "is taken back.",
    Group.DATE: "Patterns are those of Java's DateTimeFormatter, and for PARSE_DATE those of its SimpleDateFormat. A TIMESTAMP is a point in time; where a zone matters, it is an argument, "
    "and without one UTC.",
    Group.REGEX: "The language is that of RE2, whose time grows with the text alone: patterns as in Java, but without looking ahead or "
    "behind and without references to groups in the pattern.",
    Group.TABLE: "They stand in SELECT, and give a row for each element.",
}


def page(library: Library) -> str:
    """The whole page, in Markdown."""
    functions: list[AnyFunction] = [
        *library.scalars.values(),
        *library.tables.values(),
        *library.aggregates.values(),
    ]
    groups = {group: _members(functions, group) for group in Group}
    parts = [_INTRODUCTION, *(_entry(group, members) for group, members in groups.items() if members), ""]
    for group, members in groups.items():
        if members:
            parts.append(f"## {group.value}\n")
            if group in _NOTES:
                parts.append(f"{_NOTES[group]}\n")
            parts.extend(_section(member) for member in members)
    return "\n".join(parts)


def _members(functions: Sequence[AnyFunction], group: Group) -> list[AnyFunction]:
    return sorted((function for function in functions if function.group is group), key=lambda member: member.name)


def _entry(group: Group, members: Sequence[AnyFunction]) -> str:
    """Of the table of contents."""
    anchor = group.value.lower().replace("/", "").replace(" ", "-")
    names = " · ".join(f"[{member.name}](#{member.name.lower()})" for member in members)
    return f"- [{group.value}](#{anchor}): {names}"


def _section(function: AnyFunction) -> str:
    lines = [f"### {function.name}\n", f"{_markdown(function.description)}\n", "```sql"]
    lines.extend(
        f"{signature_text(function.name, overload)} -> {type_text(overload.result)}" for overload in function.overloads
    )
    lines.append("```\n")
    described = list(_parameters(function.overloads))
    if described:
        lines.extend([*described, ""])
    return "\n".join(lines)


def _parameters(overloads: Sequence[Overload | AggregateOverload]) -> Iterator[str]:
    """What is said about parameters, once for each that has a description."""
    seen: set[ParameterDoc] = set()
    for overload in overloads:
        for parameter in overload.names:
            if parameter.description and parameter not in seen:
                seen.add(parameter)
                yield f"- `{parameter.name}`: {_markdown(parameter.description)}"


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("<", "\\<").replace("*", "\\*").replace("_", "\\_")
