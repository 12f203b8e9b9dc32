"""A file of SQL tests where the packages that they need are not installed. It must not take the other tests of the run with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


class UnreadySqlFile(pytest.File):
    """One item that fails. An error while collecting would end the run before its first test."""

    missing: str

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path, missing: str) -> UnreadySqlFile:
        file: UnreadySqlFile = cls.from_parent(parent, path=path)
        file.missing = missing
        return file

    def collect(self) -> Iterator[pytest.Item]:
        yield UnreadyItem.from_parent(self, name="all tests")


class UnreadyItem(pytest.Item):
    def runtest(self) -> None:
        assert isinstance(self.parent, UnreadySqlFile)
        pytest.fail(f"{self.path} needs {self.parent.missing}: pip install 'barnabas[sql]'", pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
