"""The tidy rules: each looks at the project and yields what breaks it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.tidy.project import PACKAGES, Module, Project

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 50

# What each room may import of ours, itself aside. What is not listed here may import anything.
ROOMS: dict[str, tuple[str, ...]] = {
    "barnabas.wire": (),
    "barnabas.kernel": ("barnabas.wire",),
    "barnabas.client": ("barnabas.kernel", "barnabas.wire"),
    # kafka-storage and kafka-dump-log work on the files of a broker.
    "barnabas.kafka_tools": ("barnabas.client", "barnabas.kernel", "barnabas.wire", "core_broker"),
    "core_broker": ("barnabas.kernel", "barnabas.wire"),
    "schema_registry": ("barnabas.kernel", "barnabas.wire"),
    "rest_proxy": ("barnabas.kernel", "barnabas.wire"),
    "connect": ("barnabas.kernel", "barnabas.wire"),
    "streams_sql": ("barnabas.kernel", "barnabas.wire"),
}
# What each package consists of, from the bottom to the top: a folder imports only from itself and from what comes before it. Single
# modules have a place as well if others import them; those that are not listed assemble the package, and come last.
ORDERS: dict[str, tuple[str, ...]] = {
    "barnabas": (
        "wire", "kernel", "client", "kafka_tools", "backup", "running_platform", "supervision", "platform", "services",
        "service_commands", "embedded", "testing", "connect", "sql", "cli", "reference",
    ),
    "core_broker": ("log", "security", "configs", "metadata", "quotas", "metrics", "coordinators", "apis"),
    "schema_registry": (
        "errors", "schema", "config", "mode", "subject", "formats", "store", "state", "turns", "parsing", "canonical_texts", "cluster",
        "scopes", "operations", "node", "write_order", "registry", "http",
    ),
    "rest_proxy": (
        "kafka", "clients", "formats", "origins", "record_headers", "record_log", "stopping", "proxy", "health", "problems", "whole_number", "v2", "v3",
        "streams",
    ),
    "connect": (
        "version", "errors", "data", "api", "converters", "transforms", "connectors", "plugins", "config", "tasks", "compliance",
        "cluster", "storage", "worker", "herder", "http",
    ),
    "streams_sql": (
        "problem", "sql_types", "function_declaration", "language", "sources", "typed", "evaluation", "formats", "functions", "plan",
        "processors", "bounded", "analysis", "local", "views", "written_time", "spark", "topics", "progress", "engine", "client_names",
        "settings", "engine_settings", "arrow_types", "clients", "http", "testing", "kafka_access", "properties", "own_folder", "assembly",
    ),
}  # fmt: skip
# Packages in which every folder works with the modules directly below the package, such as the broker: only folders are ordered.
SHARED_ROOTS = ("core_broker",)
# Programs that speak to people on standard output.
PRINTING_FOLDERS = ("barnabas/cli", "barnabas/kafka_tools", "benchmarks", "deploy", "tests/provision")
# A library that is whole whether or not a service uses all of it already: here a test is use enough.
LIBRARY_FOLDERS = ("barnabas/wire", "connect/compliance")
# What users import: only their code does.
PUBLIC_MODULES = ("barnabas.connect", "barnabas.sql", "barnabas.testing")
# The rules and their samples must spell out what they forbid.
RULE_FILES = ("tests/tidy/rules.py", "tests/test_tidy.py")

_UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_MACHINE = re.compile(
    r"(?<![\w.~-])/(?:home|root|Users|work)/\w+"
    r"|\b(?:pypi\.org|pythonhosted\.org|repo1?\.maven\.\w+|registry\.npmjs\.org|archive\.ubuntu\.com|deb\.debian\.org)\b"
)
_EMPTY_NOUN = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|misc)(?:_|$)")


@dataclass(frozen=True, slots=True)
class Violation:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


Rule = Callable[[Project], Iterator[Violation]]


def rooms(project: Project) -> Iterator[Violation]:
    """A room imports what it may, and a service never imports another."""
    for module in project.modules:
        room = _room(module.name)
        if room is None:
            continue
        for name in sorted(project.imports_of(module)):
            if name != "barnabas" and not _within(name, (room, *ROOMS[room])):
                yield Violation(module.path, 1, f"{room} may not import {name}")


def folders_keep_their_order(project: Project) -> Iterator[Violation]:
    """A folder of a package imports what comes before it in the package's order, and every folder has a place there."""
    for module in project.modules:
        package, _, rest = module.name.partition(".")
        own = rest.partition(".")[0]
        if package not in ORDERS or not own:
            continue
        if own not in ORDERS[package] and module.path.count("/") > 1:
            yield Violation(module.path, 1, f"{package}/{own} has no place in the order of {package}")
        for name in sorted(project.imports_of(module)):
            imported_package, _, imported = name.partition(".")
            if imported_package == package and _comes_before(own, imported.partition(".")[0], package):
                yield Violation(module.path, 1, f"{package}/{own} comes before {name}")


def file_length(project: Project) -> Iterator[Violation]:
    for module in project.modules:
        length = len(module.text.splitlines())
        if length > FILE_LINES_MAX:
            yield Violation(module.path, length, f"the file has {length} lines, {FILE_LINES_MAX} are allowed")


def function_length(project: Project) -> Iterator[Violation]:
    for module, node in _nodes(project):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                text = f"{node.name} has {length} lines, {FUNCTION_LINES_MAX} are allowed"
                yield Violation(module.path, node.lineno, text)


def printing(project: Project) -> Iterator[Violation]:
    """Only programs for people write to standard output."""
    for module, node in _nodes(project):
        if not module.inside(*PRINTING_FOLDERS) and isinstance(node, ast.Call) and _called(node) in _PRINTING:
            yield Violation(
                module.path, node.lineno, f"{_called(node)} outside of the folders of programs: use the log"
            )


def bare_except(project: Project) -> Iterator[Violation]:
    for module, node in _nodes(project):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield Violation(module.path, node.lineno, "bare except: name what is expected")


def package_logic(project: Project) -> Iterator[Violation]:
    """An `__init__.py` is empty, or holds a docstring."""
    for module in project.modules:
        for node in module.tree.body if module.is_package else []:
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                yield Violation(module.path, node.lineno, "__init__.py may hold a docstring and nothing else")


def dead_modules(project: Project) -> Iterator[Violation]:
    """Something imports each module; a module of the product is alive only if the product imports it."""
    by_product: set[str] = set()
    by_anything: set[str] = set()
    for module in project.modules:
        imported = project.imports_of(module) - {module.name}
        by_anything |= imported
        if module.inside(*PACKAGES):
            by_product |= imported
    for module in project.modules:
        is_product = module.inside(*PACKAGES) and not module.inside(*LIBRARY_FOLDERS)
        alive = by_product if is_product and module.name not in PUBLIC_MODULES else by_anything
        if not (module.name in alive or _starts_by_itself(module)):
            yield Violation(module.path, 1, f"nothing imports {module.name}")


def empty_names(project: Project) -> Iterator[Violation]:
    """A module is named for what it is."""
    for module in project.modules:
        for part in module.name.split("."):
            if _EMPTY_NOUN.search(part):
                yield Violation(module.path, 1, f"{part!r} says nothing of what is inside")


def machine_traces(project: Project) -> Iterator[Violation]:
    """No path of one machine and no package host stands in the tree."""
    return _matches(project, _MACHINE, "belongs to one machine")


def unfinished(project: Project) -> Iterator[Violation]:
    return _matches(project, _UNFINISHED, "marks something unfinished: finish it, or write it into GAPS.md")


RULES: tuple[Rule, ...] = (
    rooms,
    folders_keep_their_order,
    file_length,
    function_length,
    printing,
    bare_except,
    package_logic,
    dead_modules,
    empty_names,
    machine_traces,
    unfinished,
)

_PRINTING = frozenset({"print", "sys.stdout.write"})


def _nodes(project: Project) -> Iterator[tuple[Module, ast.AST]]:
    for module in project.modules:
        for node in module.nodes:
            yield module, node


def _called(node: ast.Call) -> str:
    """The dotted name of what is called; empty for anything else than names."""
    parts: list[str] = []
    function = node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    return ".".join((function.id, *reversed(parts))) if isinstance(function, ast.Name) else ""


def _room(name: str) -> str | None:
    return next((room for room in ROOMS if _within(name, (room,))), None)


def _comes_before(own: str, imported: str, package: str) -> bool:
    order = ORDERS[package]
    if package in SHARED_ROOTS and not {own, imported} <= set(order):
        return False
    own_place, place = (order.index(each) if each in order else len(order) for each in (own, imported))
    return bool(imported) and own_place < place


def _within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _starts_by_itself(module: Module) -> bool:
    """Tests, packages and programs need no importer; a program of the product lies where programs lie."""
    file_name = module.path.rpartition("/")[2]
    if module.is_package or file_name.startswith("test_") or file_name in ("conftest.py", "__main__.py"):
        return True
    return module.is_program and (not module.inside(*PACKAGES) or module.inside(*PRINTING_FOLDERS))


def _matches(project: Project, pattern: re.Pattern[str], complaint: str) -> Iterator[Violation]:
    for path, text in project.texts.items():
        # Almost no file has any, and a look at all of it takes a tenth of the time that its lines take.
        if path in RULE_FILES or not pattern.search(text):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if match := pattern.search(line):
                yield Violation(path, number, f"{match[0]!r} {complaint}")
