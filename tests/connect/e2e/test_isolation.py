"""A connector that hangs, loops or crashes harms no other."""

from __future__ import annotations

from pathlib import Path

from tests.broker import BarnabasBroker
from tests.connect.conftest import StartWorker
from tests.connect.e2e import bad_connectors
from tests.connect.e2e.pipelines import file_source, task_processes
from tests.connect.tasks.topics import wait_for_values
from tests.waiting import wait_for

FATES = {
    "hangs": "RUNNING",
    "loops": "RUNNING",
    "crashes": "killed by signal 11 (SIGSEGV)",
    "exits": "ended with the status 7",
}


def test_bad_connectors_harm_no_other(
    barnabas: BarnabasBroker, start_worker: StartWorker, topic: str, tmp_path: Path
) -> None:
    worker = start_worker(barnabas.address, plugin_path=bad_connectors.__file__, task_shutdown_graceful_timeout_ms=200)
    file = tmp_path / "lines.txt"
    file.write_text("before\n")
    worker.create("good", file_source(file, topic))
    wait_for_values(barnabas.address, topic, 1)
    (good,) = task_processes(worker)
    for how in ("hangs-at-once", *FATES):
        worker.create(how, {"connector.class": "bad", "how": how})
    for how, said in FATES.items():
        wait_for(lambda how=how, said=said: said in str(worker.status(how)), f"{how} to be told")  # type: ignore[misc]
    with file.open("a") as more:
        more.write("after\n")
    assert wait_for_values(barnabas.address, topic, 2) == ["before", "after"]
    # One that hangs takes a change at once, and all can be deleted.
    worker.create("hangs-at-once", {"connector.class": "bad", "how": "hangs"})
    worker.wait_for_tasks("hangs-at-once", ["RUNNING"])
    worker.create("hangs-at-once", {"connector.class": "bad", "how": "hangs-at-once"})
    for how in ("hangs-at-once", *FATES):
        assert worker.call("DELETE", f"/connectors/{how}").status_code == 204
    wait_for(lambda: task_processes(worker) == {good}, "the processes of the bad connectors to be gone")
