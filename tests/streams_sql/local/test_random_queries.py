"""Queries made at random over records made at random: what comes of them is what a recomputation from all records gives."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.local.random_queries import SHAPES, Shape
from tests.streams_sql.local.random_records import DECLARED, declarations, random_records
from tests.streams_sql.local.statement_runs import StatementRun

RECORDS = 30
TOPICS = {name: name for name in DECLARED}
CATALOGUE = sources(*declarations(TOPICS))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__.strip("_"))
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_query_gives_what_its_records_come_to(shape: Shape, seed: int) -> None:
    random = Random(seed)
    query = shape(random)
    records = random_records(random, query.reads, RECORDS, is_late=query.is_late, null_words=query.null_words)
    plan = planned(f"CREATE {query.statement}", CATALOGUE)
    found = query.found(StatementRun(plan, TOPICS).told(records))
    assert found == query.outcome(records), query.statement
