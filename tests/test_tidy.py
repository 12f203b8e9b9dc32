"""The project keeps its own rules, and each rule bites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.tidy import rules
from tests.tidy.exemptions import EXEMPTIONS
from tests.tidy.project import Project
from tests.tidy.rules import FILE_LINES_MAX, FUNCTION_LINES_MAX, RULES, Rule, Violation

REASON_CHARACTERS_MIN = 20

Violations = Callable[[Rule], tuple[Violation, ...]]


@pytest.fixture(scope="module")
def violations() -> Violations:
    """What a rule finds in the project."""
    project = Project(Path(__file__).parent.parent)
    return cache(lambda rule: tuple(rule(project)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps_the_rule(violations: Violations, rule: Rule) -> None:
    found = [violation for violation in violations(rule) if (rule.__name__, violation.path) not in EXEMPTIONS]
    assert not found, "\n".join(str(violation) for violation in found)


def test_each_exemption_is_needed_and_has_a_reason(violations: Violations) -> None:
    needed = {(rule.__name__, violation.path) for rule in RULES for violation in violations(rule)}
    assert [exemption for exemption in EXEMPTIONS if exemption not in needed] == []
    assert [exemption for exemption, reason in EXEMPTIONS.items() if len(reason) < REASON_CHARACTERS_MIN] == []


def broken(rule: Rule, folder: Path, files: Mapping[str, str]) -> list[str]:
    """Write a small project and return the paths in which the rule finds something."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [violation.path for violation in rule(Project(folder))]


def function_of(lines: int) -> str:
    return "def long() -> None:\n" + "    x = 1\n" * (lines - 1)


BROKER_AND_OTHERS = {
    "barnabas/kernel/settings.py": "",
    "barnabas/wire/codec.py": "",
    "barnabas/client/admin.py": "",
    "barnabas/platform.py": "",
    "core_broker/log.py": "",
    "schema_registry/store.py": "",
    "tests/fixtures.py": "",
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core_broker/bad.py", "import schema_registry.store\n"),
        ("core_broker/bad.py", "from schema_registry import store\n"),
        ("core_broker/bad.py", "from barnabas.platform import Platform\n"),
        ("core_broker/bad.py", "def late() -> None:\n    import barnabas.platform\n"),
        ("core_broker/bad.py", "from importlib import import_module\nimport_module('schema_registry.store')\n"),
        ("core_broker/bad.py", "from tests import fixtures\n"),
        ("barnabas/kernel/bad.py", "from core_broker import log\n"),
        ("barnabas/kernel/bad.py", "from barnabas.client import admin\n"),
        ("barnabas/client/bad.py", "from core_broker import log\n"),
        ("barnabas/wire/bad.py", "from barnabas.kernel.settings import Setting\n"),
        ("schema_registry/bad.py", "from core_broker.log import PartitionLog\n"),
    ],
)
def test_an_import_from_the_wrong_room_is_found(tmp_path: Path, path: str, text: str) -> None:
    assert broken(rules.rooms, tmp_path, {**BROKER_AND_OTHERS, path: text}) == [path]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core_broker/good.py", "import os\nfrom barnabas.kernel import settings\nfrom core_broker import log\n"),
        ("schema_registry/good.py", "from barnabas.wire.codec import decode\n"),
        ("barnabas/cli.py", "from core_broker import log\nimport schema_registry.store\n"),
        ("tests/test_log.py", "from core_broker import log\n"),
    ],
)
def test_an_import_from_an_allowed_room_passes(tmp_path: Path, path: str, text: str) -> None:
    assert broken(rules.rooms, tmp_path, {**BROKER_AND_OTHERS, path: text}) == []


ORDERED = {
    "connect/__init__.py": "",
    "connect/errors.py": "class Failure(Exception): ...\n",
    "connect/data/__init__.py": "",
    "connect/data/schema.py": "from connect import errors\nfrom connect.data import schema\n",
    "connect/http/server.py": "from connect.data.schema import Schema\nimport connect.errors\n",
    "connect/main.py": "from connect.http import server\n",
    "connect/assembly.py": "import connect.main\n",
    # Here the modules directly below the package are free.
    "core_broker/broker.py": "import core_broker.apis.fetch\n",
    "core_broker/log/segment.py": "import core_broker.broker\n",
    "core_broker/apis/fetch.py": "import core_broker.broker\nimport core_broker.log.segment\n",
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("connect/data/bad.py", "from connect.http.server import Server\n"),
        ("connect/data/bad.py", "def late() -> None:\n    from connect.http import server\n"),
        ("connect/data/bad.py", "from connect.main import run\n"),
        ("connect/http/bad.py", "AT = 'connect.main:run'\n"),
        ("connect/version.py", "import connect.errors\n"),
        ("core_broker/log/bad.py", "import core_broker.apis.fetch\n"),
        ("connect/unknown/bad.py", ""),
    ],
)
def test_an_import_against_the_order_of_folders_is_found(tmp_path: Path, path: str, text: str) -> None:
    assert broken(rules.folders_keep_their_order, tmp_path, {**ORDERED, path: text}) == [path]


def test_imports_in_the_order_of_folders_pass(tmp_path: Path) -> None:
    assert broken(rules.folders_keep_their_order, tmp_path, ORDERED) == []


def test_a_long_file_is_found(tmp_path: Path) -> None:
    files = {"barnabas/long.py": "x = 1\n" * (FILE_LINES_MAX + 1), "barnabas/full.py": "x = 1\n" * FILE_LINES_MAX}
    assert broken(rules.file_length, tmp_path, files) == ["barnabas/long.py"]


def test_a_long_function_is_found(tmp_path: Path) -> None:
    files = {
        "barnabas/long.py": function_of(FUNCTION_LINES_MAX + 1),
        "barnabas/full.py": function_of(FUNCTION_LINES_MAX),
        "tests/long_method.py": "class A:\n    async " + function_of(FUNCTION_LINES_MAX + 1).replace("\n", "\n    "),
    }
    assert broken(rules.function_length, tmp_path, files) == ["barnabas/long.py", "tests/long_method.py"]


def test_print_outside_of_programs_is_found(tmp_path: Path) -> None:
    text = "print('hello')\n"
    files = {
        "core_broker/server.py": text,
        "barnabas/kernel/loud.py": "import sys\nsys.stdout.write('hello')\n",
        "barnabas/cli/main.py": text,
        "barnabas/kafka_tools/commands/topics.py": text,
        "core_broker/quiet.py": "# print('hello')\n'print()'\n",
    }
    assert broken(rules.printing, tmp_path, files) == ["barnabas/kernel/loud.py", "core_broker/server.py"]


def test_a_bare_except_is_found(tmp_path: Path) -> None:
    attempt = "try:\n    pass\nexcept{}:\n    pass\n"
    files = {"core_broker/bad.py": attempt.format(""), "core_broker/good.py": attempt.format(" OSError")}
    assert broken(rules.bare_except, tmp_path, files) == ["core_broker/bad.py"]


def test_logic_in_a_package_file_is_found(tmp_path: Path) -> None:
    files = {
        "barnabas/__init__.py": '"""A docstring."""\n',
        "barnabas/empty/__init__.py": "",
        "barnabas/exporting/__init__.py": "from barnabas.empty import x\n",
        "barnabas/acting/__init__.py": "VERSION = 1\n",
    }
    assert broken(rules.package_logic, tmp_path, files) == [
        "barnabas/acting/__init__.py",
        "barnabas/exporting/__init__.py",
    ]


def test_a_module_that_nothing_imports_is_found(tmp_path: Path) -> None:
    program = "if __name__ == '__main__':\n    pass\n"
    files = {
        "barnabas/__main__.py": "from barnabas import used\n",
        "barnabas/used.py": "AT = 'core_broker.main:PROGRAM'\n",
        "barnabas/dead.py": "",
        "barnabas/program_in_the_wrong_place.py": program,
        "barnabas/imports_itself.py": "import barnabas.imports_itself\n",
        "core_broker/main.py": "",
        "core_broker/only_tested.py": "",
        "barnabas/wire/only_tested.py": "",
        "benchmarks/broker.py": program,
        "benchmarks/dead.py": "",
        "tests/test_only.py": "from core_broker import only_tested\nimport barnabas.wire.only_tested\nfrom tests.sample import x\n",
        "tests/sample.py": "",
        "tests/conftest.py": "",
    }
    assert broken(rules.dead_modules, tmp_path, files) == [
        "barnabas/dead.py",
        "barnabas/imports_itself.py",
        "barnabas/program_in_the_wrong_place.py",
        "core_broker/only_tested.py",
        "benchmarks/dead.py",
    ]


def test_a_module_that_a_table_names_is_alive(tmp_path: Path) -> None:
    files = {
        "barnabas/__main__.py": "KEYS = {2: 'ListOffsets'}\ndef module(name: str) -> str:\n    return f'core_broker.apis.{name}'\n",
        "core_broker/apis/__init__.py": "",
        "core_broker/apis/list_offsets.py": "",
        "core_broker/apis/forgotten.py": "",
    }
    assert broken(rules.dead_modules, tmp_path, files) == ["core_broker/apis/forgotten.py"]


@pytest.mark.parametrize("name", ["utils", "log_helper", "manager"])
def test_a_name_that_says_nothing_is_found(tmp_path: Path, name: str) -> None:
    assert broken(rules.empty_names, tmp_path, {f"core_broker/{name}.py": "", "core_broker/utility.py": ""}) == [
        f"core_broker/{name}.py"
    ]


@pytest.mark.parametrize("text", ["# see /home/anna/notes\n", "path = '/root/data'\n", "url = 'https://pypi.org/x'\n"])
def test_a_trace_of_one_machine_is_found(tmp_path: Path, text: str) -> None:
    files = {
        "README.md": text,
        "barnabas/bad.py": text,
        "barnabas/good.py": "# ~/work/x and https://example.org/home/x\n",
    }
    assert broken(rules.machine_traces, tmp_path, files) == ["README.md", "barnabas/bad.py"]


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK"])
def test_unfinished_work_is_found(tmp_path: Path, word: str) -> None:
    files = {
        "DESIGN.md": f"{word}: more\n",
        "tests/test_a.py": f"# {word} later\n",
        "barnabas/good.py": "# todos los dias\n",
    }
    assert broken(rules.unfinished, tmp_path, files) == ["DESIGN.md", "tests/test_a.py"]


def test_every_rule_has_a_sample_that_breaks_it() -> None:
    source = Path(__file__).read_text()
    assert [rule.__name__ for rule in RULES if f"broken(rules.{rule.__name__}," not in source] == []
