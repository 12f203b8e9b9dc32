"""A data directory made of a backup."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from barnabas.backup.backup_error import BackupError
from barnabas.backup.copying import Advance, copy
from barnabas.backup.manifest import CONTENT, Entry, Manifest
from barnabas.kernel.data_directory import FORMAT_VERSION, DataDirectory


def restore(source: Path, target: Path, advance: Advance) -> Manifest:
    """Copy a backup to a new folder. If that fails, what was copied is removed: a part of a backup is no data directory."""
    manifest = Manifest(source)
    if manifest.head.data_version > FORMAT_VERSION:
        raise BackupError(
            f"the backup in {source} is of a data directory of format version {manifest.head.data_version}, and this release knows "
            f"versions up to {FORMAT_VERSION}; restore it with the newer release that took it, {manifest.head.release}"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BackupError(
            f"{target} is not an empty folder, and nothing is overwritten; name a new one with --data-dir"
        )
    is_new = not target.exists()
    target.mkdir(parents=True, exist_ok=True)
    try:
        for entry in manifest.entries():
            _copy(entry, source / CONTENT, target, advance)
        os.sync()
        # The version comes last: without it no service starts on the folder.
        DataDirectory.complete(target, manifest.head.data_version)
    except BaseException:
        for path in [target] if is_new else list(target.iterdir()):
            shutil.rmtree(path, ignore_errors=True)
        raise
    return manifest


def _copy(entry: Entry, source: Path, target: Path, advance: Advance) -> None:
    if not entry.is_inside:
        raise BackupError(f"the backup names the file {entry.path}, which would lie outside of the data directory")
    try:
        size, checksum = copy(source / entry.path, target / entry.path, None, entry.mode, advance)
    except FileNotFoundError:
        raise BackupError(f"{source / entry.path} is missing; nothing was restored, use another backup") from None
    if (size, checksum) != (entry.size, entry.sha256):
        raise BackupError(
            f"{source / entry.path} is damaged: it has {size:,} bytes and another checksum than the {entry.size:,} bytes "
            "that were backed up; nothing was restored, use another backup"
        )
