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
from tests.sql_service import SqlProcess
from tests.waiting import wait_for

README = (Path(__file__).parents[2] / "README.md").read_text()
ADDRESS = "127.0.0.1:9092"
REGISTRY = "http://127.0.0.1:8081"
REST = "http://127.0.0.1:8082"
CONNECT = "http://127.0.0.1:8083"
SQL = "http://127.0.0.1:8088"
EXAMPLE_DEADLINE_S = 20
"""Far less than a client waits for a coordinator that does not come."""
SPARK_DEADLINE_S = 240
"""Where Spark has to start first."""


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


def section(title: str) -> str:
    """The commands of one section, as somebody types them one after the other."""
    text = README.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))


def test_the_examples_over_http(rest_url: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    done = subprocess.run(
        ["bash", "-e"],
        input=section("Over HTTP").replace(REST, rest_url),
        capture_output=True,
        text=True,
        timeout=EXAMPLE_DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"offsets":[{"partition":' in done.stdout
    # Read without a consumer, by a consumer, as an event, and as a line.
    assert done.stdout.count("nail") >= 4
    assert '"celsius":21' in done.stdout
    assert done.stdout.count('"error_code":200') == 3
    assert '"failures":[{"id":"2"' in done.stdout


def test_the_examples_of_connectors(connect_url: str, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    typed, moment, _ = section("Connectors").partition("cat orders.txt")
    assert moment
    done = subprocess.run(
        ["bash", "-e"],
        input=typed.replace(CONNECT, connect_url),
        capture_output=True,
        text=True,
        timeout=EXAMPLE_DEADLINE_S,
        cwd=tmp_path,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "CONNECT_URL": connect_url},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    file = tmp_path / "orders.txt"
    wait_for(lambda: file.exists() and file.read_text().count("\n") == 2, "the rows")
    assert file.read_text() == '{"id":1,"item":"nail","price":0.1}\n{"id":2,"item":"hammer","price":12.5}\n'


@pytest.mark.timeout(SPARK_DEADLINE_S)
def test_the_examples_of_sql(sql_service: SqlProcess, tmp_path: Path) -> None:
    """What people type before Spark is up, what they ask then, and what they do from Python."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")

    def run(words: list[str], text: str) -> str:
        done = subprocess.run(
            words,
            input=text.replace(SQL, sql_service.url),
            capture_output=True,
            text=True,
            timeout=EXAMPLE_DEADLINE_S,
            cwd=tmp_path,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "KSQL_URL": sql_service.url},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    begin, later, rest = section("SQL over topics").partition('barnabas sql "SELECT * FROM turnover')
    assert later
    printed = run(["bash", "-e"], begin)
    assert [line.split() for line in printed.splitlines()[2:4]] == [["1", "nail", "0.1"], ["3", "nail", "0.2"]]
    assert printed.count("Created query with ID ") == 3
    assert "MAX(`PRICE`)" in printed
    sql_service.wait_for_rows("SELECT item, sold FROM turnover;", [["hammer", 1], ["nail", 2]])
    sql_service.wait_for_rows("SELECT item, sold FROM per_hour;", [["hammer", 1], ["nail", 2]])
    printed = run(["bash", "-e"], later + rest)
    assert re.search(r"^nail +2 +0\.30*4?$", printed, re.MULTILINE)
    assert '{"ITEM":"hammer","TOTAL":12.5}\n' in printed
    assert '["hammer",1,12.5]\n' in printed
    (example,) = [block for block in blocks("python") if "streams_sql.client" in block]
    printed = run([sys.executable, "-"], example)
    assert "saw" in printed
    assert printed.endswith("nail 0.3\n")
    names = "dear", "turnover", "per_hour", "sales"
    sql_service.execute(
        "".join([f"DROP {'TABLE' if name in names[1:3] else 'STREAM'} {name} DELETE TOPIC;" for name in names])
    )


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
