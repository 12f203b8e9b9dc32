"""A file copied piece by piece, with its checksum."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

PIECE_BYTES: Final = 1 << 20

Advance = Callable[[int], None]  # told the bytes of each piece


def copy(source: Path, target: Path, size: int | None, mode: int, advance: Advance) -> tuple[int, str]:
    """Copy a file, or its first `size` bytes; return how many they were and their SHA-256. The target is a new file."""
    digest, left, copied = hashlib.sha256(), size, 0
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with source.open("rb", buffering=0) as reader, os.fdopen(descriptor, "wb", buffering=0) as writer:
        while left is None or left > 0:
            piece = reader.read(PIECE_BYTES if left is None else min(PIECE_BYTES, left))
            if not piece:
                break
            _write(writer.fileno(), piece)
            digest.update(piece)
            copied += len(piece)
            advance(len(piece))
            if left is not None:
                left -= len(piece)
    return copied, digest.hexdigest()


def _write(descriptor: int, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
