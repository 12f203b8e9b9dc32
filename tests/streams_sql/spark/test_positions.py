"""What a checkpoint says of topics, fitted to what they are by now."""

from __future__ import annotations

import json

import pytest

from streams_sql.spark.sources.positions import TopicState, fitted, initial_entry, positions_text, starting_offsets

HEAD = 'v1\n{"batchWatermarkMs":0}\n'
STATE = TopicState("id", {0: (10, 100), 1: (0, 50)})


def entry(**topics: dict[int, int]) -> str:
    """An entry of Spark's offset log, with a source for each topic."""
    return HEAD + "\n".join(
        json.dumps({topic: {str(at): offset for at, offset in found.items()}}, separators=(",", ":"))
        for topic, found in topics.items()
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        (positions_text({"other": ("x", {0: 1})}), "earliest"),
        (positions_text({"t": ("id", {0: 20, 1: 5})}), '{"t": {"0": 20, "1": 5}}'),
        # Gone by now, never there, not known then.
        (positions_text({"t": ("id", {0: 5, 1: 500})}), '{"t": {"0": 10, "1": 50}}'),
        (positions_text({"t": ("id", {0: 20})}), '{"t": {"0": 20, "1": 0}}'),
        # Another topic of the same name.
        (positions_text({"t": ("former", {0: 20, 1: 5})}), "earliest"),
    ],
)
def test_a_query_begins_where_it_was_said_to(wanted: str, found: str) -> None:
    assert starting_offsets(wanted, "t", STATE) == found


def test_positions_that_can_be_read_stay_to_the_letter() -> None:
    done, begun = entry(t={0: 20, 1: 50}, u={0: 3}), entry(t={0: 30, 1: 50}, u={0: 9})
    states = {"t": STATE, "u": TopicState("u", {0: (0, 9)})}
    found = fitted(done, begun, states, ())
    assert (found.done, found.begun, found.notes) == (done, begun, [])


def test_a_source_that_has_read_nothing_yet_stays_so() -> None:
    assert fitted(f"{HEAD}-", None, {"t": STATE}, ()).done == f"{HEAD}-"


def test_records_that_are_gone_are_passed_and_told() -> None:
    found = fitted(entry(t={0: 4, 1: 5}), entry(t={0: 7, 1: 9}), {"t": STATE}, ())
    assert (found.done, found.begun) == (entry(t={0: 10, 1: 5}), entry(t={0: 10, 1: 9}))
    (note,) = found.notes
    assert "Topic t, partition 0: the records from offset 4 to 9 were removed" in note


def test_a_topic_that_was_made_again_is_read_from_its_beginning() -> None:
    found = fitted(entry(t={0: 90, 1: 5, 2: 7}), entry(t={0: 95, 1: 9, 2: 8}), {"t": STATE}, ["t"])
    assert (found.done, found.begun) == (entry(t={0: 10, 1: 0}), entry(t={0: 10, 1: 0}))
    assert found.notes == ["Topic t was deleted and made again. It is read from its beginning."]


def test_a_topic_that_lost_its_end_is_read_from_its_beginning() -> None:
    found = fitted(entry(t={0: 90, 1: 60}), entry(t={0: 95, 1: 70}), {"t": STATE}, ())
    assert (found.done, found.begun) == (entry(t={0: 90, 1: 0}), entry(t={0: 95, 1: 0}))
    assert "partition 1 ends at offset 50, and was read up to 60" in found.notes[0]


def test_a_new_partition_begins_by_itself_unless_its_first_records_are_gone() -> None:
    found = fitted(entry(t={1: 5}), entry(t={0: 40, 1: 5}), {"t": STATE}, ())
    assert (found.done, found.begun) == (entry(t={0: 10, 1: 5}), entry(t={0: 40, 1: 5}))
    assert "partition 0: the records from offset 0 to 9" in found.notes[0]
    new = TopicState("id", {0: (0, 100), 1: (0, 50)})
    assert fitted(entry(t={1: 5}), None, {"t": new}, ()).done == entry(t={1: 5})


def test_first_positions_are_read_as_spark_writes_them() -> None:
    text = '\0v1\n{"t":{"0":20,"1":5}}'
    assert fitted(initial_entry(text), None, {"t": STATE}, ()).notes == []
    assert fitted(initial_entry(text.replace("20", "2")), None, {"t": STATE}, ()).notes
