"""The page about all functions, made from their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from streams_sql.functions.declaration import (
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

This page is made from the declarations of the functions: `python -m streams_sql.functions.reference_page docs/sql-functions.md`.

`T...` stands for any number of arguments, a single capital letter for any type (the same one wherever it stands in a signature), and
`(T) => R` for a lambda. An argument that is NULL gives NULL, unless something else is said. A call that fails gives NULL as well, and
the failure is reported with the query.
"""


def page(library: Library) -> str:
    """The whole page, in Markdown."""
    functions: list[AnyFunction] = [
        *library.scalars.values(),
        *library.tables.values(),
        *library.aggregates.values(),
    ]
    parts = [_INTRODUCTION]
    for group in Group:
        members = sorted(
            (function for function in functions if function.group is group), key=lambda member: member.name
        )
        if members:
            parts.append(f"## {group.value}\n")
            parts.extend(_section(member) for member in members)
    return "\n".join(parts)


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
