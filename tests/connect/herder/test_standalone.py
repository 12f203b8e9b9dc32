"""A standalone worker: connectors from files, offsets in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from connect.herder.connector_files import read_connector
from connect.storage.status import TargetState
from tests.broker import BarnabasBroker
from tests.connect_service import ConnectProcess
from tests.waiting import wait_for


def test_connectors_come_from_files_and_offsets_stay_in_one(
    barnabas: BarnabasBroker, tmp_path: Path, topic: str
) -> None:
    lines, offsets, connector = tmp_path / "lines.txt", tmp_path / "offsets", tmp_path / "lines.properties"
    lines.write_text("one\ntwo\n")
    connector.write_text(f"name=lines\nconnector.class=FileStreamSource\nfile={lines}\ntopic={topic}\n")
    settings = {"offset.storage.file.filename": str(offsets), "standalone.connectors": str(connector)}
    worker = ConnectProcess(tmp_path / "worker", barnabas.address, topic, settings=settings)
    worker.start()
    worker.wait_for_tasks("lines", ["RUNNING"])

    def reached() -> list[tuple[object, object]]:
        found = worker.call("GET", "/connectors/lines/offsets").json()["offsets"]
        return [(each["partition"], each["offset"]["position"]) for each in found]

    # The worker tells only what is in the file already.
    wait_for(lambda: reached() == [({"filename": str(lines)}, 8)], "both lines to be read")
    assert '\\"position\\":8' in offsets.read_text()
    assert worker.stop() == 0


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("c.properties", "name=c\ntasks.max=2\n", ("c", {"name": "c", "tasks.max": "2"}, None)),
        ("c.json", json.dumps({"name": "c", "tasks.max": 2}), ("c", {"name": "c", "tasks.max": "2"}, None)),
        (
            "c.json",
            json.dumps({"name": "c", "config": {"a": True}, "initial_state": "PAUSED"}),
            ("c", {"a": "true"}, TargetState.PAUSED),
        ),
        (
            "c.json",
            json.dumps({"name": "c", "config": {}, "initial_state": "RUNNING"}),
            ("c", {}, TargetState.STARTED),
        ),
    ],
)
def test_a_connector_in_a_file(
    tmp_path: Path, name: str, content: str, expected: tuple[str, dict[str, str], TargetState | None]
) -> None:
    file = tmp_path / name
    file.write_text(content)
    found = read_connector(file)
    assert (found.name, found.config, found.initial_state) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [("c.json", "[]"), ("c.json", "{"), ("c.json", '{"config": {}}'), ("c.properties", "tasks.max=1")],
)
def test_a_file_that_holds_no_connector(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(SettingError, match=r"standalone\.connectors"):
        read_connector(file)
