"""The worker's side: processes that crash, hang, answer questions, and die with their worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from connect.api.source import SourceOffset
from connect.errors import InvalidOffsets, Problem
from connect.tasks import host
from connect.tasks.host import CallFailure, ProcessEnd
from connect.tasks.messages import OffsetReport, ShardList, TaskEnd, TaskFailure, UsedTopics
from tests.broker import BrokerProcess
from tests.connect.tasks import topics
from tests.connect.tasks.running_tasks import RunningTasks, connector, worker_config
from tests.waiting import wait_for

NOWHERE = worker_config("127.0.0.1:1")
DEADLINE_S = 90
SLOW = {"pause": "0.05", "batch": "1", "count": "100000"}
# A worker that starts one task, tells its process id, and does nothing more.
WORKER = """
import asyncio, sys
from connect.tasks.host import TaskHost
from tests.connect.tasks.running_tasks import worker_config
from connect.tasks.spec import TaskId, TaskSpec

async def main(bootstrap, topic):
    config = {"connector.class": "tests.Numbers", "topic": topic, "pause": "0.05", "batch": "1"}
    spec = TaskSpec(TaskId("orphan", 0), config, worker_config(bootstrap))
    task = await TaskHost().start(spec, lambda message: None, lambda end: None)
    print(task.pid, flush=True)
    await asyncio.sleep(3600)

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
"""
# A worker that asks a question of a connector. The process that the connector's is forked from loads this file first, and gets the
# signals that end all processes of a service, or of a terminal, while it is starting.
SIGNALLED = """
import asyncio, os, signal
from connect.tasks.host import TaskHost
from tests.connect.tasks.running_tasks import connector, worker_config

if __name__ == "__mp_main__":
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(os.getpid(), number)

async def main():
    config = {"connector.class": "tests.Numbers", "topic": "somewhere"}
    print(await TaskHost().check(connector(config, worker_config("127.0.0.1:1"))))

if __name__ == "__main__":
    asyncio.run(main())
"""


def numbers(topic: str = "somewhere", **further: str) -> dict[str, str]:
    return {"connector.class": "tests.Numbers", "topic": topic, **further}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_task_dies_with_its_worker(barnabas: BrokerProcess, topic: str, tmp_path: Path) -> None:
    program = tmp_path / "worker.py"
    program.write_text(WORKER)
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, str(program), barnabas.address, topic]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}) as worker:
        assert worker.stdout is not None
        pid = int(worker.stdout.readline())
        topics.wait_for_values(barnabas.address, topic, 1)
        worker.kill()
    wait_for(lambda: not is_alive(pid), "the task to end")


def test_a_task_that_crashes_leaves_a_note_and_harms_no_other(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str
) -> None:
    other = tasks.start("other", numbers(topic, **SLOW), worker_config(barnabas.address))
    crashing = tasks.start("crashing", numbers(topic, behaviour="crashes"), worker_config(barnabas.address))
    end = crashing.wait_for_end()
    assert end.exit_code == -11
    assert end.trace is not None
    assert end.trace.startswith("The process of the task was killed by signal 11 (SIGSEGV).")
    other.wait_for(UsedTopics)
    assert other.end is None


def test_an_end_is_told_though_its_status_is_there_a_moment_later(
    tasks: RunningTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int | None] = []

    def late_status(process: ForkServerProcess) -> int | None:
        looks.append(None if len(looks) < 3 else process._popen.poll())  # type: ignore[attr-defined]
        return looks[-1]

    monkeypatch.setattr(ForkServerProcess, "exitcode", property(late_status))
    crashing = tasks.start("crashing", numbers(behaviour="crashes"), NOWHERE)
    assert crashing.wait_for_end().exit_code == -11
    assert looks[:3] == [None] * 3


@pytest.mark.parametrize(("behaviour", "timeout_s", "exit_code"), [("hangs", DEADLINE_S, 0), ("hangs on", 0.1, -9)])
def test_a_task_that_hangs_is_ended_when_its_time_is_over(
    tasks: RunningTasks,
    behaviour: str,
    timeout_s: float,
    exit_code: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(host, "TERMINATION_TIMEOUT_S", timeout_s)
    begun = tmp_path / "begun"
    hanging = tasks.start("hanging", numbers(behaviour=behaviour, begun=str(begun)), NOWHERE)
    wait_for(begun.exists, "the task to hang")
    assert tasks.stop(hanging, grace_s=0.1) == ProcessEnd(exit_code, None)
    assert bool(hanging.said(TaskEnd)) == (exit_code == 0)
    assert not is_alive(hanging.pid)


def test_a_signal_to_all_processes_of_a_worker_stops_its_tasks_properly(
    tasks: RunningTasks, barnabas: BrokerProcess, topic: str
) -> None:
    task = tasks.start("signalled", numbers(topic, **SLOW), worker_config(barnabas.address))
    task.wait_for(UsedTopics)
    parent = int(Path(f"/proc/{task.pid}/stat").read_text().rpartition(")")[2].split()[1])
    for pid in (parent, task.pid):
        os.kill(pid, signal.SIGTERM)
    assert task.wait_for_end() == ProcessEnd(0, None)
    assert task.said(OffsetReport)
    assert task.said(TaskEnd)


def test_signals_to_all_processes_do_not_end_one_that_is_starting(tmp_path: Path) -> None:
    program = tmp_path / "worker.py"
    program.write_text(SIGNALLED)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    ran = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert (ran.stdout, ran.stderr) == ("(Problem(name='topic', message='nobody answers'),)\n", "")


def test_a_trace_tells_the_cause_and_no_secret(tasks: RunningTasks) -> None:
    failing = tasks.start("failing", numbers(behaviour="fails", password="hunter2"), NOWHERE)
    trace = failing.wait_for(TaskFailure).trace
    assert trace.splitlines()[:2] == ["RuntimeError: cannot log in with [hidden]", "Caused by: KeyError: 'column'"]
    assert "hunter2" not in trace
    assert failing.wait_for_end().trace is None


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "connector.class is missing"),
        ({"connector.class": "tests.Number"}, "which name matches tests.Number (did you mean"),
        ({"connector.class": "tests.Numbers"}, 'Missing required configuration "topic"'),
        (numbers(transforms="x"), "transforms.x.type is missing"),
        (numbers(transforms="x", **{"transforms.x.type": "tests.Drop", "transforms.x.predicate": "p"}), "predicate p"),
        (numbers(**{"transaction.boundary": "connector"}), "use poll or interval"),
    ],
)
def test_a_wrong_configuration_fails_with_its_reason(tasks: RunningTasks, config: dict[str, str], said: str) -> None:
    assert said in tasks.start("wrong", config, NOWHERE).wait_for(TaskFailure).trace.splitlines()[0]


def test_questions_to_a_connector(tasks: RunningTasks) -> None:
    asked = connector(numbers(), NOWHERE)
    shards = tasks.call(tasks.host.find_shards(asked))
    assert shards == ShardList(({"part": 0}, {"part": 1}, {"part": 2}), rescan_s=7.0, is_exactly_once=True)
    assert tasks.call(tasks.host.check(asked)) == (Problem("topic", "nobody answers"),)
    tasks.call(tasks.host.check_offsets(asked, [SourceOffset({}, {"next": 5}), SourceOffset({}, None)]))
    with pytest.raises(InvalidOffsets, match="next must be a whole number, not five"):
        tasks.call(tasks.host.check_offsets(asked, [SourceOffset({}, {"next": "five"})]))


def test_shards_may_follow_from_the_number_of_tasks(tasks: RunningTasks) -> None:
    config = {"connector.class": "datagen", "kafka.topic": "t", "quickstart": "users", "tasks.max": "3"}
    found = tasks.call(tasks.host.find_shards(connector(config, NOWHERE)))
    assert [shard["generator"] for shard in found.shards] == ["0", "1", "2"]
    tasks.call(
        tasks.host.check_offsets(connector(config, NOWHERE), [SourceOffset({"generator": "2"}, {"position": 5})])
    )


def test_questions_that_get_no_answer(tasks: RunningTasks) -> None:
    with pytest.raises(CallFailure, match=r"did not answer within 0\.3 s"):
        tasks.call(tasks.host.find_shards(connector(numbers(behaviour="hangs"), NOWHERE), timeout_s=0.3))
    with pytest.raises(CallFailure, match="SIGSEGV"):
        tasks.call(tasks.host.check(connector(numbers(behaviour="crashes"), NOWHERE)))
    with pytest.raises(CallFailure, match="is no source"):
        tasks.call(tasks.host.find_shards(connector({"connector.class": "tests.Lines", "file": "x"}, NOWHERE)))


def test_former_tasks_can_be_shut_out(tasks: RunningTasks, barnabas: BrokerProcess, topic: str) -> None:
    worker = worker_config(barnabas.address, f"{topic}-offsets", exactly_once_source=True)
    zombie = tasks.start("asked", numbers(topic, **SLOW), worker)
    zombie.wait_for(UsedTopics)
    tasks.call(tasks.host.fence(connector(numbers(topic), worker), 1))
    assert "another process runs this task now" in zombie.wait_for(TaskFailure).trace
