"""SQL statements: streams, tables, types and queries that shall be there, compared by what they say."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from barnabas.cli.apply.plan import SQL, Action, Change, Member, refused
from barnabas.cli.command_error import CommandError
from barnabas.cli.sql_script import PlacedStatement, problem_text
from barnabas.cli.sql_session import START_HINT
from streams_sql.client import Client, Refused, ServerUnreachable
from streams_sql.language.formatting import is_plain
from streams_sql.language.outward_statements import CreateConnector
from streams_sql.language.parsing import parse_statement
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import (
    CreateAsSelect,
    CreateSource,
    CreateType,
    InsertSelect,
    SetProperty,
    Statement,
    UnsetProperty,
)
from streams_sql.sql_types import quoted

NOBODY: Final = "BARNABAS_APPLY_LOOKS_WHETHER_ALL_CAN_BE_DONE"
"""A stream that no server has: with a statement that drops it, a request is checked as a whole, and nothing of it is done."""
STATEMENT_SHOWN_CHARACTERS: Final = 60

_GAP: Final = r"(?:\s|--[^\r\n]*|/\*.*?\*/)+"
_CREATE: Final = re.compile(
    rf"CREATE{_GAP}(?:OR{_GAP}REPLACE{_GAP})?(?P<source>SOURCE{_GAP})?(?P<kind>STREAM|TABLE){_GAP}(?:IF{_GAP}NOT{_GAP}EXISTS{_GAP})?",
    re.IGNORECASE | re.DOTALL,
)
_TOPIC_PROPERTY: Final = "KAFKA_TOPIC"
_STREAMS: Final = "ksql.streams."
"""What ksqlDB may write before the names of properties."""
_PARTITIONS: Final = "PARTITIONS"

Made = CreateSource | CreateAsSelect | CreateType | InsertSelect


@dataclass(frozen=True, slots=True)
class Wanted:
    """A statement that makes something; `before` are the SET and UNSET that stand before it, and `settings` is what they come to."""

    statement: PlacedStatement
    parsed: Made
    before: tuple[str, ...]
    settings: Mapping[str, str]

    @property
    def key(self) -> str:
        match self.parsed:
            case CreateSource(kind, name) | CreateAsSelect(kind, name):
                return f"{kind.value} {name}"
            case CreateType(name):
                return f"TYPE {name}"
        return f"QUERY {_one_line(self.statement.text)}"

    @property
    def source(self) -> str:
        """The stream or table that it makes; nothing where it makes something else."""
        return self.parsed.name if isinstance(self.parsed, CreateSource | CreateAsSelect) else ""

    @property
    def name(self) -> str:
        match self.parsed:
            case InsertSelect(target):
                shown = _one_line(self.statement.text)
                return shown if len(shown) <= STATEMENT_SHOWN_CHARACTERS else f"INSERT INTO {target} {_digest(shown)}"
        return self.key


@dataclass(frozen=True, slots=True)
class Expected:
    """What is there when the statements run. `coming` are topics that are made, or get a schema, before them; with `has_sources`, new
    source connectors may make any. `existing` are those of some topics that are there now."""

    existing: Callable[[Sequence[str]], Collection[str]]
    coming: Collection[str] = ()
    has_sources: bool = False

    def may_come(self, topic: str) -> bool:
        return self.has_sources or topic in self.coming


class SqlStatements:
    """The streams, tables, types and queries of a SQL server, ours or ksqlDB's."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def plan(self, statements: Sequence[PlacedStatement], expected: Expected) -> list[Change]:
        wanted = read(statements)
        with _explained():
            server = _Server.read(self._client, {each.source for each in wanted}) if wanted else _Server()
            changes = {each.key: self._change(each, server) for each in wanted}
            pending = [each for each in wanted if changes[each.key].work is not None]
            problem = self.objection(pending, server) if pending else None
        topics = _topics_read(pending)
        missing = topics.keys() - expected.existing(sorted(topics))
        absent = {
            topics[topic].key: f"there is no topic {topic!r}" for topic in missing if not expected.may_come(topic)
        }
        early = {topics[topic].key for topic in missing if expected.may_come(topic)}
        if problem is not None:
            place, reason = problem
            if place is None:
                raise CommandError(reason)
            if isinstance(place.parsed, CreateSource) and expected.may_come(_topic(place.parsed)):
                early.add(place.key)
            else:
                absent.setdefault(place.key, reason)
        for each in wanted:
            if each.key in absent:
                changes[each.key] = refused(SQL, each.name, f"{each.statement.place.told()}{absent[each.key]}")
            elif each.key in early:
                changes[each.key] = replace(changes[each.key], note="checked once what it reads is there")
        return list(changes.values())

    def removals(self, keys: Sequence[str]) -> list[Change]:
        """The last made goes first, since others are made from those before."""
        if not keys:
            return []
        with _explained():
            server = _Server.read(self._client)
        found = [self._removal(key, server) for key in reversed(keys)]
        return [change for change in found if change is not None]

    def objection(self, wanted: Sequence[Wanted], server: _Server) -> tuple[Wanted | None, str] | None:
        """The first statement that the server would not take, and why: all are tried on a copy of what it has, and nothing is done."""
        texts: list[str] = []
        told: list[Wanted | None] = []
        given: tuple[str, ...] = ()
        for each in wanted:
            for setting in each.before[len(given) :]:
                texts.append(setting)
                told.append(each)
            given = each.before
            texts.append(_text(each, server))
            told.append(each)
        try:
            self._client.execute("\n".join([*texts, f"DROP STREAM {NOBODY};"]))
        except Refused as problem:
            if NOBODY in (problem.statement or str(problem)):
                return None
            failed = (problem.statement or "").strip()
            place = next((each for text, each in zip(texts, told, strict=True) if text.strip() == failed), None)
            return place, problem.reason
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
                f"{wanted.statement.place.told()}{parsed.name} is a {kind}: drop it first, or choose another name",
            )
        if _same(parsed, _parsed(statement)) or _one_line(text) == _one_line(statement):
            members, note = self._settings(wanted, server)
            if not members:
                return Change(SQL, key, Action.KEEP, note=note, key=key)
            return Change(SQL, key, Action.CHANGE, members, work=self._work(wanted, server), key=key)
        lines = difflib.unified_diff(_bare_text(statement), _bare_text(text), lineterm="", n=1)
        shown = tuple([line for line in lines if not line.startswith(("---", "+++", "@@"))])
        return Change(SQL, key, Action.CHANGE, lines=shown, work=self._work(wanted, server), key=key)

    def _settings(self, wanted: Wanted, server: _Server) -> tuple[tuple[Member, ...], str]:
        """What SET says otherwise than when the query of a stream or table was made."""
        if not isinstance(wanted.parsed, CreateAsSelect):
            return (), ""
        query = server.query_of(wanted.parsed)
        if query is None:
            return (), "its query does not run; somebody has ended it"
        (told,) = self._client.execute(f"EXPLAIN {query};")
        found = told["queryDescription"].get("overriddenProperties") or {}
        old = {name.removeprefix(_STREAMS): str(value) for name, value in found.items()}
        new = {name.removeprefix(_STREAMS): value for name, value in wanted.settings.items()}
        names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        return tuple([Member(name, old.get(name), new.get(name)) for name in names]), ""

    def _type_change(self, wanted: Wanted, parsed: CreateType, server: _Server) -> Change:
        from streams_sql.http.schema_shapes import type_shape
        from streams_sql.sql_types import SqlType

        if parsed.name not in server.types:
            return self._made(wanted, server)
        try:
            is_same = not isinstance(parsed.type, SqlType) or type_shape(parsed.type) == server.types[parsed.name]
        except (TypeError, ValueError, AttributeError):
            # It is made of other types of somebody's, whose meaning the server alone knows.
            is_same = True
        if is_same:
            return Change(SQL, wanted.key, Action.KEEP, key=wanted.key)
        reason = f"{parsed.name} is another type, and types cannot be replaced: DROP TYPE first"
        return refused(SQL, wanted.key, f"{wanted.statement.place.told()}{reason}")

    def _made(self, wanted: Wanted, server: _Server) -> Change:
        lines = tuple([f"+{line}" for line in wanted.statement.text.splitlines()])
        return Change(SQL, wanted.name, Action.CREATE, lines=lines, work=self._work(wanted, server), key=wanted.key)

    def _work(self, wanted: Wanted, server: _Server) -> Callable[[], None]:
        def work() -> None:
            with _explained(wanted):
                self._client.execute("\n".join([*wanted.before, _text(wanted, server)]))

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
class _Server:
    """What a server has: streams and tables with their kinds and statements, types, and queries by their ids."""

    sources: dict[str, tuple[str, str]]
    types: dict[str, Any]
    queries: dict[str, str]

    def __init__(self) -> None:
        for member in ("sources", "types", "queries"):
            object.__setattr__(self, member, {})

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
        own.queries.update({each["id"]: each["queryString"] for each in queries["queries"]})
        return own

    def query_of(self, statement: Statement) -> str | None:
        """The id of the query that a statement makes, if it runs."""
        return next((id_ for id_, text in self.queries.items() if _same(statement, _parsed(text))), None)

    @staticmethod
    def _statement(client: Client, name: str) -> str:
        (described,) = client.execute(f"DESCRIBE {_quoted(name)};")
        return described["sourceDescription"].get("statement") or ""


def read(statements: Sequence[PlacedStatement]) -> list[Wanted]:
    """Statements that say what shall be there; those that do something each time are none of these."""
    found: list[Wanted] = []
    before: list[str] = []
    settings: dict[str, str] = {}
    keys: dict[str, Wanted] = {}
    for statement in statements:
        try:
            parsed: Statement = parse_statement(statement.text)
        except SqlProblem as problem:
            raise CommandError(problem_text(statement.text, problem, statement.place)) from None
        if isinstance(parsed, SetProperty | UnsetProperty):
            before.append(statement.text if statement.text.endswith(";") else f"{statement.text};")
            if isinstance(parsed, SetProperty):
                settings[parsed.name] = parsed.value
            else:
                settings.pop(parsed.name, None)
            continue
        if not isinstance(parsed, Made):
            hint = (
                "Write it under `connectors`."
                if isinstance(parsed, CreateConnector)
                else (
                    "CREATE STREAM, TABLE and TYPE, INSERT INTO … SELECT, SET and UNSET can be applied; `barnabas sql` runs the others."
                )
            )
            raise CommandError(f"{statement.place.told()}this statement does not say what shall be there", hint)
        one = Wanted(statement, parsed, tuple(before), dict(settings))
        if one.key in keys:
            first = keys[one.key].statement.place
            raise CommandError(
                f"{statement.place.told()}{one.name} stands twice; the first is in {first.script}:{first.line}"
            )
        keys[one.key] = one
        found.append(one)
    return found


def _text(wanted: Wanted, server: _Server) -> str:
    """The statement as it is sent: one that makes what is there in another way replaces it."""
    text = wanted.statement.text if wanted.statement.text.endswith(";") else f"{wanted.statement.text};"
    parsed = wanted.parsed
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


def _one_line(text: str) -> str:
    return " ".join(text.rstrip("; \t\r\n").split())


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _quoted(name: str) -> str:
    return name if is_plain(name) else quoted(name)


@contextmanager
def _explained(wanted: Wanted | None = None) -> Iterator[None]:
    place = "" if wanted is None else wanted.statement.place.told()
    try:
        yield
    except Refused as problem:
        raise CommandError(f"{place}{problem.reason if wanted else problem}") from None
    except ServerUnreachable as problem:
        raise CommandError(str(problem), START_HINT.replace("--server", "--sql")) from None
