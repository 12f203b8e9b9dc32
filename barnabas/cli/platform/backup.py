"""`barnabas backup`: a copy of the data directory."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from barnabas.backup.backup_error import BackupError
from barnabas.backup.taking import take
from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.platform.addresses import data_directory_of
from barnabas.cli.terminal.progress import Progress


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Copy all that was acknowledged before to a new folder, consistent and with checksums."
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the backup goes; new or empty")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--data-dir", metavar="FOLDER", help="folder of the data (barnabas-data, else that of the platform that runs)"
    )
    source.add_argument(
        "--bootstrap-server", "-b", dest="broker", metavar="HOST:PORT", help="the broker of a platform on this machine"
    )
    add_report_form(parser)


def run(arguments: Namespace) -> int:
    folder: Path = arguments.folder
    with explained_errors(folder):
        data = data_directory_of(arguments)
        with Progress(sys.stderr, "bytes copied") as progress:
            total = take(data, folder, progress.advance)
    content = {"data_directory": str(data), "backup": str(folder), "files": total.files, "bytes": total.bytes}
    text = f"{data} is backed up in {folder}: {total.files:,} files, {total.bytes:,} bytes"
    output.report(arguments.output, content, text)
    return 0


@contextmanager
def explained_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except BackupError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: {error.strerror}", "Check space and permissions.") from None
