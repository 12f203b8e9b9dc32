"""Plugins in single Python files, which need no package."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from connect.api.plugin import Plugin
from connect.errors import ConnectError


def load(paths: Iterable[str]) -> Iterator[Plugin]:
    """The plugins that files declare; of a folder, all its Python files. ConnectError when one cannot be loaded.

    Files written for Java's workers name jars and folders of jars, which need not be here: they are passed over.
    """
    for path in paths:
        for file in _files(Path(path)):
            yield from _plugins_of(file)


def passed_over(paths: Iterable[str]) -> list[str]:
    """The paths that are neither a folder nor a Python file."""
    return [path for path in paths if not Path(path).is_dir() and not _files(Path(path))]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.py"))
    if path.suffix != ".py":
        return []
    if not path.is_file():
        raise ConnectError(f"plugin.path: there is no file {path}")
    return [path]


def _plugins_of(file: Path) -> Iterator[Plugin]:
    name = f"connect_plugin_{file.stem}"
    spec = spec_from_file_location(name, file)
    assert spec is not None, f"{file} has the name of a Python file"
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Dataclasses look up the module of their types there.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConnectError(f"plugin.path: {file} cannot be loaded: {type(error).__name__}: {error}") from error
    yield from (value for value in vars(module).values() if isinstance(value, Plugin))
