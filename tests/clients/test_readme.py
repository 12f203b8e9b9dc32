"""What the README tells newcomers to type."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.broker import BarnabasBroker
from tests.registry import RegistryProcess

README = (Path(__file__).parents[2] / "README.md").read_text()
ADDRESS = "127.0.0.1:9092"
REGISTRY = "http://127.0.0.1:8081"
REST = "http://127.0.0.1:8082"
EXAMPLE_DEADLINE_S = 20
"""Far less than a client waits for a coordinator that does not come."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("position", "printed"), [(0, "b'hello from Python'\n"), (1, "")])
def test_the_python_examples(broker_address: str, position: int, printed: str) -> None:
    example = blocks("python")[position]
    assert ADDRESS in example
    words = [sys.executable, "-c", example.replace(ADDRESS, broker_address)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=EXAMPLE_DEADLINE_S, check=True)
    assert done.stdout == printed


def test_the_examples_of_the_commands(broker_address: str) -> None:
    (example,) = [block for block in blocks("sh") if "barnabas topics create" in block]
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-e"],
        input=example,
        capture_output=True,
        text=True,
        timeout=EXAMPLE_DEADLINE_S,
        env={"PATH": f"{scripts}:/usr/bin:/bin", "KAFKA_BOOTSTRAP_SERVERS": broker_address},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "wrote 1 record to orders\n")
    assert '"value": "one"' in done.stdout


def test_the_examples_of_schemas(barnabas: BarnabasBroker, registry: RegistryProcess, tmp_path: Path) -> None:
    """With curl, with Confluent's serializer, and with the command."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    scripts = Path(sys.executable).parent
    (serializer,) = [block for block in blocks("python") if "AvroSerializer" in block]
    curl, command = (block for block in blocks("sh") if "users-value" in block)
    environment = {
        "PATH": f"{scripts}:/usr/bin:/bin",
        "KAFKA_BOOTSTRAP_SERVERS": barnabas.address,
        "SCHEMA_REGISTRY_URL": registry.url,
    }
    printed = []
    for words, example in ((["bash", "-e"], curl), ([sys.executable, "-"], serializer), (["bash", "-e"], command)):
        text = example.replace(ADDRESS, barnabas.address).replace(REGISTRY, registry.url)
        done = subprocess.run(
            words,
            input=text,
            capture_output=True,
            text=True,
            timeout=EXAMPLE_DEADLINE_S,
            cwd=tmp_path,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    registered, _, told = printed
    assert '"subject":"users-value","version":1' in registered
    assert "users-value" in told
    assert "not compatible" in told
    assert "age" in told
    assert "Ada" in told
    assert (tmp_path / "backup.jsonl").read_text().count("users-value") >= 1


def test_the_examples_over_http(rest_url: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    produce, stream = (block for block in blocks("sh") if "127.0.0.1:8082" in block)
    printed = []
    for example in (produce, stream):
        done = subprocess.run(
            ["bash", "-e"],
            input=example.replace(REST, rest_url),
            capture_output=True,
            text=True,
            timeout=EXAMPLE_DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert '"offsets":[{"partition":' in printed[0]
    assert all("nail" in text for text in printed)


def test_the_kcat_example(broker_address: str) -> None:
    if shutil.which("kcat") is None:
        pytest.skip("kcat is not installed")
    (example,) = [block for block in blocks("sh") if "kcat" in block]
    done = subprocess.run(
        ["sh", "-e"],
        input=example.replace(ADDRESS, broker_address),
        capture_output=True,
        text=True,
        timeout=EXAMPLE_DEADLINE_S,
        check=True,
    )
    assert done.stdout == "hello\n"
