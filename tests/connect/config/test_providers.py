"""Values that stand elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect.config.providers import FILE_MAX_BYTES, Providers
from connect.errors import ConnectError

JAVA = "org.apache.kafka.common.config.provider."


@pytest.fixture
def worker(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "secrets.properties").write_text("user=joseph\npassword=k:\\ncastle\n")
    (tmp_path / "token").write_text("s3cret")
    return {
        "config.providers": "file, dir,env",
        "config.providers.file.class": f"{JAVA}FileConfigProvider",
        "config.providers.dir.class": f"{JAVA}DirectoryConfigProvider",
        "config.providers.dir.param.allowed.paths": str(tmp_path),
        "config.providers.env.class": f"{JAVA}EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern": "PUBLIC_.*",
    }


def resolved(worker: dict[str, str], text: str) -> str:
    return Providers(worker).resolve({"x": text})["x"]


def test_references_are_replaced(worker: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIC_NAME", "olga")
    file = tmp_path / "secrets.properties"
    assert resolved(worker, f"${{file:{file}:user}}") == "joseph"
    assert resolved(worker, f"a-${{file:{file}:password}}-${{dir:{tmp_path}:token}}") == "a-k:\ncastle-s3cret"
    assert resolved(worker, "${env:PUBLIC_NAME}") == "olga"


@pytest.mark.parametrize("text", ["${topic}", "${other:path:key}", "$", "${", "plain"])
def test_what_names_no_provider_stays(worker: dict[str, str], text: str) -> None:
    assert resolved(worker, text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("${file:/nowhere/at/all:x}", "cannot be read"),
        ("${dir:/etc:passwd}", "lies outside of the folders of allowed.paths"),
        ("${env:HOME}", "there is no environment variable HOME that may be read"),
        ("${dir:.:../token}", "must be the name of a file"),
    ],
)
def test_what_cannot_be_read_is_named(worker: dict[str, str], text: str, reason: str) -> None:
    with pytest.raises(ConnectError, match=reason):
        resolved(worker, text)


def test_a_file_that_is_too_large_is_refused_and_not_cut(worker: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x" * (FILE_MAX_BYTES + 1))
    with pytest.raises(ConnectError, match=f"token has more than {FILE_MAX_BYTES} bytes"):
        resolved(worker, f"${{dir:{tmp_path}:token}}")


def test_a_key_that_the_file_does_not_have_tells_no_other(worker: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConnectError) as failure:
        resolved(worker, f"${{file:{tmp_path / 'secrets.properties'}:nobody}}")
    assert "has no nobody" in str(failure.value)
    assert "castle" not in str(failure.value)


def test_a_class_that_is_no_provider_is_refused() -> None:
    with pytest.raises(ConnectError, match="expected one of FileConfigProvider"):
        Providers({"config.providers": "x", "config.providers.x.class": "Vault"})
