"""The stamp and the checksums of fetched jars; fetching itself is what every test with jars relies on."""

import hashlib
from pathlib import Path

import pytest

from tests.provision.jars import STAMP_NAME, Artifact, JarError, JarSet, is_complete, verify, wanted

CONTENT = b"a jar"
SOUND = Artifact("org.example", "sound", "1.0", hashlib.sha256(CONTENT).hexdigest())
JARS = JarSet("example", (SOUND,), transitive=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The set's folder with its one jar, stamped."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    JARS.folder().mkdir(parents=True)
    (JARS.folder() / SOUND.file_name).write_bytes(CONTENT)
    (JARS.folder() / STAMP_NAME).write_text(f"{wanted(JARS)}\n\n{SOUND.file_name}\n")
    return JARS.folder()


def test_a_stamped_folder_is_complete(folder: Path) -> None:
    assert folder == folder.parents[2] / "barnabas" / "jars" / "example"
    assert is_complete(JARS)


def test_a_missing_jar_is_noticed(folder: Path) -> None:
    (folder / SOUND.file_name).unlink()
    assert not is_complete(JARS)


def test_a_folder_without_a_stamp_is_not_complete(folder: Path) -> None:
    (folder / STAMP_NAME).unlink()
    assert not is_complete(JARS)


def test_another_version_is_fetched_anew(folder: Path) -> None:
    newer = Artifact(SOUND.organisation, SOUND.name, "2.0")
    assert not is_complete(JarSet(JARS.name, (newer,), transitive=False))


def test_a_jar_with_another_checksum_is_refused(folder: Path) -> None:
    verify(JARS, folder)
    (folder / SOUND.file_name).write_bytes(b"another jar")
    with pytest.raises(JarError, match=f"not {SOUND.sha256}"):
        verify(JARS, folder)


def test_a_jar_that_did_not_arrive_is_named(folder: Path) -> None:
    (folder / SOUND.file_name).unlink()
    with pytest.raises(JarError, match=r"org\.example:sound:1\.0"):
        verify(JARS, folder)


def test_an_artifact_beside_the_jar_is_named_as_maven_names_it() -> None:
    archive = Artifact("org.example", "app", "1.0", classifier="all", extension="tar.gz")
    assert (archive.coordinates, archive.file_name) == ("org.example:app:1.0:all", "app-1.0-all.tar.gz")
