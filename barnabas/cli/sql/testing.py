"""`barnabas sql test FILE…`: tests of statements, without a server, a broker or Spark."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TextIO

from barnabas.cli.command_error import CommandError
from barnabas.cli.output import ARROW, TABLE, Column, printable, write
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.embedded.lazy_registry import LazyRegistry
from streams_sql.formats.serde import RegistryAccess
from streams_sql.testing.runs import Failure, Ran, run_test
from streams_sql.testing.script import SqlTest, UnreadableFile, read_tests

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
PASSED: Final = "passed"
FAILED: Final = "failed"
_INDENT: Final = "    "
_COLUMNS: Final = tuple(Column(name) for name in ("file", "line", "name", "status", "message", "took_ms"))


def run(arguments: Namespace, names: Sequence[str]) -> int:
    if not names:
        raise CommandError("which files?", "barnabas sql test FILE…", EXIT_USAGE)
    if arguments.output == ARROW:
        raise CommandError("results of tests are no rows of Arrow's", "Choose another --output.", EXIT_USAGE)
    paths = [path for name in names for path in _files(Path(name))]
    begun_s = time.monotonic()
    with LazyRegistry(arguments.schema_registry_url) as registry:
        if arguments.output == TABLE:
            results = _written(_results(paths, registry), sys.stdout)
        else:
            results = list(_results(paths, registry))
            write(sys.stdout, arguments.output, _COLUMNS, map(_row, results))
    failed = sum(1 for result in results if result.failure is not None)
    if arguments.output == TABLE:
        count = "1 test" if len(results) == 1 else f"{len(results)} tests"
        print(f"{count}, {failed} failed, {time.monotonic() - begun_s:.2f} s")
    return EXIT_FAILED if failed else 0


def _files(path: Path) -> list[Path]:
    """A folder stands for the files in it that have tests."""
    if not path.is_dir():
        return [path]
    found = [file for file in sorted(path.rglob("*.sql")) if _has_tests(file)]
    if not found:
        raise CommandError(
            f"no file below {path} has tests", "Each begins with a comment `--@test: its name`.", EXIT_USAGE
        )
    return found


def _has_tests(path: Path) -> bool:
    try:
        return bool(read_tests(path))
    except UnreadableFile as problem:
        return problem.line is not None


def _results(paths: Sequence[Path], registry: LazyRegistry) -> Iterator[Ran]:
    """Of each test as it ends. A file that cannot be read is a test that fails."""
    for path in paths:
        try:
            tests = read_tests(path)
        except UnreadableFile as problem:
            line = problem.line or 1
            yield Ran(SqlTest(path.name, path, line, (), ()), Failure(path, line, str(problem)), 0.0)
            continue
        for test in tests:
            yield run_test(test, lambda: _access(registry))


def _access(registry: LazyRegistry) -> RegistryAccess:
    from barnabas.embedded.platform import MissingPackages

    try:
        return RegistryAccess(registry.url)
    except MissingPackages as missing:
        raise CommandError(str(missing), "Or name a Schema Registry with --schema-registry-url.") from None


def _written(results: Iterator[Ran], out: TextIO) -> list[Ran]:
    """Each in a line, with what went wrong below it."""
    found = []
    for result in results:
        found.append(result)
        word, style = ("ok", styles.GREEN) if result.failure is None else ("FAILED", styles.RED)
        test = result.test
        out.write(f"{styled(word, style, out)} {test.path}:{test.line}: {printable(test.name)}\n")
        if result.failure is not None:
            lines = str(result.failure).split("\n")
            out.write("".join(f"{_INDENT}{printable(line)}\n" for line in lines))
        out.flush()
    return found


def _row(result: Ran) -> tuple[object, ...]:
    test, failure = result.test, result.failure
    status, message = (PASSED, None) if failure is None else (FAILED, str(failure))
    return str(test.path), test.line, test.name, status, message, round(result.took_s * 1000)
