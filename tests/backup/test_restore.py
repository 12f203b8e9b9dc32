"""What a backup holds and leaves out, and what a restore refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.cimpl import NewTopic

from barnabas.backup import taking
from barnabas.backup.backup_error import BackupError
from barnabas.backup.held_files import Patience, hold_tree
from barnabas.backup.manifest import CONTENT, FILE_NAME, Entry, Head, ManifestWriter
from barnabas.backup.restoring import restore
from barnabas.backup.taking import take
from barnabas.cli.main import main
from barnabas.kernel.data_directory import FORMAT_VERSION, DataDirectory, DataDirectoryError
from tests.backup.load import create, records
from tests.broker import BarnabasBroker

Captured = pytest.CaptureFixture[str]
SEGMENT = "00000000000000000000.log"


def silent(_: int) -> None:
    """Nobody looks."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory as a stopped platform leaves it, with a little of everything."""
    folder = tmp_path / "data"
    DataDirectory.open(folder)
    for name, text in {
        "broker/.lock": "",
        "broker/.kafka_cleanshutdown": "{}",
        "broker/meta.properties": "node.id=1\n",
        "broker/recovery-point-offset-checkpoint": "0\n1\nt 0 30\n",
        f"broker/t-0/{SEGMENT}": "first",
        "broker/t-0/00000000000000000000.index": "trusted",
        "broker/t-0/00000000000000000010.log": "second",
        "broker/t-0/00000000000000000010.index": "written in place",
        "broker/t-0/00000000000000000005.log.deleted": "gone",
        "broker/t-0/00000000000000000000.log.cleaned": "unfinished",
        "broker/u-0.0123-delete/x": "gone",
        "sql/views/v.db": "a cache",
        "sql/spark/scratch": "a cache",
        "sql/checkpoints/Q/offsets/0": "position",
        "sql/checkpoints/Q/offsets/.1.tmp": "arriving",
        "sql/checkpoints/transient/here/offsets/0": "of a push query",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def files_of(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_backup_has_what_cannot_be_made_again(data: Path, tmp_path: Path) -> None:
    before = files_of(data)
    total = take(data, tmp_path / "backup", silent)
    restore(tmp_path / "backup", tmp_path / "new", silent)
    expected = {
        "version": f"{FORMAT_VERSION}\n",
        "broker/meta.properties": "node.id=1\n",
        "broker/recovery-point-offset-checkpoint": "0\n1\nt 0 30\n",
        f"broker/t-0/{SEGMENT}": "first",
        "broker/t-0/00000000000000000000.index": "trusted",
        "broker/t-0/00000000000000000010.log": "second",
        "broker/t-0/00000000000000000000.log.cleaned": "",
        "sql/checkpoints/Q/offsets/0": "position",
    }
    assert files_of(tmp_path / "new") == expected
    assert total.files == len(expected) - 1
    assert {**before, taking.LOCK_FILE: ""} == files_of(data)


def test_a_stopped_broker_is_restored_by_the_command(tmp_path: Path, capsys: Captured) -> None:
    broker = BarnabasBroker(tmp_path)
    broker.start()
    create(broker.address, NewTopic("t", 1))
    producer = Producer({"bootstrap.servers": broker.address})
    producer.produce("t", b"value")
    assert producer.flush(90) == 0
    broker.stop()
    copy = BarnabasBroker(tmp_path / "other")
    assert main(["backup", str(tmp_path / "backup"), "--data-dir", str(broker.data_dir)]) == 0
    assert main(["restore", str(tmp_path / "backup"), "--data-dir", str(copy.data_dir)]) == 0
    assert f"start it with: barnabas up --data-dir {copy.data_dir}" in capsys.readouterr().out
    copy.start()
    try:
        assert records(copy.address, "t") == {0: b"value"}
    finally:
        copy.stop()


def test_a_damaged_file_is_refused_and_nothing_left(data: Path, tmp_path: Path, capsys: Captured) -> None:
    take(data, tmp_path / "backup", silent)
    (tmp_path / "backup" / CONTENT / "broker" / "t-0" / SEGMENT).write_text("FIRST")
    assert main(["restore", str(tmp_path / "backup"), "--data-dir", str(tmp_path / "new")]) == 1
    assert f"{SEGMENT} is damaged" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_missing_file_is_refused_and_nothing_left(data: Path, tmp_path: Path) -> None:
    take(data, tmp_path / "backup", silent)
    (tmp_path / "backup" / CONTENT / "broker" / "t-0" / SEGMENT).unlink()
    (tmp_path / "new").mkdir()
    with pytest.raises(BackupError, match=f"{SEGMENT} is missing; nothing was restored"):
        restore(tmp_path / "backup", tmp_path / "new", silent)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("lines", [slice(0, -1), slice(1, None), slice(0, 0)])
def test_a_list_that_is_not_whole_is_refused(data: Path, tmp_path: Path, lines: slice) -> None:
    take(data, tmp_path / "backup", silent)
    manifest = tmp_path / "backup" / FILE_NAME
    manifest.write_text("".join(manifest.read_text().splitlines(keepends=True)[lines]))
    with pytest.raises(BackupError, match="is damaged"):
        restore(tmp_path / "backup", tmp_path / "new", silent)


def test_a_backup_that_was_broken_off_is_refused(data: Path, tmp_path: Path) -> None:
    take(data, tmp_path / "backup", silent)
    (tmp_path / "backup" / FILE_NAME).unlink()
    with pytest.raises(BackupError, match="it is no backup, or one that was broken off"):
        restore(tmp_path / "backup", tmp_path / "new", silent)


def write_backup(folder: Path, *entries: Entry, form: int = 1, data_version: int = FORMAT_VERSION) -> None:
    folder.mkdir()
    with ManifestWriter(folder, Head(form, data_version, "9.9", 0, 0)) as manifest:
        for entry in entries:
            manifest.add(entry)
        manifest.finish()


@pytest.mark.parametrize("newer", ["form", "data_version"])
def test_a_newer_version_is_refused(tmp_path: Path, newer: str) -> None:
    write_backup(tmp_path / "backup", **{newer: 7})
    with pytest.raises(BackupError, match=r"format version 7, .* up to 1; restore it with the newer release .* 9\.9"):
        restore(tmp_path / "backup", tmp_path / "new", silent)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("path", ["../outside", "/outside", "a/../../outside", "."])
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, path: str) -> None:
    write_backup(tmp_path / "backup", Entry(path, 0, 0o600, ""))
    with pytest.raises(BackupError, match="outside of the data directory"):
        restore(tmp_path / "backup", tmp_path / "new", silent)


def test_folders_in_use_are_refused(data: Path, tmp_path: Path) -> None:
    take(data, tmp_path / "backup", silent)
    with pytest.raises(BackupError, match="is not an empty folder; give each backup"):
        take(data, tmp_path / "backup", silent)
    with pytest.raises(BackupError, match="is not an empty folder, and nothing is overwritten"):
        restore(tmp_path / "backup", data, silent)
    with pytest.raises(BackupError, match="lies in the data directory"):
        take(data, data / "backup", silent)
    with pytest.raises(DataDirectoryError, match="there is no data directory"):
        take(tmp_path / "nowhere", tmp_path / "other", silent)


def test_two_backups_at_once_are_refused(data: Path, tmp_path: Path) -> None:
    def advance(_: int) -> None:
        with pytest.raises(BackupError, match=r"another backup of .* is being taken"):
            take(data, tmp_path / "second", silent)

    take(data, tmp_path / "first", advance)
    # A backup that was broken off left links behind.
    (data / taking.HOLDING_FOLDER / "old").mkdir(parents=True)
    take(data, tmp_path / "third", silent)
    assert not (data / taking.HOLDING_FOLDER).exists()


def test_a_folder_that_never_rests_is_told(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def link_and_replace(source: Path, target: Path) -> None:
        link(source, target)
        arriving = source.with_suffix(".tmp")
        arriving.write_text("again")
        arriving.replace(source)

    monkeypatch.setattr(os, "link", link_and_replace)
    with pytest.raises(BackupError, match=r"has been changing for 0\.1 s"):
        hold_tree(data / "sql" / "checkpoints" / "Q", tmp_path / "held", Patience(0.1))


def test_a_backup_that_fails_leaves_nothing(data: Path, tmp_path: Path) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        take(data, tmp_path / "backup", full)
    assert list((tmp_path / "backup").iterdir()) == []
    take(data, tmp_path / "backup", silent)


def test_the_manifest_tells_version_time_and_sizes(data: Path, tmp_path: Path) -> None:
    take(data, tmp_path / "backup", silent)
    head, *entries, total = map(json.loads, (tmp_path / "backup" / FILE_NAME).read_text().splitlines())
    assert (head["format"], head["data_version"]) == (1, FORMAT_VERSION)
    assert head["began_s"] <= head["taken_s"]
    assert sum(entry["size"] for entry in entries) == total["bytes"]
    assert {entry["path"] for entry in entries} == files_of(tmp_path / "backup" / CONTENT).keys()
