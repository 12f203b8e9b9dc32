"""Command lines of the friendly commands: any order of words, several names, numbers and places that make no sense."""

from __future__ import annotations

import json

import pytest

from barnabas.cli.command_parser import command_parser
from barnabas.cli.main import main
from tests.cli.conftest import Call, Failure

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("TOPIC", "--key", "k", "v"), [("k", "v")]),
        (("--key", "k", "TOPIC", "v", "w"), [("k", "v"), ("k", "w")]),
        (("TOPIC", "v", "--key", "k", "w", "--partition", "0", "x"), [("k", "v"), ("k", "w"), ("k", "x")]),
        (("TOPIC", "--partition", "0", "-5"), [(None, "-5")]),
    ],
)
def test_options_and_values_come_in_any_order(
    run_at: Call, topic: str, words: tuple[str, ...], written: list[tuple[str | None, str]]
) -> None:
    run_at("topics", "create", topic, "-p", "1")
    run_at("produce", *[topic if word == "TOPIC" else word for word in words])
    records = [json.loads(line) for line in run_at("consume", topic, "-o", "jsonl").splitlines()]
    assert [(record["key"], record["value"]) for record in records] == written


def test_words_behind_two_dashes_are_no_options(run_at: Call, broker_address: str, topic: str) -> None:
    run_at("topics", "create", topic, "-p", "1")
    assert main(["produce", topic, "-b", broker_address, "a", "--", "--key", "--", "b"]) == 0
    records = [json.loads(line) for line in run_at("consume", topic, "-o", "jsonl").splitlines()]
    assert [(record["key"], record["value"]) for record in records] == [
        (None, "a"),
        (None, "--key"),
        (None, "--"),
        (None, "b"),
    ]


@pytest.mark.parametrize("words", [("topics",), ("groups",), ("schemas",), ("connectors",), ("configs", "topic")])
def test_what_is_shown_can_be_described_and_the_other_way_round(words: tuple[str, ...]) -> None:
    noun, *kind = words
    shown, described = (command_parser().parse_args([noun, word, *kind, "x"]) for word in ("show", "describe"))
    assert vars(shown) == vars(described)


def test_a_topic_is_shown_by_either_word(run_at: Call, topic: str) -> None:
    run_at("topics", "create", topic, "-p", "2")
    assert len(json.loads(run_at("topics", "show", topic, "-o", "json"))) == 2
    assert run_at("topics", "show", topic) == run_at("topics", "describe", topic)


@pytest.mark.parametrize(
    ("words", "usage", "complaint"),
    [
        (("produce", "t", "--bogus"), "barnabas produce [-h]", "unrecognized arguments: --bogus"),
        (("produce", "--key", "k"), "barnabas produce [-h]", "required: TOPIC\n"),
        (("consume", "t", "surplus"), "barnabas consume [-h]", "unrecognized arguments: surplus"),
        (("topics", "describe", "a", "b"), "barnabas topics describe [-h]", "unrecognized arguments: b"),
        (("groups", "--bogus", "list"), "barnabas groups [-h]", "unrecognized arguments: --bogus"),
        (("serve", "broker", "surplus"), "barnabas serve broker [-h]", "unrecognized arguments: surplus"),
        (("topics", "create", "t", "--partitions", "0"), "barnabas topics create", "the smallest is 1"),
        (("topics", "create", "t", "-p", "many"), "barnabas topics create", "'many' is not a whole number"),
        (("topics", "create", "t", "--replication-factor", "0"), "barnabas topics create", "the smallest is 1"),
        (("consume", "t", "--number", "-1"), "barnabas consume", "the smallest is 1"),
        (("consume", "t", "--partition", "-1"), "barnabas consume", "the smallest is 0"),
        (("produce", "t", "v", "--partition", "-1"), "barnabas produce", "the smallest is 0"),
    ],
)
def test_a_mistake_is_explained_by_its_own_command(
    words: tuple[str, ...], usage: str, complaint: str, capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith(f"usage: {usage}")
    assert complaint in said


def test_several_topics_are_deleted_at_once(run_at: Call, failure_at: Failure, topic: str) -> None:
    names = [f"{topic}-{number}" for number in range(3)]
    for name in names:
        run_at("topics", "create", name, "-p", "1")
    deleted = run_at("topics", "delete", names[0], names[1], names[0], "--yes")
    assert sorted(deleted.splitlines()) == [f"deleted topic {name}" for name in names[:2]]
    status, said = failure_at("topics", "delete", names[0], names[2], "--yes")
    assert status == 1
    assert said.startswith(f"barnabas: topic {names[0]}: ")
    assert topic not in run_at("topics", "list")


def test_several_groups_are_deleted_at_once(run_at: Call, failure_at: Failure, topic: str) -> None:
    run_at("topics", "create", topic, "-p", "1")
    names = [f"{topic}-{number}" for number in range(3)]
    for name in names:
        run_at("groups", "reset", name, "--to", "beginning", "--topic", topic, "--execute")
    assert run_at("groups", "delete", *names[:2]) == "".join([f"deleted group {name}\n" for name in names[:2]])
    status, said = failure_at("groups", "delete", names[0], names[2])
    assert status == 1
    assert said.startswith(f"barnabas: group {names[0]}: ")
    assert topic not in run_at("groups", "list")


def test_an_offset_past_the_end_is_told(run_at: Call, failure_at: Failure, topic: str) -> None:
    run_at("topics", "create", topic, "-p", "2")
    run_at("produce", topic, "short", "--partition", "0")
    run_at("produce", topic, "1", "2", "3", "--partition", "1")
    assert failure_at("consume", topic, "--from", "9999", "--partition", "1") == (
        0,
        f"barnabas: offset 9999 is past the end of {topic}-1: its end is 3\n",
    )
    # A partition that ends before the offset is not read from its beginning instead.
    assert run_at("consume", topic, "--from", "2") == "1:2  3\n"
    assert failure_at("consume", topic, "--from", "3", "--partition", "1") == (0, "")


def test_places_have_the_same_names_everywhere(run_at: Call, topic: str) -> None:
    run_at("topics", "create", topic, "-p", "1")
    run_at("produce", topic, "1", "2")
    assert run_at("consume", topic, "--from", "earliest") == run_at("consume", topic, "--from", "beginning") != ""
    for word, offset in [("beginning", 0), ("earliest", 0), ("end", 2), ("latest", 2)]:
        [row] = json.loads(run_at("groups", "reset", topic, "--topic", topic, "--to", word, "-o", "json"))
        assert row["new_offset"] == offset


@pytest.mark.parametrize("words", [("consume", "t", "--from"), ("groups", "reset", "g", "--topic", "TOPIC", "--to")])
def test_a_place_that_is_none_is_refused(run_at: Call, failure_at: Failure, topic: str, words: tuple[str, ...]) -> None:
    run_at("topics", "create", topic, "-p", "1")
    status, said = failure_at(*[topic if word == "TOPIC" else word for word in words], "middle")
    assert status == 2
    assert f"invalid {words[-1]} 'middle'\n  Use beginning, end" in said


@pytest.mark.parametrize(("words", "meant"), [(["consum"], "consume"), (["topics", "crate"], "create")])
def test_a_slip_of_the_finger_is_told_what_was_meant(words: list[str], meant: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert f"there is no {words[-1]!r}: did you mean {meant!r}?" in capsys.readouterr().err
