"""JSON records that are read many at a time come to the same as each by itself."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams_sql.formats.json.reading import RECORDS_TOGETHER, json_decoder, json_reader
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.serde import Undecodable, Values
from streams_sql.sources import FormatUse
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, Array
from tests.streams_sql.formats.layouts import EVERY_TYPE, layout_of

PLAIN = layout_of(
    {"I": INTEGER, "L": BIGINT, "D": DOUBLE, "O": BOOLEAN, "S": STRING, "A": Array(INTEGER)}, FormatUse("JSON")
)
WITH_DECIMALS = layout_of(EVERY_TYPE, FormatUse("JSON"))
SINGLE = layout_of({"ONLY": STRING}, FormatUse("JSON"))

NUMBERS = st.sampled_from([0, 1, -1, 2**31 - 1, 2**31, 2**63, 1.5, 1e400, 2.0**60])
OTHERS = st.sampled_from([None, True, "", "7", "x", [1], [None, 2], ["x"], {}, {"a": 1.50}])
OBJECTS = st.dictionaries(st.sampled_from(["I", "i", "l", "L", "D", "d", "o", "S", "s", "A", "z"]), NUMBERS | OTHERS)
PAYLOADS = st.lists(
    st.one_of(
        OBJECTS.map(json.dumps).map(str.encode),
        st.sampled_from(
            [None, b"", b"null", b"7", b"[]", b'{"i": ', b'{"S": "\\ud800"}', b'{"i": 1} {"i": 2}', b"\xff"]
        ),
    ),
    max_size=12,
)


def each_alone(payloads: list[bytes | None], layout: Any) -> list[Values | Undecodable | None]:
    read = json_reader(layout)
    rows: list[Values | Undecodable | None] = []
    for payload in payloads:
        try:
            rows.append(None if payload is None else read(payload))
        except Mismatch as mismatch:
            rows.append(Undecodable(str(mismatch)))
    return rows


@given(PAYLOADS)
def test_many_records_are_read_as_each_alone(payloads: list[bytes | None]) -> None:
    for layout in (PLAIN, SINGLE):
        assert json_decoder(layout)(payloads) == each_alone(payloads, layout)


@given(PAYLOADS)
def test_so_are_those_with_columns_that_need_all_digits(payloads: list[bytes | None]) -> None:
    assert json_decoder(WITH_DECIMALS)(payloads) == each_alone(payloads, WITH_DECIMALS)


def test_one_that_cannot_be_read_does_not_change_the_others() -> None:
    payloads: list[bytes | None] = [json.dumps({"i": number}).encode() for number in range(3 * RECORDS_TOGETHER)]
    payloads[RECORDS_TOGETHER + 7] = b"{"
    rows = json_decoder(PLAIN)(payloads)
    assert [place for place, row in enumerate(rows) if isinstance(row, Undecodable)] == [RECORDS_TOGETHER + 7]
    assert [row[0] for row in rows if isinstance(row, tuple) and not isinstance(row, Undecodable)] == [
        number for number in range(3 * RECORDS_TOGETHER) if number != RECORDS_TOGETHER + 7
    ]


def test_objects_of_ever_new_shapes_are_read() -> None:
    payloads: list[bytes | None] = [json.dumps({"i": 1, f"f{number}": 0}).encode() for number in range(2_500)]
    assert json_decoder(SINGLE)(payloads) == [(None,)] * 2_500
    assert {row[0] for row in json_decoder(PLAIN)(payloads) if isinstance(row, tuple)} == {1}
