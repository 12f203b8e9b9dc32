"""The `barnabas` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import command_parser
from barnabas.cli.terminal.styles import styled
from barnabas.kernel import standard_output
from barnabas.kernel.data_directory import DataDirectoryError
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.standard_output import OutputError

EXIT_FAILURE = 1
# As the shells count: a command line or a setting that makes no sense.
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if words is None else list(words)
    standard_output.install()
    try:
        try:
            return _run(given)
        finally:
            standard_output.flush()
    except OutputError as error:
        standard_output.discard()
        if error.reader_gone:
            # As with `barnabas config | head`: the reader has what it wanted. A service without a reader of its log was cut off.
            return EXIT_FAILURE if given[:1] == ["serve"] else 0
        return _fail(error, EXIT_FAILURE)


def _run(words: Sequence[str]) -> int:
    parser = command_parser()
    try:
        arguments = parser.parse_args(words)
        if arguments.command is None:
            parser.print_help()
            return 0
        status: int = arguments.run(arguments)
        return status
    except CommandError as error:
        return _fail(error, error.status)
    except SettingError as error:
        return _fail(error, EXIT_USAGE)
    except DataDirectoryError as error:
        return _fail(error, EXIT_FAILURE)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _fail(error: Exception, status: int) -> int:
    for line in f"barnabas: {error}".split("\n"):
        print(styled(line, None, sys.stderr), file=sys.stderr)
    return status
