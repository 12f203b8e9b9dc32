"""A session with a SQL server: what SET and DEFINE say holds until it ends."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.cli.output import ARROW, TABLE, printable
from barnabas.cli.service_address import restart_hint
from barnabas.cli.sql.entities import Part, is_new_query, table_of, write_entity
from barnabas.cli.sql.rows import RowWriter
from barnabas.cli.sql.script import PlacedStatement, Position, UnreadableScript, placed, problem_text
from streams_sql.clients.blocking import Client
from streams_sql.clients.failures import Refused, ServerUnreachable
from streams_sql.language.scripts import check_depth, script_name
from streams_sql.problem import SqlProblem

EXIT_REFUSED: Final = 1
UNAVAILABLE: Final = 503
"""The status of a server that starts, or that cannot reach Kafka."""
CODES_PER_STATUS: Final = 100
START_HINT: Final = "Start one with `barnabas up`, or name another with --server URL (or KSQL_URL)."

_LIVE: Final = re.compile(r"\bEMIT\s+(?:CHANGES|FINAL)\b", re.IGNORECASE)


class SqlSession:
    """Statements are run one after the other; CommandError for the first that fails. Someone who types them sees a note of what leaves no
    trace otherwise, and how long queries took."""

    def __init__(self, client: Client, form: str, out: TextIO, *, is_interactive: bool = False) -> None:
        self.client = client
        self._form = form
        self._out = out
        self._is_interactive = is_interactive
        self._depth = 0
        self._has_streamed = False
        self._table: Part | None = None
        """The last result that is a table, for a stream of Arrow."""
        self._folder = Path()
        """That of the script that runs."""
        self._works: Mapping[str, Callable[[str], None]] = {
            "SELECT": self._select,
            "WITH": self._select,
            "PRINT": self._print,
            "SET": self._change_session,
            "UNSET": self._change_session,
            "DEFINE": self._change_session,
            "UNDEFINE": self._change_session,
            "RUN": self._run_file,
        }

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """As SET does, all of them or none."""
        if properties:
            with _explained(PlacedStatement("", Position("", 1, 1, 1)), self.client.url, is_alone=True):
                self.client.execute("".join([_set_statement(name, value) for name, value in properties.items()]))
            self.client.properties.update(properties)

    def run_script(self, lines: Iterable[str], name: str = "") -> None:
        """The statements of a text, each as soon as it is whole. `name` is that of a file."""
        statements = placed(lines, name)
        try:
            for statement in statements:
                self._run(statement, is_alone=self._is_interactive and not name)
        except UnreadableScript as problem:
            raise CommandError(str(problem)) from None

    def run_file(self, name: str) -> None:
        """A name without a folder is looked for beside the script that runs it, then here."""
        beside = self._folder / name
        path = beside if beside.exists() else Path(name)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SqlProblem(f"cannot read {name!r}: {getattr(error, 'strerror', None) or error}") from None
        outer, self._folder = self._folder, path.parent
        try:
            self.run_script(text.splitlines(keepends=True), str(path))
        finally:
            self._folder = outer

    def end(self) -> None:
        """A stream of Arrow's has the rows of a SELECT; where there was none, the last table."""
        if self._table is not None and not self._has_streamed:
            # It takes a moment to load, which other forms need not wait for.
            from barnabas.cli.sql.arrow import write_table

            write_table(self._out.buffer, [column.name for column in self._table.columns], self._table.rows)
            self._out.flush()

    def _run(self, statement: PlacedStatement, *, is_alone: bool) -> None:
        word = statement.text.split(None, 1)[0].rstrip(";").upper()
        with _explained(statement, self.client.url, is_alone=is_alone):
            self._works.get(word, self._execute)(statement.text)
        self._out.flush()

    def _execute(self, statement: str) -> None:
        try:
            entities = self.client.execute(statement)
        except KeyboardInterrupt:
            self._notify("\nCtrl-C: the answer is not waited for any more, but the server may carry the statement out.")
            raise
        if self._form == ARROW:
            self._table = next(filter(None, map(table_of, reversed(entities))), self._table)
            return
        for entity in entities:
            write_entity(self._out, self._form, entity)
            if is_new_query(entity):
                self._notify("It begins when Spark has started it, in some seconds; SHOW QUERIES; shows its state.")
        if not entities and self._form == TABLE:
            self._out.write("done\n")

    def _select(self, statement: str) -> None:
        if self._form == ARROW:
            self._write_arrow(statement)
            return
        is_live = _LIVE.search(statement) is not None
        writer = RowWriter(self._out, self._form, is_live=is_live)
        begun_s = time.monotonic()
        try:
            with self.client.stream(statement) as rows:
                writer.write(rows)
        except KeyboardInterrupt:
            self._notify(f"\nended by Ctrl-C, {_rows_text(writer.count)}")
            raise
        self._notify(f"{_rows_text(writer.count)}, {time.monotonic() - begun_s:.2f} s")

    def _write_arrow(self, statement: str) -> None:
        """A stream has one schema: there can be no second one behind it."""
        if self._has_streamed:
            raise SqlProblem("Rows of one SELECT can be a stream of Arrow's, and one has been written already.")
        self._has_streamed = True
        for piece in self.client.arrow_stream(statement):
            self._out.buffer.write(piece)

    def _print(self, statement: str) -> None:
        try:
            with self.client.print_lines(statement) as lines:
                for line in lines:
                    self._out.write(printable(line.decode("utf-8", "replace")) + "\n")
                    self._out.flush()
        except KeyboardInterrupt:
            self._notify("\nended by Ctrl-C")
            raise

    def _run_file(self, statement: str) -> None:
        """RUN SCRIPT 'file';"""
        name = script_name(statement)
        check_depth(self._depth)
        self._depth += 1
        try:
            self.run_file(name)
        finally:
            self._depth -= 1

    def _change_session(self, statement: str) -> None:
        """Kept here, and sent along with each request."""
        # The language takes a moment to load, which other statements need not wait for.
        from streams_sql.language.parsing import parse_statement
        from streams_sql.language.statements import DefineVariable, SetProperty, UndefineVariable, UnsetProperty
        from streams_sql.language.variables import substitute

        client = self.client
        parsed = parse_statement(substitute(statement, client.variables))
        match parsed:
            case SetProperty(name, value):
                # The server knows what may be set, and to what.
                client.execute(statement)
                client.properties[name] = value
                self._notify(f"{name} is {value} for this session")
            case UnsetProperty(name):
                _take(client.properties, name, "property", "SET")
                self._notify(f"{name} is what the server has")
            case DefineVariable(name, value):
                client.variables[name] = value
                self._notify(f"${{{name}}} stands for {value}")
            case UndefineVariable(name):
                _take(client.variables, name, "variable", "DEFINE")
                self._notify(f"${{{name}}} stands for nothing")

    def _notify(self, text: str) -> None:
        """A note for someone who types; programs and scripts get none."""
        if self._is_interactive and self._form == TABLE and not self._depth:
            self._out.write(f"{text}\n")


def _set_statement(name: str, value: str) -> str:
    quote, doubled = "'", "''"
    return f"SET '{name.replace(quote, doubled)}' = '{value.replace(quote, doubled)}';\n"


def _rows_text(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _take(kept: dict[str, str], name: str, what: str, word: str) -> None:
    if kept.pop(name, None) is None:
        hint = f"Set: {', '.join(kept)}." if kept else f"{word} sets one."
        raise SqlProblem(f"The {what} {name} is not set. {hint}")


@contextmanager
def _explained(statement: PlacedStatement, url: str, *, is_alone: bool) -> Iterator[None]:
    """What the server says is the command's own error, with the place of the statement in its script."""
    place = None if is_alone else statement.place
    try:
        yield
    except Refused as refused:
        is_away = refused.code // CODES_PER_STATUS == UNAVAILABLE
        raise CommandError(_refusal(refused, place), status=EXIT_UNREACHABLE if is_away else EXIT_REFUSED) from None
    except SqlProblem as problem:
        raise CommandError(problem_text(statement.text, problem, place)) from None
    except ServerUnreachable as problem:
        raise CommandError(str(problem), restart_hint(url) or START_HINT, EXIT_UNREACHABLE) from None


def _refusal(refused: Refused, place: Position | None) -> str:
    if place is None:
        return str(refused)
    without_place = str(refused).removeprefix(f"line {refused.line}:{refused.column}: ")
    return f"{place.prefix(refused.line, refused.column)}{without_place}"
