"""A log directory: the folders of the partitions, and the files that tell about all of them."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core_broker.log.checkpoints import OffsetCheckpoint, TopicPartition
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.folder import PARTITION_METADATA
from core_broker.log.log_checkpoint import LogCheckpoint
from core_broker.log.meta_properties import FILE_NAME as META_PROPERTIES
from core_broker.log.meta_properties import MetaProperties, decode_uuid, encode_uuid
from core_broker.log.open_files import OpenFiles
from core_broker.log.partition_log import PRODUCER_ID_EXPIRATION_MS, PartitionLog
from core_broker.log.segment import CLOSED, LOG

_LOCK: Final = ".lock"
_CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
_RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
_LOG_START_OFFSETS: Final = "log-start-offset-checkpoint"
_CLEANED_OFFSETS: Final = "cleaner-offset-checkpoint"
_HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
_DELETED: Final = "-delete"
_STRAY: Final = "-stray"
_NAME_BYTES_MAX: Final = 255
_PARTITION: Final = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)")
_UUID_BYTES: Final = 16
_NAMED_MAX: Final = 3  # folders that an error names
_CLEAN_SHUTDOWN_VERSION: Final = 0

_logger = logging.getLogger(__name__)


class LogDirectoryError(Exception):
    """A log directory that this broker must not use as it is."""


@dataclass(frozen=True, slots=True)
class PartitionFolder:
    """A partition's folder that was found; an old or damaged one may not tell its topic's id."""

    partition: TopicPartition
    path: Path
    topic_id: bytes | None


class DirectoryCheckpoint:
    """A checkpoint under way. It begins and ends on the event loop; `write` waits for the disk, and so is for another thread."""

    def __init__(self, directory: LogDirectory, logs: Sequence[tuple[PartitionLog, LogCheckpoint]]) -> None:
        self._directory = directory
        self._logs = logs

    def write(self) -> None:
        for log, checkpoint in self._logs:
            checkpoint.sync(log.disk)
        self._directory.write_offsets()

    def end(self) -> None:
        for log, checkpoint in self._logs:
            log.end_checkpoint(checkpoint)


class LogDirectory:
    """Locked for this process from `open` to `close`."""

    def __init__(
        self,
        path: Path,
        disk: Disk,
        lock: int,
        meta: MetaProperties,
        *,
        was_clean: bool,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._disk = disk
        self._random_bytes = random_bytes
        self._lock = lock
        self._recovery_points = OffsetCheckpoint(path / _RECOVERY_POINTS, disk)
        self._log_start_offsets = OffsetCheckpoint(path / _LOG_START_OFFSETS, disk)
        self._high_watermarks = OffsetCheckpoint(path / _HIGH_WATERMARKS, disk)
        self._cleaned_offsets = OffsetCheckpoint(path / _CLEANED_OFFSETS, disk)
        self._files_lock = threading.Lock()
        self._removals: list[tuple[int, Path]] = []
        self.path = path
        self.meta = meta
        self.was_clean = was_clean
        self.files = OpenFiles(disk)
        self.recovery_points = self._recovery_points.read()
        self.log_start_offsets = self._log_start_offsets.read()
        self.high_watermarks = self._high_watermarks.read()
        self.cleaned_offsets = self._cleaned_offsets.read()  # up to where compaction has been

    @classmethod
    def open(
        cls,
        path: Path,
        disk: Disk,
        *,
        node_id: int,
        cluster_id: str | None = None,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> LogDirectory:
        """Lock a directory, which is made if it is missing, and see how it was left.

        Without `cluster_id` the directory's own counts, and a new directory gets a random one.
        """
        path = Path(os.path.abspath(path))
        missing = [folder for folder in (path, *path.parents) if not disk.exists(folder)]
        disk.make_directory(path)
        for folder in missing:
            disk.sync_directory(folder.parent)
        try:
            lock = disk.lock(path / _LOCK)
        except BlockingIOError:
            raise LogDirectoryError(
                f"{path} is in use by another process: stop that broker, or choose another directory"
            ) from None
        try:
            meta = _read_or_create_meta(path, disk, node_id, cluster_id, random_bytes)
            marker = path / _CLEAN_SHUTDOWN
            was_clean = disk.exists(marker)
            if was_clean:
                # Should the start fail half-way, the next one must not take the directory for clean.
                disk.unlink(marker)
                disk.sync_directory(path)
            return cls(path, disk, lock, meta, was_clean=was_clean, random_bytes=random_bytes)
        except BaseException:
            disk.close(lock)
            raise

    @property
    def cluster_id(self) -> str:
        return self.meta.cluster_id

    @property
    def directory_id(self) -> str:
        return self.meta.directory_id

    # -- partitions ---------------------------------------------------------------------------------------------------

    def partitions(self) -> list[PartitionFolder]:
        """The folders of partitions that are not deleted and not stray."""
        found = []
        for name in self._disk.directory_names(self.path):
            match = _PARTITION.fullmatch(name)
            if match is not None:
                partition = TopicPartition(match["topic"], int(match["partition"]))
                found.append(PartitionFolder(partition, self.path / name, self._read_topic_id(self.path / name)))
        return found

    def refuse_data(self, missing: str) -> None:
        """LogDirectoryError if there are records here: they would belong to no topic, for want of the folder that is missing."""
        if found := [name for name in _with_records(self.path, self._disk) if name != missing]:
            raise LogDirectoryError(
                f"{self.path} holds the records of {_named(found)}, but nothing is in {missing}, which says what they are. Nothing was "
                f"changed. Restore that folder from a copy; or, to begin anew without them, move them away"
            )

    def has_folder(self, partition: TopicPartition) -> bool:
        return self._disk.exists(self.path / str(partition))

    def open_log(
        self,
        partition: TopicPartition,
        config: LogConfig,
        clock_ms: Callable[[], int],
        *,
        topic_id: bytes | None = None,
        leader_epoch: int | None = None,
        producer_id_expiration_ms: int = PRODUCER_ID_EXPIRATION_MS,
    ) -> PartitionLog:
        """Open the log of a partition, or make it; `topic_id` is written down where it is not yet."""
        folder = self.path / str(partition)
        if topic_id is not None:
            self._claim(folder, partition, topic_id)
        log = PartitionLog.open(
            folder,
            config,
            self._disk,
            clock_ms,
            recovery_point=self.recovery_points.get(partition, 0),
            log_start_offset=self.log_start_offsets.get(partition, 0),
            cleaned_offset=self.cleaned_offsets.get(partition, 0),
            clean=self.was_clean,
            leader_epoch=leader_epoch,
            producer_id_expiration_ms=producer_id_expiration_ms,
            files=self.files,
        )
        if self.cleaned_offsets.get(partition, 0) > log.log_end_offset:
            # Recovery cut the log off; what will be written there next is not compacted, whatever happens until then.
            self.cleaned_offsets[partition] = log.log_end_offset
            self.write_cleaned_offsets()
        return log

    def _claim(self, folder: Path, partition: TopicPartition, topic_id: bytes) -> None:
        """See to it that a partition's folder is there and belongs to its topic."""
        found = self._read_topic_id(folder)
        if found == topic_id:
            return
        if found is not None:
            self.set_aside(PartitionFolder(partition, folder, found))  # of a deleted topic; it could not be moved then
        if not self._disk.exists(folder):
            self._forget_in_files(partition)
            self._disk.make_directory(folder)
        content = f"version: 0\ntopic_id: {encode_uuid(topic_id)}".encode()
        self._disk.replace_file(folder / PARTITION_METADATA, content, durable=False)

    def delete_log(self, partition: TopicPartition, log: PartitionLog, remove_at_ms: int) -> None:
        """Move a log's folder out of the way at once; `folders_to_remove` gives it out when its time has come."""
        target = self._renamed(log.name, _DELETED)
        log.delete(target)
        self._removals.append((remove_at_ms, target))
        self._forget(partition)

    def delete_folder(self, partition: TopicPartition, remove_at_ms: int) -> None:
        """The same for a partition whose log is not open, and which may have no folder yet."""
        folder = self.path / str(partition)
        if self._disk.exists(folder):
            target = self._renamed(folder.name, _DELETED)
            self._disk.rename(folder, target)
            self._removals.append((remove_at_ms, target))
        self._forget(partition)

    def _forget(self, partition: TopicPartition) -> None:
        for offsets in (self.recovery_points, self.log_start_offsets, self.high_watermarks, self.cleaned_offsets):
            offsets.pop(partition, None)

    def _forget_in_files(self, partition: TopicPartition) -> None:
        """What the files say about an earlier topic of that name must not be applied to this one after a crash."""
        self._forget(partition)
        files = (self._recovery_points, self._log_start_offsets, self._high_watermarks, self._cleaned_offsets)
        # Few topics have had a namesake, and for those alone the event loop waits for a checkpoint that is being written.
        if any(checkpoint.mentions(partition) for checkpoint in files):
            with self._files_lock:
                for checkpoint in files:
                    checkpoint.forget(partition)

    def set_aside(self, folder: PartitionFolder) -> Path:
        """Rename the folder of a partition that should not be here, so that a person can look at it."""
        target = self._renamed(folder.path.name, _STRAY)
        self._disk.rename(folder.path, target)
        _logger.warning(
            "%s belongs to no topic: renamed to %s, where it can be looked at or removed", folder.path, target
        )
        return target

    def folders_to_remove(self, now_ms: int) -> list[Path]:
        """Deleted folders whose time has come. Removing them may take long, so it may be done on another thread."""
        due = [path for at, path in self._removals if at <= now_ms]
        self._removals = [(at, path) for at, path in self._removals if at > now_ms]
        return due

    def leftover_folders(self) -> list[Path]:
        """Deleted folders that an earlier run had no time to remove."""
        return [self.path / name for name in self._disk.directory_names(self.path) if name.endswith(_DELETED)]

    def _renamed(self, name: str, suffix: str) -> Path:
        """Kafka's names for such folders: `topic-partition.uniqueid-delete`, of which the topic gives way if too long."""
        topic, _, partition = name.rpartition("-")
        ending = f"-{partition}.{self._random_bytes(_UUID_BYTES).hex()}{suffix}"
        return self.path / f"{topic[: _NAME_BYTES_MAX - len(ending)]}{ending}"

    def _read_topic_id(self, folder: Path) -> bytes | None:
        try:
            lines = self._disk.read_file(folder / PARTITION_METADATA).decode().splitlines()
            values = dict(line.split(": ", 1) for line in lines)
            return decode_uuid(values["topic_id"])
        except (FileNotFoundError, ValueError, KeyError):
            return None

    # -- all partitions -----------------------------------------------------------------------------------------------

    def begin_checkpoints(
        self, logs: Mapping[TopicPartition, PartitionLog], high_watermarks: Mapping[TopicPartition, int]
    ) -> DirectoryCheckpoint:
        """Take down from where the next start, should it not follow a clean stop, has to recover."""
        checkpoints = [(log, log.begin_checkpoint()) for log in logs.values()]
        points = {
            partition: checkpoint.recovery_point for partition, (_, checkpoint) in zip(logs, checkpoints, strict=True)
        }
        self._note_offsets(points, logs, high_watermarks)
        return DirectoryCheckpoint(self, checkpoints)

    def write_checkpoints(
        self, logs: Mapping[TopicPartition, PartitionLog], high_watermarks: Mapping[TopicPartition, int]
    ) -> None:
        """All steps of a checkpoint at once."""
        checkpoint = self.begin_checkpoints(logs, high_watermarks)
        checkpoint.write()
        checkpoint.end()

    def _note_offsets(
        self,
        points: Mapping[TopicPartition, int],
        logs: Mapping[TopicPartition, PartitionLog],
        high_watermarks: Mapping[TopicPartition, int],
    ) -> None:
        for partition, log in logs.items():
            if log.log_start_offset > log.segments[0].base_offset:
                self.log_start_offsets[partition] = log.log_start_offset
            else:
                self.log_start_offsets.pop(partition, None)  # the first segment's name says it
        # A partition that was not opened since the start is as it was.
        self.recovery_points.update(points)
        self.high_watermarks.update(high_watermarks)

    def write_offsets(self) -> None:
        """Replace the checkpoint files. It may be done on another thread: copying a dictionary is one step."""
        with self._files_lock:
            self._recovery_points.write(self.recovery_points.copy())
            self._log_start_offsets.write(self.log_start_offsets.copy())
            self._high_watermarks.write(self.high_watermarks.copy())

    def write_cleaned_offsets(self) -> None:
        """Replace the file that says up to where each log is compacted. It may be done on another thread."""
        with self._files_lock:
            self._cleaned_offsets.write(self.cleaned_offsets.copy())

    def close(self) -> None:
        """Unlock the directory, and leave it as after a crash; a second call does nothing."""
        if self._lock != CLOSED:
            self._disk.close(self._lock)
            self._lock = CLOSED

    def close_clean(
        self,
        logs: Mapping[TopicPartition, PartitionLog],
        high_watermarks: Mapping[TopicPartition, int],
        *,
        broker_epoch: int = 0,
    ) -> None:
        """Close all logs, make everything durable and mark the stop as clean. If a step fails, the next start recovers."""
        try:
            for log in logs.values():
                log.close()
            self._disk.sync_filesystem(self._lock)
            ends = {partition: log.log_end_offset for partition, log in logs.items()}
            self._note_offsets(ends, logs, high_watermarks)
            self.write_offsets()
            marker = {"version": _CLEAN_SHUTDOWN_VERSION, "brokerEpoch": broker_epoch}
            self._disk.replace_file(self.path / _CLEAN_SHUTDOWN, json.dumps(marker, separators=(",", ":")).encode())
        finally:
            self.close()


def _read_or_create_meta(
    path: Path, disk: Disk, node_id: int, cluster_id: str | None, random_bytes: Callable[[int], bytes]
) -> MetaProperties:
    file = path / META_PROPERTIES
    try:
        meta = MetaProperties.parse(disk.read_file(file))
    except FileNotFoundError:
        if found := _with_records(path, disk):
            raise LogDirectoryError(
                f"{file} is missing, but {path} holds the records of {_named(found)}, so that it belongs to some cluster. Restore the "
                "file from a copy; where there is none, kafka-storage format --cluster-id ID writes another"
            ) from None
        new_cluster_id = cluster_id or encode_uuid(random_bytes(_UUID_BYTES))
        meta = MetaProperties(new_cluster_id, node_id, encode_uuid(random_bytes(_UUID_BYTES)))
        disk.replace_file(file, meta.format())
        return meta
    except ValueError as error:
        raise LogDirectoryError(f"{file} cannot be used: {error}; restore it from a copy") from None
    if meta.node_id != node_id or cluster_id not in (None, meta.cluster_id):
        raise LogDirectoryError(
            f"{path} belongs to node {meta.node_id} of cluster {meta.cluster_id}, but this is node {node_id}"
            f"{f' of cluster {cluster_id}' if cluster_id else ''}: set node.id and the cluster id right, "
            "or choose another directory"
        )
    return meta


def _with_records(path: Path, disk: Disk) -> list[str]:
    """The folders of partitions in which something was written."""
    return [
        name
        for name in disk.directory_names(path)
        if _PARTITION.fullmatch(name) and any(file.endswith(LOG) for file in disk.file_names(path / name))
    ]


def _named(folders: Sequence[str]) -> str:
    more = len(folders) - _NAMED_MAX
    return ", ".join(folders[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
