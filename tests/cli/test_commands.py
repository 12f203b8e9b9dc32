"""The table of commands: every module has its two functions, and is imported when its command is called."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import signature

import pytest

from barnabas.cli.commands import COMMANDS, Commands
from tests.cli.conftest import environment


def modules(commands: Commands) -> Iterator[str]:
    for _, source in commands.values():
        if isinstance(source, str):
            yield source
        else:
            yield from modules(source)


MODULES = sorted(set(modules(COMMANDS)))


@pytest.mark.parametrize("name", MODULES)
def test_a_command_has_arguments_and_something_to_run(name: str) -> None:
    module = import_module(name)
    assert list(signature(module.add_arguments).parameters) == ["parser"]
    assert list(signature(module.run).parameters) == ["arguments"]
    assert signature(module.run).return_annotation == "int"


@pytest.mark.parametrize(
    ("words", "imported"),
    [
        (("topics", "list"), ["barnabas.cli.topics.list"]),
        (("topics", "list", "--help"), ["barnabas.cli.topics.list"]),
        (("configs", "set", "topic", "t", "a=b"), ["barnabas.cli.configs.set"]),
        (("topics", "--help"), []),
        (("--help",), []),
    ],
)
def test_a_command_imports_its_own_module_and_no_other(words: tuple[str, ...], imported: list[str]) -> None:
    program = (
        "import sys; from barnabas.cli.main import main\n"
        f"try: main([*{words!r}])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {MODULES!r} if name in sys.modules])\n"
        "print([name for name in ('rich', 'core_broker', 'streams_sql', 'confluent_kafka') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-2:] == [str(imported), "[]"]


def test_help_and_completion_need_no_package_of_a_service() -> None:
    program = (
        "import sys\n"
        "for name in ('confluent_kafka', 'httpx', 'orjson', 'pyarrow', 'pyspark', 'sqlglot', 'starlette', 'yaml'): "
        "sys.modules[name] = None\n"
        "from barnabas.cli.command_parser import command_parser\n"
        "command_parser().load_all()"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True)
