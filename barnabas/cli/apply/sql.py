"""Streams, tables, types and queries that shall be there, compared by what their statements say."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from barnabas.cli.apply.plan import SQL, Action, Change, Member, refused
from barnabas.cli.apply.statements import Wanted, one_line
from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.cli.sql.session import START_HINT
from barnabas.sql import Client, Refused, ServerUnreachable
from streams_sql.language.formatting import is_plain
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateAsSelect, CreateSource, CreateType, InsertSelect, Statement
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import quoted

UNKNOWN_STREAM: Final = "BARNABAS_APPLY_LOOKS_WHETHER_ALL_CAN_BE_DONE"
"""A stream that no server has: with a statement that drops it, a request is checked as a whole, and nothing of it is done."""
LATER: Final = "checked once what it reads is there"

_GAP: Final = r"(?:\s|--[^\r\n]*|/\*.*?\*/)+"
_CREATE: Final = re.compile(
    rf"CREATE{_GAP}(?:OR{_GAP}REPLACE{_GAP})?(?P<source>SOURCE{_GAP})?(?P<kind>STREAM|TABLE){_GAP}(?:IF{_GAP}NOT{_GAP}EXISTS{_GAP})?",
    re.IGNORECASE | re.DOTALL,
)
_TOPIC_PROPERTY: Final = "KAFKA_TOPIC"
_STREAMS: Final = "ksql.streams."
"""What ksqlDB may write before the names of properties."""
_PARTITIONS: Final = "PARTITIONS"
_STUCK: Final = ("PAUSED", "ERROR")
"""States in which a query does not come further by itself, or not soon."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is there when the statements run. `coming` are topics that are made, or get a schema, before them; with `has_sources`, new
    source connectors may make any. `existing` are those of some topics that are there now."""

    existing: Callable[[Sequence[str]], Collection[str]]
    coming: Collection[str] = ()
    has_sources: bool = False

    def may_come(self, topic: str) -> bool:
        return self.has_sources or topic in self.coming


class _Objection(NamedTuple):
    """A statement that the server would not take, and why; None where it is not known which. `is_of_setting`: what SET says before it."""

    wanted: Wanted | None
    reason: str
    is_of_setting: bool


class SqlStatements:
    """The streams, tables, types and queries of a SQL server, ours or ksqlDB's."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def plan(self, wanted: Sequence[Wanted], expected: Expected) -> list[Change]:
        with _explained():
            server = _Server.read(self._client, {each.source for each in wanted}) if wanted else _Server()
            changes = {each.key: self._change(each, server) for each in wanted}
            pending = [each for each in wanted if changes[each.key].work is not None]
            refusals, notes = self._checked(pending, server, expected)
        for each in wanted:
            found = changes[each.key]
            if each.key in refusals:
                reason = f"{each.statement.place.prefix()}{refusals[each.key]}"
                changes[each.key] = replace(refused(SQL, each.name, reason), key=each.key)
            elif each.key in notes:
                changes[each.key] = replace(found, note="\n".join(filter(None, (found.note, notes[each.key]))))
        return list(changes.values())

    def _checked(
        self, pending: Sequence[Wanted], server: _Server, expected: Expected
    ) -> tuple[dict[str, str], dict[str, str]]:
        """By their keys: why statements cannot be, and what of others could not be checked."""
        topics = _topics_read(pending)
        missing = topics.keys() - expected.existing(sorted(topics))
        refusals = {
            topics[topic].key: f"there is no topic {topic!r}" for topic in missing if not expected.may_come(topic)
        }
        notes = {topics[topic].key: LATER for topic in missing if expected.may_come(topic)}
        rest = list(pending)
        while rest and (objection := self.objection(rest, server)) is not None:
            failed = objection.wanted
            if failed is None:
                raise CommandError(objection.reason)
            comes_later = (
                not objection.is_of_setting
                and isinstance(failed.parsed, CreateSource)
                and expected.may_come(_topic(failed.parsed))
            )
            if comes_later:
                notes[failed.key] = LATER
            else:
                refusals.setdefault(failed.key, objection.reason)
            place = rest.index(failed)
            unchecked = list(_behind(objection, rest[place + 1 :]))
            notes.update({each.key: LATER if comes_later else note for each, note in unchecked})
            gone = {failed.key, *[each.key for each, _ in unchecked]}
            rest = [each for each in rest if each.key not in gone]
        return refusals, notes

    def removals(self, keys: Sequence[str]) -> list[Change]:
        """The last made goes first, since others are made from those before."""
        if not keys:
            return []
        with _explained():
            server = _Server.read(self._client)
        found = [self._removal(key, server) for key in reversed(keys)]
        return [change for change in found if change is not None]

    def objection(self, wanted: Sequence[Wanted], server: _Server) -> _Objection | None:
        """The first statement that the server would not take: all are tried on a copy of what it has, and nothing is done."""
        texts: list[str] = []
        sent: list[tuple[Wanted, bool]] = []
        given: tuple[str, ...] = ()
        for each in wanted:
            for setting in each.before[len(given) :]:
                texts.append(setting)
                sent.append((each, True))
            given = each.before
            texts.append(_text(each, server))
            sent.append((each, False))
        try:
            self._client.execute("\n".join([*texts, f"DROP STREAM {UNKNOWN_STREAM};"]))
        except Refused as problem:
            if UNKNOWN_STREAM in (problem.statement or str(problem)):
                return None
            failed = (problem.statement or "").strip()
            place = next(
                (each for text, each in zip(texts, sent, strict=True) if text.strip() == failed), (None, False)
            )
            return _Objection(place[0], problem.reason, place[1])
        raise CommandError(
            "the SQL server does things before it has checked all of them", f"Is {self._client.url} a SQL server?"
        )

    def _change(self, wanted: Wanted, server: _Server) -> Change:
        parsed, key, text = wanted.parsed, wanted.key, wanted.statement.text
        if isinstance(parsed, InsertSelect):
            if server.query_of(parsed) is None:
                return self._made(wanted, server)
            return Change(SQL, wanted.name, Action.KEEP, key=key)
        if isinstance(parsed, CreateType):
            return self._type_change(wanted, parsed, server)
        found = server.sources.get(parsed.name)
        if found is None:
            return self._made(wanted, server)
        kind, statement = found
        if kind != parsed.kind.value:
            return refused(
                SQL,
                key,
                f"{wanted.statement.place.prefix()}{parsed.name} is a {kind}: drop it first, or choose another name",
            )
        build = server.builds.get(parsed.name)
        if build is not None:
            # It becomes this, whatever it is now.
            statement = build.statement
        if _same(parsed, _parsed(statement)) or one_line(text) == one_line(statement):
            members, note = self._settings(wanted, server, build)
            if not members:
                return Change(SQL, key, Action.KEEP, note=note, key=key)
            return Change(SQL, key, Action.CHANGE, members, note=note, work=self._work(wanted, server), key=key)
        lines = difflib.unified_diff(_bare_text(statement), _bare_text(text), lineterm="", n=1)
        shown = tuple([line for line in lines if not line.startswith(("---", "+++", "@@"))])
        note = "" if build is None else build.given_up
        return Change(SQL, key, Action.CHANGE, lines=shown, note=note, work=self._work(wanted, server), key=key)

    def _settings(self, wanted: Wanted, server: _Server, build: _Build | None) -> tuple[tuple[Member, ...], str]:
        """What SET says otherwise than when the query of a stream or table was made, and what is to be said of that query."""
        if not isinstance(wanted.parsed, CreateAsSelect):
            return (), ""
        query = server.query_of(wanted.parsed) if build is None else build.id
        if query is None:
            return (), "its query does not run; it was ended from outside"
        (explained,) = self._client.execute(f"EXPLAIN {query};")
        found = explained["queryDescription"].get("overriddenProperties") or {}
        old = {name.removeprefix(_STREAMS): str(value) for name, value in found.items()}
        new = {name.removeprefix(_STREAMS): value for name, value in wanted.settings.items()}
        names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        members = tuple([Member(name, old.get(name), new.get(name)) for name in names])
        if build is None:
            return members, ""
        return members, build.given_up if members else build.note(server.queries)

    def _type_change(self, wanted: Wanted, parsed: CreateType, server: _Server) -> Change:
        from streams_sql.http.schema_shapes import type_shape
        from streams_sql.sql_types import SqlType

        if parsed.name not in server.types:
            return self._made(wanted, server)
        try:
            is_same = not isinstance(parsed.type, SqlType) or type_shape(parsed.type) == server.types[parsed.name]
        except (TypeError, ValueError, AttributeError):
            # It is made of user-defined types, whose meaning only the server knows.
            is_same = True
        if is_same:
            return Change(SQL, wanted.key, Action.KEEP, key=wanted.key)
        reason = f"{parsed.name} is another type, and types cannot be replaced: DROP TYPE first"
        return refused(SQL, wanted.key, f"{wanted.statement.place.prefix()}{reason}")

    def _made(self, wanted: Wanted, server: _Server) -> Change:
        lines = tuple([f"+{line}" for line in wanted.statement.text.splitlines()])
        return Change(SQL, wanted.name, Action.CREATE, lines=lines, work=self._work(wanted, server), key=wanted.key)

    def _work(self, wanted: Wanted, server: _Server) -> Callable[[], str]:
        def work() -> str:
            with _explained(wanted):
                answers = self._client.execute("\n".join([*wanted.before, _text(wanted, server)]))
            # A query that goes on with what the former one knew has its id.
            made = (answers[-1].get("commandStatus") or {}).get("queryId") if answers else None
            former = server.former(wanted.source)
            return "" if None in (made, former) or made == former else f"is being built as {_served(made, former)}"

        return work

    def _removal(self, key: str, server: _Server) -> Change | None:
        kind, _, name = key.partition(" ")
        statement, note = "", ""
        if kind == "QUERY":
            wanted = _parsed(name)
            query = None if wanted is None else server.query_of(wanted)
            statement = "" if query is None else f"TERMINATE {query};"
        elif kind == "TYPE" and name in server.types:
            statement = f"DROP TYPE {_quoted(name)};"
        elif server.sources.get(name, ("", ""))[0] == kind:
            statement, note = f"DROP {kind} {_quoted(name)};", "its topic stays"
        if not statement:
            return None

        def work() -> None:
            with _explained():
                self._client.execute(statement)

        return Change(SQL, key, Action.DELETE, note=note, work=work, key=key)


@dataclass(frozen=True, slots=True)
class _Build:
    """A query that is built in the place of another one (`rebuilds`), which fills its stream or table until then."""

    id: str
    statement: str
    rebuilds: str
    state: str

    @property
    def given_up(self) -> str:
        return f"{self.id}, which is being built, is given up"

    def note(self, queries: Collection[str]) -> str:
        shown = f"{self.id} ({self.state})" if self.state in _STUCK else self.id
        return f"is being built as {_served(shown, self.rebuilds) if self.rebuilds in queries else shown}"


def _served(build: str | None, former: str | None) -> str:
    return f"{build}; {former} serves until that has caught up"


@dataclass(frozen=True, slots=True)
class _Server:
    """What a server has: streams and tables with their kinds and statements, types, and queries by their ids; those that are being built
    in the place of others by the names of what they are for."""

    sources: dict[str, tuple[str, str]] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)
    queries: dict[str, str] = field(default_factory=dict)
    builds: dict[str, _Build] = field(default_factory=dict)

    @classmethod
    def read(cls, client: Client, names: Collection[str] = ()) -> _Server:
        """With the statements of those that are named."""
        own = cls()
        streams, tables, types, queries = client.execute("SHOW STREAMS; SHOW TABLES; SHOW TYPES; SHOW QUERIES;")
        for kind, listed in (("STREAM", streams["streams"]), ("TABLE", tables["tables"])):
            for each in listed:
                own.sources[each["name"]] = (
                    kind,
                    cls._statement(client, each["name"]) if each["name"] in names else "",
                )
        own.types.update(types["types"])
        for each in queries["queries"]:
            former = each.get("rebuilds")
            if former is None:
                own.queries[each["id"]] = each["queryString"]
            else:
                build = _Build(each["id"], each["queryString"], former, str(each.get("state")))
                own.builds.update(dict.fromkeys(each["sinks"], build))
        return own

    def query_of(self, statement: Statement) -> str | None:
        """The id of the query that a statement makes, if it runs."""
        return next((id_ for id_, text in self.queries.items() if _same(statement, _parsed(text))), None)

    def former(self, source: str) -> str | None:
        """The id of the query that fills a stream or table, if one does."""
        made = _parsed(self.sources.get(source, ("", ""))[1])
        return self.query_of(made) if isinstance(made, CreateAsSelect) else None

    @staticmethod
    def _statement(client: Client, name: str) -> str:
        (described,) = client.execute(f"DESCRIBE {_quoted(name)};")
        return described["sourceDescription"].get("statement") or ""


def _behind(objection: _Objection, rest: Sequence[Wanted]) -> Iterator[tuple[Wanted, str]]:
    """Of the statements behind one that is refused, those that cannot be judged without it, and why."""
    assert objection.wanted is not None
    gone = [objection.wanted]
    for each in rest:
        needed = next((other for other in gone if each.needs(other)), None)
        if needed is not None:
            gone.append(each)
            yield each, f"not checked: it needs {needed.name}, which is not possible"
        elif objection.is_of_setting:
            yield each, f"not checked: what SET says before {objection.wanted.name} is not possible"


def _text(wanted: Wanted, server: _Server) -> str:
    """The statement as it is sent: one that makes what is there in another way replaces it."""
    text, parsed = wanted.text, wanted.parsed
    if not isinstance(parsed, CreateSource | CreateAsSelect) or parsed.name not in server.sources:
        return text
    found = _CREATE.match(text)
    if found is None:
        return text
    return f"CREATE OR REPLACE {'SOURCE ' if found['source'] else ''}{found['kind']} {text[found.end() :]}"


def _bare_text(text: str) -> list[str]:
    """Lines for a difference, without the words that say how it came there."""
    return _CREATE.sub(lambda found: f"CREATE {found['source'] or ''}{found['kind'].upper()} ", text, 1).splitlines()


def _parsed(text: str) -> Statement | None:
    try:
        return parse_statement(text)
    except SqlProblem:
        return None


def _same(wanted: Statement, found: Statement | None) -> bool:
    """Whether both make the same. Columns and properties that a server has found out itself are its own."""
    if isinstance(wanted, CreateSource) and isinstance(found, CreateSource) and not wanted.columns:
        inferred = {name: found.properties[name] for name in wanted.properties if name in found.properties}
        found = replace(found, columns=(), properties=inferred)
    return _bare(wanted) == (None if found is None else _bare(found))


def _bare(statement: Statement) -> Statement:
    if isinstance(statement, CreateSource | CreateAsSelect):
        return replace(statement, or_replace=False, if_not_exists=False)
    return statement


def _topic(made: CreateSource | CreateAsSelect) -> str:
    given = made.properties.get(_TOPIC_PROPERTY)
    return made.name if given is None else str(given.value)


def _topics_read(wanted: Sequence[Wanted]) -> dict[str, Wanted]:
    """Topics that must be there, by the first statement that reads each; statements before it may make them. A server looks for them when it
    carries a statement out, and not before."""
    needed: dict[str, Wanted] = {}
    made: set[str] = set()
    for each in wanted:
        parsed = each.parsed
        if isinstance(parsed, CreateAsSelect) or (
            isinstance(parsed, CreateSource) and _PARTITIONS in parsed.properties
        ):
            made.add(_topic(parsed))
        elif isinstance(parsed, CreateSource) and _topic(parsed) not in made:
            needed.setdefault(_topic(parsed), each)
    return needed


def _quoted(name: str) -> str:
    return name if is_plain(name) else quoted(name)


@contextmanager
def _explained(wanted: Wanted | None = None) -> Iterator[None]:
    place = "" if wanted is None else wanted.statement.place.prefix()
    try:
        yield
    except Refused as problem:
        raise CommandError(f"{place}{problem.reason if wanted else problem}") from None
    except ServerUnreachable as problem:
        raise CommandError(str(problem), START_HINT.replace("--server", "--sql"), EXIT_UNREACHABLE) from None
