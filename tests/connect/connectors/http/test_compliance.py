"""The HTTP sink passes what all sinks must, with records in lists and one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

import pytest

from connect.api.record import Record
from connect.compliance.sink import SinkCompliance
from connect.connectors.http.plugins import PLUGINS
from tests.connect.connectors.http.service import Answer, Request, Service

SECRET = "Bearer of-nobody"


def refuse_bad_rows(request: Request) -> Answer:
    rows = request.content if isinstance(request.content, list) else [request.content]
    return Answer(422, "bad") if any("bad" in row for row in rows) else Answer(200)


class TestLists(SinkCompliance):
    (plugin,) = PLUGINS
    config: ClassVar = {
        "batching.enabled": "true",
        "http.authorization.type": "static",
        "http.headers.authorization": SECRET,
    }

    @pytest.fixture(autouse=True)
    def _service(self, service: Service) -> None:
        self.service = service
        service.judge = refuse_bad_rows

    def arrange(self, folder: Path) -> Mapping[str, str]:
        return {"http.url": self.service.url}

    def written(self, folder: Path) -> Sequence[int]:
        return [row["id"] for row in self.service.taken]

    def bad_record(self, number: int) -> Record:
        return Record("t", {"id": number, "bad": True})

    def away(self, folder: Path) -> AbstractContextManager[None]:
        return self.service.away()


class TestOneByOne(TestLists):
    config: ClassVar = {"batching.enabled": "false"}
