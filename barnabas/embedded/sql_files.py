"""Files of SQL tests among those of pytest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from barnabas.embedded.lazy_registry import LazyRegistry
from streams_sql.formats.serde import RegistryAccess
from streams_sql.testing.runs import Failure, run_test
from streams_sql.testing.script import SqlTest, UnreadableFile, read_tests

_REGISTRY: Final = pytest.StashKey[LazyRegistry]()


class SqlFile(pytest.File):
    """`test_*.sql` or `*_test.sql`."""

    def collect(self) -> Iterator[SqlItem]:
        try:
            tests = read_tests(self.path)
        except UnreadableFile as problem:
            where = self.path if problem.line is None else f"{self.path}:{problem.line}"
            raise self.CollectError(f"{where}: {problem}") from None
        for test in tests:
            yield SqlItem.of(self, test)


class SqlItem(pytest.Item):
    sql_test: SqlTest

    @classmethod
    def of(cls, parent: SqlFile, test: SqlTest) -> SqlItem:
        item: SqlItem = cls.from_parent(parent, name=test.name)
        item.sql_test = test
        return item

    def runtest(self) -> None:
        registry = _registry(self.config)
        failure = run_test(self.sql_test, lambda: RegistryAccess(registry.url)).failure
        if failure is not None:
            raise SqlTestFailed(failure)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None) -> str:
        if isinstance(excinfo.value, SqlTestFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.sql_test.line - 1, self.name


class SqlTestFailed(Exception):
    """What the report shows."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))


def _registry(config: pytest.Config) -> LazyRegistry:
    """One for a whole run."""
    if _REGISTRY not in config.stash:
        config.stash[_REGISTRY] = registry = LazyRegistry()
        config.add_cleanup(registry.close)
    return config.stash[_REGISTRY]
