"""Spans of time, and the windows that have them."""

from __future__ import annotations

from streams_sql.language.reader import Reader
from streams_sql.language.statements import Window, WindowKind, Within
from streams_sql.language.token_reader import INTEGER_MAX
from streams_sql.language.words import UNITS


def read_window(reader: Reader) -> Window:
    """What follows WINDOW: an optional name, which nothing refers to, and the kind."""
    if reader.word() not in WindowKind.__members__ or reader.word(ahead=1) != "(":
        reader.accept_name()
    position = reader.position
    kind = WindowKind(reader.expect_one_of(*WindowKind.__members__))
    reader.expect("(")
    if kind is not WindowKind.SESSION:
        reader.expect("SIZE")
    size_ms = read_duration(reader)
    advance_ms = None
    if kind is WindowKind.HOPPING:
        reader.expect(",", "ADVANCE", "BY")
        advance_ms = read_duration(reader)
    retention_ms = read_duration(reader) if reader.accept(",", "RETENTION") else None
    grace_ms = read_duration(reader) if reader.accept(",", "GRACE", "PERIOD") else None
    reader.expect(")")
    return Window(kind, size_ms, advance_ms, retention_ms, grace_ms, position)


def read_within(reader: Reader) -> Within:
    """What follows WITHIN: one span for both directions, or one for each."""
    if reader.accept("("):
        before_ms = read_duration(reader)
        reader.expect(",")
        after_ms = read_duration(reader)
        reader.expect(")")
    else:
        before_ms = after_ms = read_duration(reader)
    grace_ms = read_duration(reader) if reader.accept("GRACE", "PERIOD") else None
    return Within(before_ms, after_ms, grace_ms)


def read_duration(reader: Reader) -> int:
    """In milliseconds."""
    position = reader.position
    amount = reader.integer("A span of time")
    duration_ms = amount * UNITS[reader.expect_one_of(*UNITS)]
    if duration_ms > INTEGER_MAX:
        raise reader.problem(f"The span of time is too long: it has more than {INTEGER_MAX} milliseconds.", position)
    return duration_ms
