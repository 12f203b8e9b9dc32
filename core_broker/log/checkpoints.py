"""Kafka's checkpoint files: a version, a count, and one line of text for each entry."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from core_broker.log.disk import Disk

_VERSION: Final = 0

_logger = logging.getLogger(__name__)


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def format_checkpoint(lines: Iterable[str]) -> bytes:
    entries = list(lines)
    return "".join(f"{line}\n" for line in (str(_VERSION), str(len(entries)), *entries)).encode()


def parse_checkpoint(data: bytes) -> list[list[str]]:
    """The words of each entry; ValueError when the file is cut off or of another version. An empty file has none."""
    lines = data.decode().splitlines()
    if len(lines) < 2:
        if lines and int(lines[0]) != _VERSION:
            raise ValueError(f"checkpoint version {lines[0]} is not known, only {_VERSION}")
        return []
    if int(lines[0]) != _VERSION:
        raise ValueError(f"checkpoint version {lines[0]} is not known, only {_VERSION}")
    entries = [line.split(" ") for line in lines[2:]]
    if len(entries) != int(lines[1]):
        raise ValueError(f"the checkpoint announces {lines[1]} entries and has {len(entries)}")
    return entries


class OffsetCheckpoint:
    """A file that holds one offset for each partition of a log directory."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._stored: dict[TopicPartition, int] = {}
        self._coming: Mapping[TopicPartition, int] = {}

    def read(self) -> dict[TopicPartition, int]:
        """What the file says; nothing when it is missing or damaged, since the logs themselves know the rest."""
        try:
            entries = parse_checkpoint(self._disk.read_file(self._path))
            self._stored = {TopicPartition(topic, int(partition)): int(offset) for topic, partition, offset in entries}
            return dict(self._stored)
        except FileNotFoundError:
            return {}
        except ValueError as error:
            _logger.warning("%s is damaged (%s): going on without it, so recovery may take longer", self._path, error)
            return {}

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the file durably, in one step."""
        self._coming = offsets
        lines = (f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items())
        self._disk.replace_file(self._path, format_checkpoint(lines))
        self._stored = dict(offsets)

    def mentions(self, partition: TopicPartition) -> bool:
        """Whether the file has an entry, or may have one when what another thread writes at this moment is done."""
        return partition in self._stored or partition in self._coming

    def forget(self, partition: TopicPartition) -> None:
        """Take one entry out of the file, durably."""
        if partition in self._stored:
            self.write({entry: offset for entry, offset in self._stored.items() if entry != partition})
