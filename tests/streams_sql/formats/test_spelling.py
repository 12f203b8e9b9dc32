"""Fields as statements write them."""

from __future__ import annotations

from dataclasses import replace

from streams_sql.formats.serde import Layout
from streams_sql.formats.spelling import written_layout
from streams_sql.sources import Column, FormatUse
from streams_sql.spark.jobs.codecs import encoder_of
from streams_sql.sql_types import INTEGER

PLAIN = Layout(FormatUse("JSON"), (Column("ORDERID", INTEGER, "orderId"),), "t", is_key=False)
KEPT = replace(PLAIN, format=FormatUse("JSON", keeps_case=True))


def test_a_layout_is_the_same_whatever_its_spelling_and_what_is_written_is_not() -> None:
    other = replace(KEPT, columns=(Column("ORDERID", INTEGER, "orderID"),))
    assert other == KEPT
    assert [encoder_of(each, "q")([(1,)]) for each in (PLAIN, KEPT, other)] == [
        [b'{"ORDERID":1}'],
        [b'{"orderId":1}'],
        [b'{"orderID":1}'],
    ]


def test_only_a_layout_that_keeps_the_case_is_written_otherwise() -> None:
    assert written_layout(PLAIN) is PLAIN
    assert [column.name for column in written_layout(KEPT).columns] == ["orderId"]
