"""Options as joptsimple reads them, and the table that it prints."""

from __future__ import annotations

import pytest

from barnabas.kafka_tools.shell.exits import ToolExit, UsageError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser


@pytest.fixture
def parser() -> OptionParser:
    made = OptionParser(help_and_version=False)
    made.flag("all", "Everything.")
    made.takes("topic", "A topic.", "topic")
    made.takes("count", "A number.", "how many", kind="Integer", default=5)
    made.takes("keys", "Several.", separator=",")
    made.takes("maybe", "With or without.", optional=True)
    made.flag(("v", "verbose"), "More.")
    made.flag("x", "A letter.")
    return made


@pytest.mark.parametrize("words", [["--topic", "a"], ["--topic=a"], ["-topic", "a"], ["-topic=a"]])
def test_an_option_can_be_written_in_four_ways(parser: OptionParser, words: list[str]) -> None:
    assert parser.parse(words).value("topic") == "a"


def test_what_an_option_needs_it_takes_even_if_it_looks_like_an_option(parser: OptionParser) -> None:
    parsed = parser.parse(["--topic", "--all"])
    assert parsed.value("topic") == "--all"
    assert not parsed.has("all")


def test_an_optional_argument_is_left_to_the_next_option(parser: OptionParser) -> None:
    assert parser.parse(["--maybe", "--all"]).values("maybe") == []
    assert parser.parse(["--maybe", "yes"]).values("maybe") == ["yes"]


def test_repeated_options_lists_defaults_and_operands(parser: OptionParser) -> None:
    parsed = parser.parse(["--topic", "a", "b", "--topic", "c", "--keys", "k1,k2", "--", "--all"])
    assert parsed.values("topic") == ["a", "c"]
    assert parsed.values("keys") == ["k1", "k2"]
    assert parsed.integer("count") == 5
    assert parsed.operands == ["b", "--all"]
    with pytest.raises(OptionError, match="Found multiple arguments for option topic, but you asked for only one"):
        parsed.value("topic")


def test_letters_can_be_given_together_and_names_stand_for_each_other(parser: OptionParser) -> None:
    parsed = parser.parse(["-vx"])
    assert parsed.has("verbose")
    assert parsed.has("x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bogus"], "bogus is not a recognized option"),
        (["-bogus"], "b is not a recognized option"),
        (["--topic"], "Option topic requires an argument"),
        (["--top", "a"], "top is not a recognized option"),
    ],
)
def test_words_that_make_no_sense_are_refused(parser: OptionParser, words: list[str], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        parser.parse(words)
    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["x", "", "1.5", "2147483648", "٣x"])
def test_a_number_is_looked_at_when_it_is_asked_for(parser: OptionParser, text: str) -> None:
    parsed = parser.parse(["--count", text])
    with pytest.raises(OptionError, match=f"Cannot parse argument '{text}' of option count"):
        parsed.integer("count")


def test_names_can_be_shortened_where_the_tool_allows_it() -> None:
    parser = OptionParser(abbreviations=True, help_and_version=False)
    parser.takes("topic", "")
    parser.takes("topics", "")
    parser.takes("broker", "")
    assert parser.parse(["--bro", "1"]).value("broker") == "1"
    assert parser.parse(["--topic", "a"]).value("topic") == "a"
    with pytest.raises(OptionError, match="top is not a recognized option"):
        parser.parse(["--top", "a"])


def test_required_and_forbidden_options_are_told_with_the_table(parser: OptionParser) -> None:
    parsed = parser.parse(["--all", "--topic", "a"])
    with pytest.raises(UsageError, match=r'Missing required argument "\[keys\]"'):
        parsed.require("all", "keys")
    with pytest.raises(UsageError) as forbidden:
        parsed.forbid("all", "keys", "topic")
    assert forbidden.value.message == 'Option "[all]" can\'t be used with option "[topic]"'
    assert "--topic <String: topic>" in forbidden.value.table
    with pytest.raises(UsageError, match=r"Option combination \"\[\[all\], \[topic\]\]\" can't be used with"):
        parsed.forbid_with_all(("all", "topic"), ("all",))
    with pytest.raises(UsageError, match=r"Exactly one of the following arguments is required: \[all\], \[topic\]"):
        parsed.require_one_of("all", "topic")
    assert parsed.require_one_of("keys", "topic") == "topic"


def test_help_is_an_error_of_usage_and_the_version_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    parser = OptionParser()
    for words in ([], ["--help"]):
        with pytest.raises(UsageError, match="what it does"):
            parser.parse(words).show_help_or_version("what it does")
    with pytest.raises(ToolExit) as end:
        parser.parse(["--version"]).show_help_or_version("what it does")
    assert end.value.status == 0
    assert capsys.readouterr().out == "4.3.0\n"


def test_the_table_is_laid_out_as_joptsimple_does() -> None:
    parser = OptionParser(help_and_version=False)
    parser.takes(
        "partition-size-limit-per-response",
        "Two lines on the left.",
        "maximum number of partitions per response",
        kind="Integer",
    )
    parser.takes(
        ("count", "n"),
        "How many times, as far as the line is long enough for it.",
        "how many",
        kind="Integer",
        default=5,
    )
    parser.flag("all", "Everything.")
    rows = parser.table().splitlines()
    assert rows[0].split() == ["Option", "Description"]
    assert {len(row) for row in rows} == {len(rows[0])}
    left = [row[:39].rstrip() for row in rows[2:]]
    assert left == [
        "--all",
        "-n, --count <Integer: how many>",
        "",
        "--partition-size-limit-per-response",
        "  <Integer: maximum number of",
        "  partitions per response>",
    ]
    right = [row[41:].rstrip() for row in rows[2:5]]
    assert right == [
        "Everything.",
        "How many times, as far as the line is",
        "  long enough for it. (default: 5)",
    ]
