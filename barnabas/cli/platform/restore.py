"""`barnabas restore`: a data directory from a backup."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from barnabas.backup.restoring import restore
from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.platform.backup import explained_errors
from barnabas.cli.terminal.progress import Progress


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = (
        "Copy a backup to a new data directory, and check it on the way. Then: barnabas up --data-dir NEW."
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the backup is")
    parser.add_argument("--data-dir", required=True, metavar="NEW", help="where the data goes; new or empty")
    add_report_form(parser)


def run(arguments: Namespace) -> int:
    folder: Path = arguments.folder
    data = Path(arguments.data_dir)
    with explained_errors(folder), Progress(sys.stderr, "bytes copied") as progress:
        total = restore(folder, data, progress.advance).total
    content = {"data_directory": str(data), "backup": str(folder), "files": total.files, "bytes": total.bytes}
    lines = [f"{folder} is restored in {data}: {total.files:,} files, {total.bytes:,} bytes"]
    lines.append(f"start it with: barnabas up --data-dir {data}")
    output.report(arguments.output, content, *lines)
    return 0
