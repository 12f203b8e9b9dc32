"""`barnabas backup` and `barnabas restore`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from barnabas.backup.backup_error import BackupError
from barnabas.backup.restoring import restore
from barnabas.backup.taking import take
from barnabas.cli.command_error import CommandError
from barnabas.cli.progress import Progress


def run(arguments: Namespace) -> int:
    folder: Path = arguments.folder
    data = Path(arguments.data_dir or os.environ.get("BARNABAS_DATA_DIR") or "barnabas-data")
    try:
        if arguments.command == "backup":
            with Progress(sys.stderr, "bytes copied") as progress:
                total = take(data, folder, progress.advance)
            print(f"{data} is backed up in {folder}: {total.files:,} files, {total.bytes:,} bytes")
        else:
            with Progress(sys.stderr, "bytes copied") as progress:
                total = restore(folder, data, progress.advance).total
            print(f"{folder} is restored in {data}: {total.files:,} files, {total.bytes:,} bytes")
            print(f"start it with: barnabas up --data-dir {data}")
    except BackupError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: {error.strerror}", "Check space and permissions.") from None
    return 0
