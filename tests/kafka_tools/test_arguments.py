"""Arguments as argparse4j reads them, its usage and its justified lines."""

from __future__ import annotations

import pytest

from barnabas.kafka_tools.shell.arguments import APPEND, STORE_TRUE, ArgumentError, ArgumentParser
from barnabas.kafka_tools.shell.exits import ToolExit
from barnabas.kafka_tools.shell.justified import LINE_CHARACTERS, wrap


@pytest.fixture
def parser() -> ArgumentParser:
    made = ArgumentParser("kafka-example", "An example.", help_status=1)
    one = made.command("one", "The first.")
    group = one.group(exclusive=True, required=True)
    one.add("--bootstrap-server", "-b", about="A broker.", group=group)
    one.add("--bootstrap-controller", "-C", about="A controller.", group=group)
    one.add("--number", "-n", kind="Integer", about="A number.")
    one.add("--feature", action=APPEND, about="Several.")
    one.add("--dry-run", action=STORE_TRUE, about="Nothing is done.")
    one.add("--kinds", count="+", choices=("a", "b"), about="One or more.")
    made.command("two", "The second.")
    return made


def test_options_of_a_command_become_values(parser: ArgumentParser) -> None:
    words = [
        "one",
        "-b",
        "host:1",
        "--number=-3",
        "--feature",
        "x=1",
        "--feat",
        "y=2",
        "--dry-run",
        "--kinds",
        "a",
        "b",
    ]
    values = parser.parse(words)
    assert values.text("command") == "one"
    assert values.text("bootstrap_server") == "host:1"
    assert values.integer("number") == -3
    assert values.texts("feature") == ["x=1", "y=2"]
    assert values.is_set("dry_run")
    assert values.texts("kinds") == ["a", "b"]
    assert values.text("bootstrap_controller") is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "too few arguments"),
        (["three"], "invalid choice: 'three' (choose from 'one', 'two')"),
        (["one"], "one of the arguments --bootstrap-server/-b --bootstrap-controller/-C is required"),
        (
            ["one", "-b", "a", "-C", "b"],
            "argument --bootstrap-controller/-C: not allowed with argument --bootstrap-server/-b",
        ),
        (["one", "-b"], "argument --bootstrap-server/-b: expected one argument"),
        (
            ["one", "-b", "a", "-n", "x"],
            "argument --number/-n: could not convert 'x' to Integer (For input string: \"x\")",
        ),
        (["one", "-b", "a", "--bogus"], "unrecognized arguments: '--bogus'"),
        (
            ["one", "--boot", "a"],
            "ambiguous option: --boot could match --bootstrap-server, --bootstrap-controller",
        ),
    ],
)
def test_words_that_make_no_sense_are_refused(parser: ArgumentParser, words: list[str], message: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        parser.attempt(words)
    assert refused.value.message == message


def test_an_error_ends_the_tool_with_the_usage_of_the_command(
    parser: ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ToolExit) as end:
        parser.parse(["one", "--bogus"])
    assert end.value.status == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "usage: kafka-example one [-h] [--number NUMBER] [--feature FEATURE]\n"
        "                     [--dry-run] [--kinds {a,b} [{a,b} ...]]\n"
        "                     (--bootstrap-server BOOTSTRAP_SERVER |\n"
        "                     --bootstrap-controller BOOTSTRAP_CONTROLLER)\n"
        "kafka-example: error: unrecognized arguments: '--bogus'\n"
    )


def test_help_goes_to_standard_output_with_the_status_of_the_tool(
    parser: ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ToolExit) as end:
        parser.parse(["--help"])
    assert end.value.status == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out == (
        "usage: kafka-example [-h] {one,two} ...\n\nAn example.\n\npositional arguments:\n  {one,two}\n"
        "    one                  The first.\n    two                  The second.\n\noptional arguments:\n"
        "  -h, --help             show this help message and exit\n"
    )


def test_lines_are_justified_but_for_the_last() -> None:
    text = "kafka-cluster: error: one of the arguments --bootstrap-server/-b --bootstrap-controller/-C is required"
    first, last = wrap(text).split("\n")
    assert first == "kafka-cluster:  error:  one  of   the  arguments  --bootstrap-server/-b  --"
    assert len(first) == LINE_CHARACTERS
    assert last == "bootstrap-controller/-C is required"
