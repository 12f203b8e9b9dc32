"""kafka-dump-log prints what Kafka 4.3.0's own tool printed about the same files, and survives any file at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barnabas.kafka_tools.dump.message_json import text_of
from barnabas.kafka_tools.main import call
from barnabas.kernel.java.numbers import double_text
from barnabas.wire.batch import Record, build_batch
from core_broker.log.config import LogConfig
from tests.core_broker.log.batches import append, batch, open_log

DUMPS = Path(__file__).parent / "dumps"
RECORDED: dict[str, dict[str, Any]] = json.loads((DUMPS / "commands.json").read_text())
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint")
EXAMPLES = 40


@pytest.mark.parametrize("name", RECORDED)
def test_it_says_what_kafkas_tool_said(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(DUMPS)
    status = call("kafka-dump-log", RECORDED[name]["arguments"])
    captured = capsys.readouterr()
    assert captured.out == (DUMPS / f"{name}.out").read_text()
    # Kafka's order of files depends on where they lie. Where it shows its options, ours are in other words.
    said = captured.err.replace(str(DUMPS), "HERE").split("\nOption ")[0].splitlines()
    assert sorted(said) == sorted((DUMPS / f"{name}.err").read_text().splitlines())
    assert status == RECORDED[name]["status"]


records = st.lists(
    st.tuples(st.none() | st.binary(max_size=20), st.none() | st.text(max_size=20), st.integers(0, 1 << 40)),
    min_size=1,
    max_size=5,
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.tuples(records, st.integers(0, 4)), min_size=1, max_size=6), skips=st.booleans())
def test_every_record_of_a_log_is_shown_once(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    batches: list[tuple[list[tuple[bytes | None, str | None, int]], int]],
    skips: bool,
) -> None:
    path = tmp_path / "00000000000000000000.log"
    expected: list[Record] = []
    with path.open("wb") as file:
        for contents, codec in batches:
            made = [
                Record(len(expected) + place, time, key, None if value is None else value.encode("utf-8", "replace"))
                for place, (key, value, time) in enumerate(contents)
            ]
            file.write(build_batch(made, compression=codec))
            expected += made
    words = ["--files", str(path), "--print-data-log", *(["--skip-record-metadata"] if skips else [])]
    assert call("kafka-dump-log", words) == 0
    shown = capsys.readouterr().out
    heads = re.findall(r"^baseOffset: (\d+) lastOffset: (\d+) count: (\d+) .* position: (\d+) ", shown, re.MULTILINE)
    assert [int(count) for _, _, count, _ in heads] == [len(contents) for contents, _ in batches]
    assert shown.count("isvalid: true\n") == len(batches)
    if not skips:
        found = re.findall(
            r"^\| offset: (\d+) CreateTime: (\d+) keySize: (-?\d+) valueSize: (-?\d+) ", shown, re.MULTILINE
        )
        assert found == [(str(one.offset), str(one.timestamp), _size(one.key), _size(one.value)) for one in expected]
    payloads = [f"payload: {one.value.decode()}" for one in expected if one.value is not None]
    for payload in payloads:
        assert payload in shown


def _size(data: bytes | None) -> str:
    return "-1" if data is None else str(len(data))


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """One file of each kind, as our log writes them and as Kafka does."""
    folder = tmp_path_factory.mktemp("log") / "topic-0"
    log = open_log(folder, LogConfig(segment_bytes=30_000, index_interval_bytes=100))
    for number in range(20):
        append(log, batch(3, size=40, compression=number % 5))
    log.close()
    found = {path.suffix: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES}
    for path in [*sorted(DUMPS.glob("*-0/*")), DUMPS / "bootstrap.checkpoint"]:
        if path.suffix in SUFFIXES and path.stat().st_size:
            found.setdefault(path.suffix, path.read_bytes())
    assert sorted(found) == sorted(SUFFIXES)
    return found


DECODERS = (
    "--print-data-log",
    "--offsets-decoder",
    "--transaction-log-decoder",
    "--cluster-metadata-decoder",
    "--index-sanity-check",
)


@settings(max_examples=4 * EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_file_makes_it_crash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], whole_files: dict[str, bytes], data: st.DataObject
) -> None:
    """Cut off, with bytes changed, or made up: it prints, or it says what is wrong and returns 1."""
    for suffix in SUFFIXES:
        content = bytearray(whole_files[suffix])
        for position, byte in data.draw(
            st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=4)
        ):
            content[position] = byte
        content = content[: data.draw(st.integers(0, len(content)))]
        content += data.draw(st.binary(max_size=30))
        (tmp_path / f"00000000000000000000{suffix}").write_bytes(content)
    for suffix in SUFFIXES:
        name = "bootstrap" if suffix == ".checkpoint" else "00000000000000000000"
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".checkpoint":
            path.write_bytes((tmp_path / f"00000000000000000000{suffix}").read_bytes())
        assert call("kafka-dump-log", ["--files", str(path), data.draw(st.sampled_from(DECODERS))]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--files", "absent.log"], 'For input string: "absent"'),
        (["--files", "1.log"], "1.log: No such file"),
        (["--files", "1.index"], "1.log: No such file"),
        (["--files", "0.log", "--max-bytes", "many"], "Cannot parse argument 'many' of option max-bytes"),
        (["--files", "0.log", "--value-decoder-class", "no.such.Decoder"], "no.such.Decoder: no such decoder"),
        (["--files", "0.log", "--remote-log-metadata-decoder"], "not supported"),
    ],
)
def test_a_mistake_is_explained(
    words: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "0.log").write_bytes(b"")
    assert call("kafka-dump-log", words) == 1
    assert complaint in capsys.readouterr().err


def test_it_reads_integers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [Record(0, 1, (7).to_bytes(4, "big"), (1 << 40).to_bytes(8, "big")), Record(1, 1, b"\xff" * 4, b"short")]
    path = tmp_path / "0.log"
    path.write_bytes(build_batch(records))
    package = "org.apache.kafka.tools.api."
    words = ["--key-decoder-class", f"{package}IntegerDecoder", "--value-decoder-class", f"{package}LongDecoder"]
    assert call("kafka-dump-log", ["--files", str(path), *words]) == 0
    shown = capsys.readouterr().out
    assert f"key: 7 payload: {1 << 40}\n" in shown
    assert "key: -1 payload: <too short>\n" in shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (1234567.5, "1234567.5"),
        (1e7, "1.0E7"),
        (12345678.0, "1.2345678E7"),
        (-2.5e-10, "-2.5E-10"),
        (1e22, "1.0E22"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_numbers_are_written_as_in_java(value: float, text: str) -> None:
    assert double_text(value) == text


def test_text_is_escaped_as_in_java() -> None:
    assert text_of({"a": 'q"\\\n\x1f\x7fä'}) == '{"a":"q\\"\\\\\\n\\u001F\x7fä"}'
