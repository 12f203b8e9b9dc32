"""`barnabas backup` and `barnabas restore`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from barnabas.backup.backup_error import BackupError
from barnabas.backup.restoring import restore
from barnabas.backup.taking import take
from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.platform_places import data_directory_of
from barnabas.cli.progress import Progress


def run(arguments: Namespace) -> int:
    folder: Path = arguments.folder
    try:
        if arguments.command == "backup":
            data = data_directory_of(arguments)
            with Progress(sys.stderr, "bytes copied") as progress:
                total = take(data, folder, progress.advance)
            lines = [f"{data} is backed up in {folder}: {total.files:,} files, {total.bytes:,} bytes"]
        else:
            data = Path(arguments.data_dir)
            with Progress(sys.stderr, "bytes copied") as progress:
                total = restore(folder, data, progress.advance).total
            lines = [f"{folder} is restored in {data}: {total.files:,} files, {total.bytes:,} bytes"]
            lines.append(f"start it with: barnabas up --data-dir {data}")
    except BackupError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: {error.strerror}", "Check space and permissions.") from None
    content = {"data_directory": str(data), "backup": str(folder), "files": total.files, "bytes": total.bytes}
    output.report(arguments.output, content, *lines)
    return 0
