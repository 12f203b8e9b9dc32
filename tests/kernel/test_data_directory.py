from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from barnabas.kernel.data_directory import FORMAT_VERSION, DataDirectory, DataDirectoryError


def test_a_new_directory_gets_a_version_and_a_folder_for_each_service(tmp_path: Path) -> None:
    directory = DataDirectory.open(tmp_path / "deep" / "data")
    assert (tmp_path / "deep" / "data" / "version").read_text() == f"{FORMAT_VERSION}\n"
    assert directory.service("broker") == tmp_path / "deep" / "data" / "broker"
    assert [path.name for path in directory.path.iterdir()] == ["version"]


def test_a_directory_is_opened_again(tmp_path: Path) -> None:
    DataDirectory.open(tmp_path)
    (tmp_path / "broker").mkdir()
    assert DataDirectory.open(tmp_path).path == tmp_path


def test_services_that_start_together_may_all_make_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: DataDirectory.open(tmp_path / "data"), range(32)))
    assert len(opened) == 32
    assert (tmp_path / "data" / "version").read_text() == f"{FORMAT_VERSION}\n"


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "version").write_text(f"{FORMAT_VERSION + 1}\n")
    with pytest.raises(DataDirectoryError, match=f"format version {FORMAT_VERSION + 1}.*up to {FORMAT_VERSION}"):
        DataDirectory.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"one", b"\xff\xfe", "²".encode()])
def test_a_version_that_is_no_number_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "version").write_bytes(content)
    with pytest.raises(DataDirectoryError, match="where a version number is expected"):
        DataDirectory.open(tmp_path)


def test_a_folder_with_files_of_others_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(DataDirectoryError, match=r"holds 'thesis\.tex' and no version file"):
        DataDirectory.open(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_log_directory_of_kafka_is_refused_with_the_way_to_serve_it(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\n")
    with pytest.raises(DataDirectoryError, match=r"--set log\.dirs="):
        DataDirectory.open(tmp_path)


def test_the_root_of_a_fresh_volume_may_be_the_data_directory(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    (tmp_path / ".snapshot").mkdir()
    DataDirectory.open(tmp_path)
    assert (tmp_path / "version").exists()


def test_a_path_that_cannot_be_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirectoryError, match=r"file/data cannot be made: .*/file is a file, not a folder"):
        DataDirectory.open(tmp_path / "file" / "data")
    with pytest.raises(DataDirectoryError, match=r"data directory .*/file is a file, not a folder; choose another"):
        DataDirectory.open(tmp_path / "file")
