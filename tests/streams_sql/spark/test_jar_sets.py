"""Jars that are fetched once: the stamp, the checksums, and how Ivy and Maven are called. That these really fetch is what every test with
jars relies on."""

import hashlib
import ssl
import subprocess
from pathlib import Path

import pytest

from streams_sql.spark.installation import trust_store
from streams_sql.spark.installation.jar_sets import (
    STAMP_NAME,
    Artifact,
    JarError,
    JarSet,
    is_complete,
    provide,
    verify,
    wanted,
)

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


# --- fetching ---

CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUD2TSxiy3JRaK/E5nYngVQwLxupMwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMTcwMjI2NDFaGA8yMTI2MTAyNDAy
MjY0MVowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABA3bnA8ShNd/YcWBBb7UNgNXkvtTJFrd44nOMhj22kN3twH7Zvi+yJ0xjLI+
SixE8U6KvWRa/AC1WbOO76l92LKjUzBRMB0GA1UdDgQWBBSvGAY9nGynxeSUzA1h
mH7H9vDk4TAfBgNVHSMEGDAWgBSvGAY9nGynxeSUzA1hmH7H9vDk4TAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCICZU4waGAmEATV0Mt4ePOaZLgq62
UucTNO2qLtdKgCchAiEA2vnaae7rqIDIHfCgzPrMj+73yJUyfi6Ajh/Oqwz69MI=
-----END CERTIFICATE-----
"""
WORDS_OF_MISTRUST = "PKIX path building failed: unable to find valid certification path to requested target"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `java` that tests write, and no Maven."""
    path = tmp_path / "java" / "bin" / "java"
    path.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(path.parent.parent))
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    return path


def write_java(program: Path, *lines: str) -> None:
    """It knows its version, and notes how it was called."""
    version = '[ "$1" = -version ] && echo \'openjdk version "17.0.1"\' >&2 && exit'
    noted = f'echo "$JAVA_TOOL_OPTIONS|$*" >> {program}.calls'
    program.write_text("\n".join(["#!/bin/sh", version, noted, *lines, ""]))
    program.chmod(0o755)


def calls(program: Path) -> list[str]:
    return program.with_name("java.calls").read_text().splitlines()


def retrieving(*names: str) -> str:
    """What Ivy does: it writes into the folder of its last word."""
    return "for last; do :; done; " + "".join([f'printf "a jar" > "${{last%/*}}/{name}"; ' for name in names])


def test_jars_come_through_ivy_and_are_verified_and_kept(program: Path) -> None:
    write_java(program, retrieving(SOUND.file_name))
    folder = provide(JARS)
    assert (folder / SOUND.file_name).read_bytes() == CONTENT
    assert is_complete(JARS)
    assert provide(JARS) == folder
    assert len(calls(program)) == 1


def test_the_users_own_settings_of_ivy_are_honoured(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVY_SETTINGS", "/etc/our-mirror.xml")
    write_java(program, retrieving(SOUND.file_name))
    provide(JARS)
    assert " -settings /etc/our-mirror.xml " in calls(program)[0]


def test_maven_goes_first_where_it_is_installed(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_java(program)
    maven = tmp_path / "programs" / "mvn"
    maven.parent.mkdir()
    maven.write_text(f'#!/bin/sh\nfor last; do :; done\nprintf "a jar" > "${{last#*=}}/{SOUND.file_name}"\n')
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", str(maven.parent))
    assert (provide(JARS) / SOUND.file_name).read_bytes() == CONTENT


def test_what_the_system_trusts_is_tried_when_java_does_not_trust_a_mirror(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "certificates.pem"
    bundle.write_text(CERTIFICATE)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    kept = tmp_path / "kept.jks"
    write_java(
        program,
        f'[ -z "$JAVA_TOOL_OPTIONS" ] && echo "{WORDS_OF_MISTRUST}" && exit 1',
        f'/bin/cp "${{JAVA_TOOL_OPTIONS#*=}}" {kept}',
        retrieving(SOUND.file_name),
    )
    provide(JARS)
    assert [call.partition("|")[0].partition("=")[0] for call in calls(program)] == ["", "-Djavax.net.ssl.trustStore"]
    assert ssl.PEM_cert_to_DER_cert(CERTIFICATE) in kept.read_bytes()


def test_a_trust_store_that_the_user_has_chosen_is_not_replaced(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.trustStore=/etc/own.jks")
    write_java(program, f'echo "{WORDS_OF_MISTRUST}"; exit 1')
    with pytest.raises(JarError, match="is the network there"):
        provide(JARS)
    assert len(calls(program)) == 1


def test_java_reads_the_trust_store(java: Path, tmp_path: Path) -> None:
    (tmp_path / "certificates.pem").write_text(f"some words\n{CERTIFICATE}\n{CERTIFICATE}")
    trust_store.write(tmp_path / "certificates.pem", tmp_path / "trusted.jks")
    words = ["-list", "-keystore", str(tmp_path / "trusted.jks"), "-storepass", "changeit"]
    done = subprocess.run(
        [java, "-m", "java.base/sun.security.tools.keytool.Main", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "contains 2 entries" in done.stdout
    assert done.stdout.count("trustedCertEntry") == 2
