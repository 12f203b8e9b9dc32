"""The file system calls that the log makes, in one place, so that a test can put a failing disk underneath."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

Bytes: TypeAlias = bytes | bytearray | memoryview
FilePath: TypeAlias = str | Path  # a string where speed counts: a Path takes several times as long to make

_FILE_MODE = 0o644
_TEMPORARY_SUFFIX = ".tmp"
_syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
_READ_NOW: int | None = getattr(os, "RWF_NOWAIT", None)


class Disk:
    """A thin layer over `os`. Files are plain descriptors; every call is blocking and raises OSError."""

    # -- files by descriptor ------------------------------------------------------------------------------------------

    def create(self, path: FilePath) -> int:
        """Open a new, empty file for reading and writing; an old one of that name loses its content."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _FILE_MODE)

    def open(self, path: FilePath) -> int:
        """Open for reading and writing; the file is created when it is not there."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE)

    def open_existing(self, path: FilePath) -> int:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def open_directory(self, path: FilePath) -> int:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        """Write all of `data` at `position`, or raise; a short write is continued until the kernel says why."""
        size = len(data)
        written = os.pwrite(descriptor, data, position)
        while written < size:
            step = os.pwrite(descriptor, memoryview(data)[written:], position + written)
            if step == 0:
                raise OSError(errno.EIO, f"the disk took {written} of {size} bytes and gave no reason")
            written += step

    def pread(self, descriptor: int, size: int, position: int) -> bytes:
        """Read up to `size` bytes at `position`; fewer come back only at the end of the file."""
        return os.pread(descriptor, size, position)

    def is_cached(self, descriptor: int, position: int) -> bool:
        """Whether the byte at `position` can be read without waiting for the disk; True where the system cannot tell."""
        if _READ_NOW is None:
            return True
        try:
            os.preadv(descriptor, [bytearray(1)], position, _READ_NOW)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system without this
                return True
            raise
        return True

    def pread_into(self, descriptor: int, buffer: memoryview, position: int) -> int:
        """Fill `buffer` from `position` on and say how many bytes there were."""
        filled = os.preadv(descriptor, [buffer], position)
        while 0 < filled < len(buffer):
            step = os.preadv(descriptor, [buffer[filled:]], position + filled)
            if step == 0:
                break
            filled += step
        return filled

    def send(self, descriptor: int, position: int, size: int, socket: int) -> int:
        """Have the kernel move bytes of a file to a socket, and say how many it took: 0 when the socket is full."""
        try:
            return os.sendfile(socket, descriptor, position, size)
        except BlockingIOError:
            return 0

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def size(self, descriptor: int) -> int:
        return os.fstat(descriptor).st_size

    # -- durability ---------------------------------------------------------------------------------------------------

    def fdatasync(self, descriptor: int) -> None:
        """Make a file's bytes and size durable, or, given a directory, the names in it."""
        os.fdatasync(descriptor)

    def sync_directory(self, path: FilePath) -> None:
        descriptor = self.open_directory(path)
        try:
            self.fdatasync(descriptor)
        finally:
            self.close(descriptor)

    def sync_filesystem(self, descriptor: int) -> None:
        """Make everything durable that was written to the file system of an open file or directory."""
        if _syncfs is None:
            os.sync()
        elif _syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"syncfs: {os.strerror(number)}")

    # -- files by name ------------------------------------------------------------------------------------------------

    def read_file(self, path: FilePath) -> bytes:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def write_file(self, path: FilePath, data: Bytes) -> None:
        """Create or replace a file's content, without making it durable."""
        descriptor = self.create(path)
        try:
            self.pwrite(descriptor, data, 0)
        finally:
            self.close(descriptor)

    def replace_file(self, path: FilePath, data: Bytes, *, durable: bool = True) -> None:
        """Replace a file in one step: after a crash it holds either the old or the new content."""
        temporary = f"{path}{_TEMPORARY_SUFFIX}"
        descriptor = self.create(temporary)
        try:
            self.pwrite(descriptor, data, 0)
            if durable:
                self.fdatasync(descriptor)
        finally:
            self.close(descriptor)
        self.rename(temporary, path)
        if durable:
            self.sync_directory(os.path.dirname(path))

    def rename(self, source: FilePath, target: FilePath) -> None:
        os.replace(source, target)

    def unlink(self, path: FilePath) -> None:
        """Remove a file; one that is gone already is no error."""
        with suppress(FileNotFoundError):
            os.unlink(path)

    def exists(self, path: FilePath) -> bool:
        return os.path.exists(path)

    def file_size(self, path: FilePath) -> int:
        return os.stat(path).st_size

    def modified_ms(self, path: FilePath) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified(self, path: FilePath, modified_ms: int) -> None:
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def free_bytes(self, path: FilePath) -> int:
        """What may still be written to the file system of a file or directory, without what is reserved for root."""
        found = os.statvfs(path)
        return found.f_bavail * found.f_frsize

    # -- directories --------------------------------------------------------------------------------------------------

    def make_directory(self, path: FilePath) -> None:
        os.makedirs(path, exist_ok=True)

    def remove_directory(self, path: FilePath) -> None:
        """Remove a directory and all that is in it; one that is gone already is no error."""
        with suppress(FileNotFoundError):
            shutil.rmtree(path)

    def file_names(self, path: FilePath) -> list[str]:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]

    def directory_names(self, path: FilePath) -> list[str]:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))

    def lock(self, path: FilePath) -> int:
        """Open a file and lock it against every other process; BlockingIOError when another holds it."""
        descriptor = self.open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close(descriptor)
            raise
        return descriptor
