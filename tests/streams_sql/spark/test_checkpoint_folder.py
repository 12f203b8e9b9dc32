"""Our own files beside those of Spark's checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streams_sql.spark.sources.checkpoints import Folder, first_offsets, open_checkpoint
from streams_sql.spark.sources.positions import EARLIEST, TopicState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOPICS = {"t": TopicState("id of t", {0: (3, 9)})}


class Killed(Exception):
    """In place of the process's end."""


class FilesUntilKilled:
    """A file system, up to the moment at which a file would get its name."""

    def __init__(self, files: Any) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def rename(self, source: Any, target: Any) -> bool:
        raise Killed


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_the_place_of_another(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path.as_uri())
    for text in ("long before", "now"):
        folder.write("sources/0/0", text)
        assert folder.read("sources/0/0") == text
    assert names(tmp_path / "sources" / "0") == ["0"]


def test_a_write_that_is_cut_off_leaves_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path.as_uri())
    folder.write("file", "before")
    folder._files = FilesUntilKilled(folder._files)
    for name in ("file", "another"):
        with pytest.raises(Killed):
            folder.write(name, "now")
    assert (folder.read("file"), folder.read("another")) == ("before", None)


def test_files_that_a_power_cut_has_emptied_count_as_not_written(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path.as_uri())
    for name in ("identity.json", "sources/0/0"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    opened = open_checkpoint(folder, TOPICS)
    assert opened.is_new
    assert first_offsets(folder, TOPICS, EARLIEST, ()) == {"t": {0: 3}}
    again = open_checkpoint(folder, TOPICS)
    assert (again.id, again.is_new) == (opened.id, False)
