"""Parts of topics: what may stand behind the name of a source to say which of its records are meant."""

from __future__ import annotations

from typing import Final

from streams_sql.language.durations import read_duration
from streams_sql.language.reader import Reader
from streams_sql.language.statements import Ago, AtOffset, AtTime, Point, TopicRange

BEGINNING: Final = AtOffset(0)
_ENDS: Final = ("BETWEEN", "AS", "SINCE", "UNTIL")


def read_range(reader: Reader) -> TopicRange | None:
    """PARTITION n, … and then BETWEEN a AND b, AS OF TIMESTAMP t, or SINCE a UNTIL b, and TAIL n, of which each may be left out."""
    position = reader.position
    found = reader.range_word() is not None
    reader.also("PARTITION", *_ENDS, "TAIL")
    partitions: tuple[int, ...] = ()
    if reader.range_word() == "PARTITION":
        reader.expect("PARTITION")
        partitions = tuple(reader.listed(lambda: reader.integer("PARTITION")))
        reader.also(*_ENDS, "TAIL")
    since, until = _read_ends(reader)
    if since is not None or until is not None:
        reader.also(*(["UNTIL"] if until is None else []), "TAIL")
    tail = None
    if reader.range_word() == "TAIL":
        reader.expect("TAIL")
        tail = reader.integer("TAIL")
    _check_order(reader)
    return TopicRange(partitions, since, until, tail, position) if found else None


def _read_ends(reader: Reader) -> tuple[Point | None, Point | None]:
    """Where it begins, and the first place that does not belong to it."""
    match reader.range_word():
        case "BETWEEN":
            return _read_between(reader)
        case "AS":
            reader.expect("AS", "OF")
            return None, _behind(_read_time(reader))
    since = until = None
    if reader.range_word() == "SINCE":
        reader.expect("SINCE")
        since = BEGINNING if reader.accept("BEGINNING") else _read_point(reader)
    if reader.range_word() == "UNTIL":
        reader.expect("UNTIL")
        until = _read_point(reader)
    return since, until


def _read_between(reader: Reader) -> tuple[Point, Point]:
    """Both ends belong to it, as SQL has it."""
    reader.expect("BETWEEN")
    if reader.accept("OFFSET"):
        first = reader.integer("OFFSET")
        reader.expect("AND")
        reader.accept("OFFSET")
        return AtOffset(first), AtOffset(reader.integer("OFFSET") + 1)
    low = _read_time(reader)
    reader.expect("AND")
    high = _read_time(reader) if reader.word() == "TIMESTAMP" else _read_moment(reader)
    return low, _behind(high)


def _read_point(reader: Reader) -> Point:
    if reader.accept("OFFSET"):
        return AtOffset(reader.integer("OFFSET"))
    if reader.is_next("TIMESTAMP"):
        return _read_time(reader)
    return Ago(read_duration(reader))


def _read_time(reader: Reader) -> AtTime:
    reader.expect("TIMESTAMP")
    return _read_moment(reader)


def _read_moment(reader: Reader) -> AtTime:
    """A text as ROWTIME is compared with, or milliseconds since 1970, as ROWTIME is shown."""
    position = reader.position
    text = reader.accept_string()
    return AtTime(str(reader.integer("TIMESTAMP")) if text is None else text, text is None, position=position)


def _behind(time: AtTime) -> AtTime:
    """The time right after it."""
    return AtTime(time.text, time.is_number, is_behind=True, position=time.position)


def _check_order(reader: Reader) -> None:
    word = reader.range_word()
    if word is not None:
        raise reader.problem(
            f"{word} cannot stand here: a range is PARTITION n, then BETWEEN … AND …, AS OF TIMESTAMP …, or SINCE … UNTIL …, then TAIL n."
        )
