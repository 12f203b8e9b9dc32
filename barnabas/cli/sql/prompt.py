"""The SQL prompt: statements over several lines, with history and completion."""

from __future__ import annotations

import readline
import sys
from typing import Final

from barnabas.cli.command_error import CommandError
from barnabas.cli.sql.completion import DELIMITERS, Completer
from barnabas.cli.sql.history import History, history_file
from barnabas.cli.sql.script import is_whole
from barnabas.cli.sql.session import SqlSession
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.sql import Client, Refused, ServerUnreachable
from streams_sql.language.splitting import split_statements
from streams_sql.problem import SqlProblem

COMPLETION_TIMEOUT_S: Final = 2.0
"""Who presses Tab does not wait longer for a server."""
PROMPT: Final = "sql> "
PROMPT_WITHIN: Final = "...> "
HELP: Final = """\
Statements end with a semicolon and may go over several lines. Tab completes words, names and columns.
  SHOW STREAMS; SHOW TABLES; SHOW TOPICS; SHOW QUERIES; SHOW FUNCTIONS;   what there is
  DESCRIBE name [EXTENDED];   DESCRIBE FUNCTION name;                     what something is
  PRINT 'topic' FROM BEGINNING LIMIT 10;                                  records as they are
  CREATE STREAM name (id STRING KEY, price DOUBLE) WITH (KAFKA_TOPIC='topic', VALUE_FORMAT='JSON');
  SELECT … FROM name EMIT CHANGES;                                        rows as they come; Ctrl-C ends the query
  SELECT … FROM table WHERE key = …;                                      rows as they are now
  SET 'auto.offset.reset' = 'earliest';   DEFINE name = 'value';          for this session; ${name} is the value
  RUN SCRIPT 'file.sql';                                                  the statements of a file
  clear; exit (or Ctrl-D)
"""
_CLEAR_SCREEN: Final = "\x1b[H\x1b[2J"
_LEAVING: Final = ("exit", "quit", r"\q")


def run(session: SqlSession) -> int:
    print(_greeting(session))
    history = _prepare_history()
    with Client(session.client.url, timeout_s=COMPLETION_TIMEOUT_S) as asking:
        completer = Completer(asking, readline.get_line_buffer)
        _prepare_completion(completer)
        while (statement := _read(completer)) is not None:
            if history.add(statement):
                readline.add_history(statement)
            _run(session, statement)
            completer.forget()
    return 0


def _greeting(session: SqlSession) -> str:
    """An old or absent server is reported at once, and no reason to leave: it may come."""
    try:
        info = session.client.info()
    except (Refused, ServerUnreachable) as problem:
        return f"{problem}\nStatements are sent there all the same. `help` shows some, `exit` leaves."
    return f"SQL server {info['version']} at {session.client.url}, {info['serverStatus']}. `help` shows some statements, `exit` leaves."


def _read(completer: Completer) -> str | None:
    """The next whole text with a semicolon at its end; None when the user leaves."""
    lines: list[str] = []
    while True:
        completer.statement = "\n".join(lines)
        try:
            line = input(PROMPT_WITHIN if lines else PROMPT)
        except KeyboardInterrupt:
            print("^C")
            lines = []
            continue
        except EOFError:
            print()
            return None
        except UnicodeDecodeError:
            _complain("What was typed is no text in UTF-8.")
            continue
        if not lines:
            word = line.strip().rstrip(";").lower()
            if word in _LEAVING:
                return None
            if word in _COMMANDS:
                print(_COMMANDS[word], end="", flush=True)
                continue
        lines.append(line)
        text = "\n".join(lines)
        if is_whole(text):
            return text.strip()
        if _is_nothing(text):
            lines = []


def _is_nothing(text: str) -> bool:
    """Blanks and comments."""
    try:
        return not split_statements(text)
    except SqlProblem:
        return False


def _run(session: SqlSession, text: str) -> None:
    try:
        session.run_script(text.splitlines(keepends=True))
    except CommandError as error:
        _complain(str(error))
    except KeyboardInterrupt:
        # The session has said what became of the statement. Those behind it are not run.
        return


def _complain(text: str) -> None:
    for line in text.split("\n"):
        print(styled(line, styles.RED, sys.stdout))


def _prepare_history() -> History:
    """Statements are kept whole, where readline would keep their lines."""
    history = History(history_file())
    readline.set_auto_history(False)
    readline.clear_history()
    for statement in history.load():
        readline.add_history(statement)
    return history


def _prepare_completion(completer: Completer) -> None:
    readline.set_completer(completer)
    readline.set_completer_delims(DELIMITERS)
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")


_COMMANDS: Final = {"help": HELP, "clear": _CLEAR_SCREEN}
