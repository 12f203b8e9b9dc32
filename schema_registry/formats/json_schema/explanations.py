"""Tells programs and people about differences that break readers: Confluent's sentence, and what lies behind it."""

from __future__ import annotations

from schema_registry.formats.difference import Difference, Roles
from schema_registry.formats.json_schema.finding import Finding, Missing, Side
from schema_registry.formats.json_schema.reasons import REASONS
from schema_registry.formats.json_text import print_compact

SIDE_MAX_CHARACTERS = 300
"""How much of a schema is shown for each side of a difference."""

GIVEN_UP = "COMPARISON_LIMIT_EXCEEDED"

_OLD = "old"


def explain(finding: Finding, roles: Roles) -> Difference:
    """The finding as the API gives it: the original wrote the data, the update reads it."""
    reason = REASONS[finding.rule]
    writer, reader = _shown(finding.original), _shown(finding.update)
    path = f"#/{'/'.join(finding.path)}"
    words = {
        "name": finding.path[-1] if finding.path else "the schema",
        "reader": roles.reader,
        "writer": roles.writer,
        "reads": "nothing" if reader is None else reader,
        "wrote": "nothing" if writer is None else writer,
        "restore": _restoring(reader, writer, roles),
    }
    return Difference(
        rule=finding.rule.value,
        path=path,
        message=_message(finding.rule.value, reason.sentence.format(path=path, **words)),
        reader=reader,
        writer=writer,
        why=reason.why.format(**words),
        fix=(reason.fix_writer if roles.reader == _OLD else reason.fix_reader).format(**words),
    )


def explain_giving_up(roles: Roles) -> Difference:
    return Difference(
        rule=GIVEN_UP,
        path="#/",
        message=_message(
            GIVEN_UP, f"The {roles.reader} schema and the {roles.writer} schema are too entangled to compare"
        ),
        reader=None,
        writer=None,
        why="The schemas combine so many alternatives, or refer to each other in so many ways, that comparing them was given up.",
        fix="Use fewer alternatives in anyOf, oneOf and allOf of the new schema, and fewer definitions that contain each other. "
        "If you know that the schemas are compatible, register this one under the compatibility level NONE.",
    )


def _message(rule: str, description: str) -> str:
    """The quotes do not match, and clients have read them so for years."""
    return f'{{errorType:"{rule}", description:"{description}\'}}'


def _shown(value: Side) -> str | None:
    if isinstance(value, Missing):
        return None
    text = print_compact(value)
    return text if len(text) <= SIDE_MAX_CHARACTERS else f"{text[:SIDE_MAX_CHARACTERS]}…"


def _restoring(reader: str | None, writer: str | None, roles: Roles) -> str:
    """How the new schema, which alone can be changed, would agree with the old one here."""
    old, new = (reader, writer) if roles.reader == _OLD else (writer, reader)
    if old is None:
        return "leave it out of the new schema"
    return f"keep {old} in the new schema" if new is None else f"keep {old} in the new schema instead of {new}"
