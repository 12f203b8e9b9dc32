"""The folder in which Spark keeps what a query has read and knows, on whatever file system it is."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import SparkSession

from streams_sql.spark.sources.positions import (
    EARLIEST,
    LATEST,
    Offsets,
    TopicState,
    fitted,
    has_awaited,
    initial_entry,
    initial_offsets,
    initial_text,
    places_of,
    read_by_all,
    read_by_any,
    resolved,
)

_OFFSETS: Final = "offsets"
_COMMITS: Final = "commits"
_SOURCES: Final = "sources"
# Beside Spark's own files: of which topics the positions are, and what the checkpoint is called in the marks of its tasks.
_IDENTITY: Final = "identity.json"
_ID_BYTES: Final = 6


@dataclass(slots=True)
class Opened:
    """A checkpoint that goes with the topics. `id` is its own: one that is made anew has another. `notes` say what was put right."""

    id: str
    is_new: bool
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reached:
    """How far the batches of a query that are done have read its topics; `furthest` is the same by places that are ahead of others which
    read the same topic. `batch` is the number of the last of them, -1 where there is none, and `id` that of the checkpoint. `is_begun`
    means that another batch was begun and is not done, `may_hold_rows` that some that were read may not have been processed yet."""

    offsets: dict[str, Offsets]
    furthest: dict[str, Offsets]
    id: str
    batch: int
    is_begun: bool
    may_hold_rows: bool = False

    @property
    def is_even(self) -> bool:
        return all(offsets == self.furthest[topic] for topic, offsets in self.offsets.items())


class Folder:
    """Files below a URI, by Hadoop's file systems: the same that Spark writes them with."""

    def __init__(self, session: SparkSession, uri: str) -> None:
        jvm: Any = session._jvm
        self._jvm = jvm
        self._root = jvm.org.apache.hadoop.fs.Path(uri)
        self._files = self._root.getFileSystem(session._jsc.hadoopConfiguration())

    def names(self, folder: str) -> list[str]:
        path = self._path(folder)
        if not self._files.exists(path):
            return []
        return [status.getPath().getName() for status in self._files.listStatus(path)]

    def read(self, name: str) -> str | None:
        path = self._path(name)
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)).decode()
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Whoever reads it finds what was there before, or all of this, also if the process is killed on the way."""
        path = self._path(name)
        arriving = self._jvm.org.apache.hadoop.fs.Path(
            path.getParent(), f".{path.getName()}.{secrets.token_hex(_ID_BYTES)}"
        )
        stream = self._files.create(arriving, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if self._files.rename(arriving, path):
            return
        # Not all file systems let a new file take the place of another.
        self._files.delete(path, False)
        if not self._files.rename(arriving, path):
            raise OSError(
                f"{path.toString()} could not be written: its file system refuses to rename {arriving.getName()}"
            )

    def delete(self) -> None:
        self._files.delete(self._root, True)

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, name)


def open_checkpoint(folder: Folder, topics: Mapping[str, TopicState]) -> Opened:
    """See that the positions of a checkpoint can be read in the topics as they are, before Spark looks at them."""
    identity = _identity(folder)
    known: Mapping[str, str] = identity.get("topics", {})
    remade = {topic for topic, state in topics.items() if known.get(topic, state.id) != state.id}
    opened = Opened(identity.get("id") or secrets.token_hex(_ID_BYTES), is_new=False)
    commits = _batches(folder, _COMMITS)
    if commits:
        _fit(folder, opened, max(commits), topics, remade)
    else:
        _fit_first(folder, opened, topics, remade)
    found = {"id": opened.id, "topics": {**known, **{topic: state.id for topic, state in topics.items()}}}
    if found != identity:
        folder.write(_IDENTITY, json.dumps(found))
    return opened


def first_offsets(
    folder: Folder, topics: Mapping[str, TopicState], wanted: str, tables: Collection[str]
) -> dict[str, Offsets]:
    """Where a query begins to read its topics, for as long as no batch of it is done: what is `wanted` when it is asked for first. A table is
    what all its records have made of it, wherever streams begin. It is kept in the form of Spark's own connector."""
    found = {}
    for number, (topic, state) in enumerate(sorted(topics.items())):
        name = f"{_SOURCES}/{number}/0"
        text = folder.read(name)
        if not text:
            found[topic] = resolved(EARLIEST if wanted == LATEST and topic in tables else wanted, topic, state)
            folder.write(name, initial_text({topic: found[topic]}))
        else:
            found[topic] = initial_offsets(text)[topic]
    return found


def reached(folder: Folder, topics: Mapping[str, TopicState]) -> Reached:
    """What a checkpoint says, as the next start would find it. Topics that it knows nothing of are not in it."""
    identity = _identity(folder)
    known: Mapping[str, str] = identity.get("topics", {})
    remade = {topic for topic, state in topics.items() if known.get(topic, state.id) != state.id}
    done = max(_batches(folder, _COMMITS), default=-1)
    entries = [folder.read(f"{_OFFSETS}/{done}")] if done >= 0 else list(map(initial_entry, _first_texts(folder)))
    places: list[dict[str, Offsets]] = []
    for entry in entries:
        if entry is None:
            raise FileNotFoundError(f"A checkpoint has no offsets of its last batch, {done}")
        places += places_of(fitted(entry, None, topics, remade).done)
    is_begun = folder.read(f"{_OFFSETS}/{done + 1}") is not None
    may_hold = any(entry is not None and has_awaited(entry) for entry in entries)
    return Reached(read_by_all(places), read_by_any(places), identity.get("id", ""), done, is_begun, may_hold)


def _identity(folder: Folder) -> dict[str, Any]:
    """Of which topics the positions are; nothing in a checkpoint that was never opened, or whose file a power cut has emptied."""
    found: dict[str, Any] = json.loads(folder.read(_IDENTITY) or "{}")
    return found


def _first_texts(folder: Folder) -> list[str]:
    """What is noted of where each topic is begun."""
    found = [folder.read(f"{_SOURCES}/{name}/0") for name in folder.names(_SOURCES) if name.isdecimal()]
    return [text for text in found if text]


def _fit(folder: Folder, opened: Opened, done: int, topics: Mapping[str, TopicState], remade: set[str]) -> None:
    entry = folder.read(f"{_OFFSETS}/{done}")
    if entry is None:
        return
    begun = folder.read(f"{_OFFSETS}/{done + 1}")
    found = fitted(entry, begun, topics, remade)
    opened.notes += found.notes
    if found.begun is not None and found.begun != begun:
        # Some tasks of the batch may be done: what they have noted is not what they will find.
        opened.id = secrets.token_hex(_ID_BYTES)
        folder.write(f"{_OFFSETS}/{done + 1}", found.begun)
    if found.done != entry:
        folder.write(f"{_OFFSETS}/{done}", found.done)


def _fit_first(folder: Folder, opened: Opened, topics: Mapping[str, TopicState], remade: set[str]) -> None:
    """No batch is done yet: where the first one cannot be read any more, the query begins anew."""
    sources = _first_texts(folder)
    entries = [fitted(initial_entry(text), None, topics, remade) for text in sources]
    opened.notes = [note for entry in entries for note in entry.notes]
    if opened.notes:
        folder.delete()
        opened.id = secrets.token_hex(_ID_BYTES)
    opened.is_new = bool(opened.notes) or not sources


def _batches(folder: Folder, name: str) -> list[int]:
    return [int(found) for found in folder.names(name) if found.isdecimal()]
