"""The files of the project, read once, for rules to look at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

# Folders of Python code that make up the project, as far as they exist.
PACKAGES = ("barnabas", "core_broker", "schema_registry", "rest_proxy", "connect", "streams_sql")
CODE_FOLDERS = (*PACKAGES, "tests", "benchmarks", "deploy")
_LOOKED_AT = (
    ast.Import,
    ast.ImportFrom,
    ast.Constant,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Call,
    ast.ExceptHandler,
)
TEXT_SUFFIXES = frozenset({".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".sh", ".json", ".cfg", ".c", ""})


@dataclass(frozen=True)
class Module:
    """One Python file."""

    path: str
    text: str
    tree: ast.Module = field(repr=False)

    @property
    def name(self) -> str:
        parts = self.path.removesuffix(".py").split("/")
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    def inside(self, *folders: str) -> bool:
        return self.path.startswith(tuple(f"{folder}/" for folder in folders))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The nodes that rules look at, from one walk through the tree: there are millions of others."""
        return tuple(node for node in ast.walk(self.tree) if isinstance(node, _LOOKED_AT))

    @cached_property
    def imports(self) -> frozenset[str]:
        """The dotted names that the module imports: of `from a import b` both `a` and `a.b`, since `b` may be a module."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
                names.update(f"{node.module}.{alias.name}" for alias in node.names)
        return frozenset(names)

    @cached_property
    def strings(self) -> frozenset[str]:
        """Every string constant, docstrings and pieces of f-strings among them."""
        found = (node.value for node in self.nodes if isinstance(node, ast.Constant))
        return frozenset(value for value in found if isinstance(value, str))

    @cached_property
    def is_program(self) -> bool:
        return self.path.endswith("/__main__.py") or "__main__" in self.strings


class Project:
    """The files below a root folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def modules(self) -> list[Module]:
        return [self._read(path) for path in self._files() if path.suffix == ".py"]

    @cached_property
    def texts(self) -> dict[str, str]:
        """Every text file by its path, code and documents alike."""
        paths = [path for path in self._files() if path.suffix in TEXT_SUFFIXES]
        return {self._relative(path): path.read_text(errors="replace") for path in paths}

    @cached_property
    def by_name(self) -> dict[str, Module]:
        return {module.name: module for module in self.modules}

    def imports_of(self, module: Module) -> frozenset[str]:
        """The project's own modules that a module imports, by statement or by name at run time."""
        named = {name for text in module.strings if (name := text.partition(":")[0]) in self.by_name}
        return frozenset(name for name in module.imports if name in self.by_name) | named | self._named_in_table(module)

    def _named_in_table(self, module: Module) -> frozenset[str]:
        """Modules of a package that is mentioned as `"package."`, beside strings that name the modules (`ListOffsets`: list_offsets)."""
        prefixes = {text for text in module.strings if text.endswith(".") and text[:-1] in self.by_name}
        if not prefixes:
            return frozenset()
        names = {_snake_case(text) for text in module.strings if text.isidentifier()}
        return frozenset(
            f"{prefix}{name}" for prefix in prefixes for name in names if f"{prefix}{name}" in self.by_name
        )

    def _files(self) -> Iterator[Path]:
        for path in sorted(self.root.iterdir()):
            # In a second work tree, .git is a file that says where the repository is.
            if path.is_file() and path.name != ".git":
                yield path
        for folder in (*CODE_FOLDERS, ".ci"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    yield path

    def _read(self, path: Path) -> Module:
        text = path.read_text()
        return Module(self._relative(path), text, ast.parse(text, filename=str(path)))

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def _snake_case(name: str) -> str:
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()
