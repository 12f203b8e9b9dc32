"""`barnabas connectors` against a worker: the life of a connector from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.connectors import client
from barnabas.cli.main import main
from barnabas.kernel.settings import MASK
from tests.cli.conftest import environment
from tests.cli.connectors.small_worker import PLUGIN, SmallWorker
from tests.ports import free_port

Connectors = Callable[..., str]
Refused = Callable[..., tuple[int, str]]
Captured = pytest.CaptureFixture[str]

TRACE = "connect.errors.ConnectError: the disk is full\n\tat line 1\x1b[31m\n"
METRICS = """\
connect_task_sink_record_send_rate{connector="files",task="0"} 120.4
connect_task_sink_record_send_rate{connector="files",task="1"} 30.0
connect_task_sink_record_lag{connector="files",task="0"} 7.0
connect_task_sink_record_lag{connector="files",task="1"} 5.0
connect_task_deadletterqueue_produce_total{connector="files",task="1"} 3.0
connect_task_sink_record_send_rate{connector="say \\"hi\\"",task="0"} 1.0
"""


@pytest.fixture
def worker() -> Iterator[SmallWorker]:
    own = SmallWorker()
    yield own
    own.stop()


@pytest.fixture
def connectors(worker: SmallWorker, capsys: Captured) -> Connectors:
    """Run an action; it must succeed. Returns what it printed."""

    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(["connectors", *words, "--connect", worker.url]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(worker: SmallWorker, capsys: Captured) -> Refused:
    """Run an action that does not succeed. Returns its status and all that it printed."""

    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(["connectors", *words, "--connect", worker.url])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run


@pytest.fixture
def described(tmp_path: Path) -> Callable[..., str]:
    """A file with JSON, or with the text as it is."""

    def write(content: Any, name: str = "files.json") -> str:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


# --- reading ---


def test_the_list_tells_state_rate_lag_and_error(worker: SmallWorker, connectors: Connectors) -> None:
    worker.metrics = METRICS
    worker.add("files").traces[1] = TRACE
    worker.add('say "hi"', state="PAUSED")
    first, second = json.loads(connectors("list", "-o", "json"))
    assert first == {
        "name": "files", "type": "sink", "state": "FAILED", "tasks": "1/2", "rate": "150/s", "lag": 12, "dead_letters": 3,
        "last_error": "the disk is full",
    }  # fmt: skip
    assert (second["name"], second["state"], second["tasks"], second["rate"]) == ('say "hi"', "PAUSED", "0/2", "1/s")


def test_a_connector_without_a_status_yet_is_listed(worker: SmallWorker, connectors: Connectors) -> None:
    worker.add("files")
    worker.add("a/new").has_status = False
    rows = [(row["name"], row["type"], row["state"]) for row in json.loads(connectors("list", "-o", "json"))]
    assert rows == [("a/new", "sink", "UNASSIGNED"), ("files", "sink", "RUNNING")]


def test_a_worker_without_metrics_has_a_list_all_the_same(worker: SmallWorker, connectors: Connectors) -> None:
    worker.add("files")
    head, row = connectors("list").splitlines()
    assert head.split() == ["NAME", "TYPE", "STATE", "TASKS", "RATE", "LAG", "DEAD", "LETTERS", "LAST", "ERROR"]
    assert row.split() == ["files", "sink", "RUNNING", "2/2", "0/s", "-", "-", "-"]


def test_watching_goes_on_through_an_outage(
    worker: SmallWorker, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    worker.add("files")
    pauses: list[float] = []
    watching, sleep = threading.get_ident(), time.sleep

    def pause(seconds: float) -> None:
        if threading.get_ident() != watching:
            # It is the sleep of all threads.
            sleep(seconds)
            return
        pauses.append(seconds)
        if len(pauses) == 1:
            worker.stop()
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr("barnabas.cli.terminal.watch.time.sleep", pause)
    main(["connectors", "list", "--watch", "--connect", worker.url])
    shown = capsys.readouterr().out.splitlines()
    assert (pauses, shown[1].split()[:3]) == ([2, 2], ["files", "sink", "RUNNING"])
    assert shown[2].startswith("cannot reach the Connect worker")


def test_where_there_is_nothing_the_list_says_how_to_begin(refused: Refused) -> None:
    assert "There are no connectors. `barnabas connectors plugins` shows" in refused("list")[1]


def test_show_tells_settings_tasks_and_whole_errors(worker: SmallWorker, connectors: Connectors) -> None:
    worker.add("a/b", {"topics": "t"}).traces[1] = TRACE
    lines = connectors("show", "a/b").splitlines()
    assert lines[0] == "a/b: sink, FAILED, 1/2 tasks running"
    assert lines[1:4] == [f"  connector.class = {PLUGIN}", "  name = a/b", "  topics = t"]
    states = [("connector", "RUNNING"), ("task 0", "RUNNING"), ("task 1", "FAILED")]
    assert lines[4:7] == [f"{part}: {state} on {worker.worker_id}" for part, state in states]
    # A trace cannot paint the terminal.
    assert lines[8:] == [TRACE.splitlines()[0], "        at line 1\\x1b[31m"]


def test_plugins_and_their_settings(connectors: Connectors, refused: Refused) -> None:
    assert [row["class"] for row in json.loads(connectors("plugins", "-o", "json"))] == [PLUGIN]
    assert len(json.loads(connectors("plugins", "--all", "-o", "json"))) == 2
    assert connectors("plugins", PLUGIN).splitlines()[1].split() == ["file", "string", "-", "Destination."]
    hint = "`barnabas connectors plugins --all` shows what there is."
    assert refused("plugins", "a plugin/none") == (1, f"barnabas: Unknown plugin a plugin/none.\n  {hint}\n")


# --- writing ---


def test_a_connector_from_its_creation_to_its_end(
    worker: SmallWorker, connectors: Connectors, refused: Refused
) -> None:
    words = ("create", "files", "-s", f"connector.class={PLUGIN}", "-s", "topics=t")
    assert connectors(*words, "--paused") == "created files (sink)\n"
    assert worker.connectors["files"].state == "PAUSED"
    assert refused(*words) == (1, "barnabas: Connector files already exists\n")
    assert connectors("resume", "files") == "files: resume requested\n"
    assert connectors("stop", "files") == "files: stop requested\n"
    assert worker.connectors["files"].state == "STOPPED"
    assert refused("delete", "files") == (
        2,
        "barnabas: nothing was changed: this cannot be undone\n  Say so with --yes.\n",
    )
    assert connectors("delete", "files", "--yes") == "deleted files\n"
    hint = "`barnabas connectors list` shows the connectors there are."
    assert refused("delete", "files", "--yes") == (1, f"barnabas: Connector files not found\n  {hint}\n")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (
            {"name": "files", "config": {"connector.class": PLUGIN, "topics": "t", "tasks.max": 3, "fsync": True}},
            "a.json",
        ),
        ({"connector.class": PLUGIN, "topics": "t", "tasks.max": 3, "fsync": True}, "files.json"),
        (f"name=files\nconnector.class={PLUGIN}\ntopics=t\ntasks.max=3\nfsync=true\n", "a.properties"),
    ],
    ids=["as REST has it", "settings alone", "properties"],
)
def test_files_describe_connectors(
    worker: SmallWorker, connectors: Connectors, described: Callable[..., str], content: Any, name: str
) -> None:
    connectors("create", "-f", described(content, name))
    settings = {"connector.class": PLUGIN, "topics": "t", "tasks.max": "3", "fsync": "true", "name": "files"}
    assert worker.connectors["files"].config == settings


def test_apply_changes_what_is_otherwise_and_nothing_else(
    worker: SmallWorker, connectors: Connectors, described: Callable[..., str]
) -> None:
    same, other = ({"connector.class": PLUGIN, "topics": topic, "name": topic} for topic in ("same", "other"))
    worker.add("same", {"topics": "same"})
    worker.add("other", {"topics": "t", "fsync": "true"})
    both = described([{"name": "same", "config": same}, other])
    new = described({"connector.class": PLUGIN, "topics": "x"}, "new.json")
    worker.calls.clear()
    assert connectors("apply", "-f", both, "-f", new, "--dry-run").splitlines() == [
        "same: unchanged (dry run)", "other: changed fsync, topics (dry run)", "new: created (dry run)"
    ]  # fmt: skip
    assert not [call for call in worker.calls if call.startswith("PUT /connectors/")]
    assert connectors("apply", "-f", both, "-f", new).splitlines() == [
        "same: unchanged", "other: changed fsync, topics", "new: created"
    ]  # fmt: skip
    written = [call for call in worker.calls if call.startswith("PUT /connectors/")]
    assert written == ["PUT /connectors/other/config", "PUT /connectors/new/config"]


def test_secrets_cannot_be_compared_and_are_set_again(
    worker: SmallWorker, connectors: Connectors, described: Callable[..., str]
) -> None:
    worker.add("files", {"topics": "t", "password": MASK})
    file = described({"connector.class": PLUGIN, "topics": "t", "password": "p"})
    assert connectors("apply", "-f", file) == "files: set again, since secrets cannot be compared: password\n"
    assert worker.connectors["files"].config["password"] == "p"


def test_a_mistake_in_one_file_changes_nothing(
    worker: SmallWorker, refused: Refused, described: Callable[..., str]
) -> None:
    good = described({"connector.class": PLUGIN, "topics": "t"})
    status, said = refused("apply", "-f", good, "-f", described("{", "bad.json"))
    assert (status, worker.connectors) == (2, {})
    assert "bad.json is no valid JSON" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "-f", "missing.json"), "missing.json: No such file or directory"),
        (("create", "x"), "connector.class is not set"),
        (("create",), "the connector has no name"),
        (("create", "x", "-s", "nonsense"), "'nonsense' is not of the form name=value"),
        (("offsets", "set", "x"), "there are no offsets to set"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_missing_is_named(refused: Refused, words: tuple[str, ...], said: str) -> None:
    status, told = refused(*words)
    assert (status, said in told) == (2, True), told


def test_a_file_in_the_place_of_a_name_is_told(refused: Refused, described: Callable[..., str]) -> None:
    file = described({"connector.class": PLUGIN, "topics": "t"})
    status, said = refused("create", file)
    assert (status, f"Say --file {file} to read it." in said) == (2, True), said


@pytest.mark.parametrize("content", ["[]", "[1]", '{"config": 7}', '[{"name":"a"},{"name":"b"}]'])
def test_a_file_of_another_form_is_refused(refused: Refused, described: Callable[..., str], content: str) -> None:
    assert refused("create", "-f", described(content))[0] == 2


def test_validation_tells_errors_and_warnings(worker: SmallWorker, connectors: Connectors, refused: Refused) -> None:
    words = ("validate", "files", "-s", f"connector.class={PLUGIN}")
    assert refused(*words) == (2, "topics: Must configure one of topics or topics.regex\n")
    worker.warnings = ["there is no setting topic; did you mean topics?"]
    status, said = refused(*words, "-s", "topics=t")
    assert (status, said) == (0, f"files: the settings are right, with 1 warning\nwarning: {worker.warnings[0]}\n")
    worker.warnings = []
    assert connectors(*words, "-s", "topics=t") == "files: the settings are right\n"


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_apply_tells_warnings_once(
    worker: SmallWorker, refused: Refused, described: Callable[..., str], flags: tuple[str, ...]
) -> None:
    worker.warnings = ["there is no setting topic; did you mean topics?"]
    file = described({"connector.class": PLUGIN, "topics": "t"})
    assert refused("apply", "-f", file, *flags)[1].count(f"warning: {worker.warnings[0]}\n") == 1


@pytest.mark.parametrize(
    ("flags", "call", "said"),
    [
        ((), "/restart?includeTasks=true&onlyFailed=false", "connector, task 0, task 1 restart"),
        (("--failed",), "/restart?includeTasks=true&onlyFailed=true", "task 1 restart"),
        (("--task", "1"), "/tasks/1/restart", "task 1 restarts"),
    ],
)
def test_restarts(worker: SmallWorker, connectors: Connectors, flags: tuple[str, ...], call: str, said: str) -> None:
    worker.add("files").traces[1] = TRACE
    assert connectors("restart", "files", *flags) == f"files: {said}\n"
    assert worker.calls == [f"POST /connectors/files{call}"]


def test_a_restart_of_what_has_not_failed(worker: SmallWorker, connectors: Connectors, refused: Refused) -> None:
    worker.add("files")
    assert connectors("restart", "files", "--failed") == "files: nothing has failed\n"
    assert "Unknown task: files-7" in refused("restart", "files", "--task", "7")[1]


# --- offsets ---


def place(partition: int, offset: int) -> dict[str, Any]:
    return {"partition": {"kafka_topic": "t", "kafka_partition": partition}, "offset": {"kafka_offset": offset}}


def test_offsets_are_shown_and_set_again(
    worker: SmallWorker, connectors: Connectors, refused: Refused, described: Callable[..., str]
) -> None:
    files = worker.add("files")
    files.offsets = []
    assert "None are stored yet: that happens every offset.flush.interval.ms" in refused("offsets", "show", "files")[1]
    files.offsets = [place(0, 7)]
    shown = connectors("offsets", "show", "files", "-o", "json")
    assert json.loads(shown) == {"offsets": [place(0, 7)]}
    assert connectors("offsets", "show", "files").splitlines()[1].split() == [
        "kafka_topic=t", "kafka_partition=0", "kafka_offset=7"
    ]  # fmt: skip
    wanted = described({"offsets": [place(0, 3), place(1, 0)]})
    preview = (
        "kafka_topic=t kafka_partition=0: kafka_offset=7 -> kafka_offset=3\n"
        "kafka_topic=t kafka_partition=1: - -> kafka_offset=0\n"
    )
    assert refused("offsets", "set", "files", "-f", wanted) == (
        2, f"{preview}barnabas: nothing was changed: this cannot be undone\n  Say so with --yes.\n"
    )  # fmt: skip
    assert (files.offsets, files.state) == ([place(0, 7)], "RUNNING")
    altered = "The offsets for this connector have been altered successfully\n"
    assert refused("offsets", "set", "files", "-f", wanted, "-y") == (0, altered + preview)
    assert files.offsets == [place(0, 3), place(1, 0)]


@pytest.mark.parametrize(
    ("state", "calls"),
    [("RUNNING", ["stop", "resume"]), ("PAUSED", ["stop", "pause"]), ("STOPPED", [])],
)
def test_a_connector_is_stopped_meanwhile_and_goes_on_as_before(
    worker: SmallWorker, connectors: Connectors, state: str, calls: list[str]
) -> None:
    files = worker.add("files", state=state)
    files.offsets = [place(0, 7)]
    connectors("offsets", "reset", "files", "--yes")
    assert (files.offsets, files.state) == ([], state)
    assert [call.rpartition("/")[2] for call in worker.calls if call.startswith("PUT ")] == calls


def test_a_connector_goes_on_although_its_offsets_were_refused(
    worker: SmallWorker, refused: Refused, described: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = worker.add("files")

    def refuse(_client: object, name: str) -> None:
        files.state = "PAUSED"

    monkeypatch.setattr("barnabas.cli.connectors.offsets.wait_until_stopped", refuse)
    status, said = refused("offsets", "set", "files", "-y", "-f", described({"offsets": [place(0, 1)]}))
    assert (status, "must be in the STOPPED state" in said, files.state) == (1, True, "RUNNING")


@pytest.mark.parametrize("content", ["{", "[]", '{"offsets": [{"partition": {}}]}', '{"offsets": 7}'])
def test_offsets_of_another_form_are_refused(
    worker: SmallWorker, refused: Refused, described: Callable[..., str], content: str
) -> None:
    worker.add("files")
    status, said = refused("offsets", "set", "files", "--yes", "-f", described(content))
    assert (status, 'expected {"offsets": [' in said) == (2, True)


# --- the worker ---


def test_conflicts_are_tried_again(
    worker: SmallWorker, connectors: Connectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONFLICT_PAUSE_S", 0.01)
    worker.add("files")
    worker.conflicts = 2
    assert connectors("pause", "files") == "files: pause requested\n"
    assert worker.calls == ["PUT /connectors/files/pause"] * 3


def test_conflicts_without_end_are_told(worker: SmallWorker, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CONFLICT_DEADLINE_S", 0)
    worker.conflicts = 1_000
    status, said = refused("pause", "files")
    assert (status, "typically caused by a rebalance" in said) == (1, True)


def test_a_worker_that_does_not_answer_is_named(capsys: Captured) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert main(["connectors", "list", "--connect", url]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"barnabas: cannot reach the Connect worker at {url}: Connection refused\n")
    assert "`barnabas up`" in said
    assert main(["connectors", "list", "--connect", "ftp://host"]) == 2
    assert "'ftp://host' is no address of a worker" in capsys.readouterr().err


def test_something_else_that_answers_is_named(
    worker: SmallWorker, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "answer", lambda *_: (200, "<html>"))
    assert refused("list") == (
        1,
        f"barnabas: {worker.url} answers, but not as a Connect worker does\n  Is --connect right?\n",
    )


# --- completion ---


def test_names_are_offered_to_the_shell(worker: SmallWorker, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    worker.add("files")
    worker.add("archive")
    monkeypatch.setenv("CONNECT_URL", worker.url)
    assert (main(["completion", "names", "connectors"]), *capsys.readouterr()) == (0, "archive\nfiles\n", "")
    monkeypatch.setenv("CONNECT_URL", f"http://127.0.0.1:{free_port()}")
    assert (main(["completion", "names", "connectors"]), *capsys.readouterr()) == (1, "", "")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("connectors pause fi", ["files"]),
        ("connectors offsets re", ["reset"]),
        ("connectors offsets show fi", ["files"]),
        ("connectors dlq replay fi", ["files"]),
    ],
)
def test_bash_completes_connectors(
    worker: SmallWorker, capsys: Captured, tmp_path: Path, line: str, offered: list[str]
) -> None:
    worker.add("files")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion"
    script.write_text(capsys.readouterr().out + f'barnabas() {{ {sys.executable} -m barnabas "$@"; }}\n')
    words = line.split()
    program = (
        f'source {script}; COMP_WORDS=(barnabas {line}); COMP_CWORD={len(words)}; _barnabas; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, check=True, env=environment(CONNECT_URL=worker.url)
    )
    assert done.stdout.split() == offered
